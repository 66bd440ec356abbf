//===- LayoutValue.cpp - The layout behind a Python object ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutValue.h"
#include "Context.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interop/Interop.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

/// The longest text of a layout or element type in bytes, and its deepest
/// nesting, which bounds the recursion of the parser. Other text is a
/// LayoutError.
static constexpr size_t kMostText = 16384;
static constexpr unsigned kMostNesting = 200;
/// The maximal number of shapes for which one Python layout caches its map.
/// Before a further one is added, all are removed.
static constexpr size_t kMostShapes = 64;

//===----------------------------------------------------------------------===//
// OnShape
//===----------------------------------------------------------------------===//

/// Returns `storedDims` in normal form on `sizes`: static sizes are inserted.
/// A stored dim is a sum of digits (d floordiv a) mod b. Digits of extent 1 are
/// dropped, and adjacent ones are merged.
static std::vector<BoundedIndex> specialize(const LayoutMap &map,
                                            ArrayRef<BoundedIndex> storedDims,
                                            Sizes sizes) {
  Shape box = map.getBox(sizes);
  SmallVector<IndexExpr> dims;
  SmallVector<SizeExpr> sizeOf;
  for (auto [d, size] : llvm::enumerate(box)) {
    dims.push_back(IndexExpr::dim(d));
    sizeOf.push_back(size >= 0 ? SizeExpr(size) : SizeExpr::dim(d));
  }
  std::vector<BoundedIndex> result;
  for (const BoundedIndex &stored : storedDims)
    result.push_back({layout::substitute(stored.value, dims, sizeOf, box),
                      stored.extent.substitute(sizeOf)});
  return result;
}

OnShape::OnShape(LayoutAttrInterface layout, Shape shape, Type element,
                 LayoutMap map, std::vector<BoundedIndex> storedDims)
    : layout(layout), shape(std::move(shape)), element(element),
      map(std::move(map)), storedDims(std::move(storedDims)),
      normal(this->map.specialize(this->shape)),
      normalDims(specialize(this->map, this->storedDims, this->shape)) {}

Shape OnShape::getStoredShape() const {
  Shape extents;
  for (const BoundedIndex &dim : normalDims) {
    std::optional<int64_t> extent = dim.extent.getConstant();
    if (!extent)
      fail(
          "a stored extent does not fit 64 bits (L1): the tensor is too large");
    extents.push_back(std::max<int64_t>(*extent, 0));
  }
  return extents;
}

Shape OnShape::getStorageExtent() const {
  std::optional<Shape> extents = map.storageExtent(shape);
  if (!extents)
    fail(
        "an extent of the storage does not fit 64 bits (L1): the tensor is too "
        "large");
  return *extents;
}

bool OnShape::isEmpty() const { return llvm::is_contained(shape, 0); }

void OnShape::requireValid() const {
  {
    std::lock_guard<std::mutex> alone(mutex);
    if (isKnownValid)
      return;
  }
  inContext("", [&](MLIRContext *context) -> FailureOr<bool> {
    auto emit = [&] { return emitError(UnknownLoc::get(context)); };
    if (failed(verifyEncoding(layout, shape, element, emit)))
      return failure();
    return true;
  });
  std::lock_guard<std::mutex> alone(mutex);
  isKnownValid = true;
}

//===----------------------------------------------------------------------===//
// LayoutValue
//===----------------------------------------------------------------------===//

static std::string print(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

static void checkLayoutText(StringRef text) {
  if (text.size() > kMostText)
    fail("the text of the layout has " + Twine(text.size()) +
         " bytes, the limit is " + Twine(kMostText));
  checkText(text, kMostNesting);
}

static Type parseElement(StringRef text) {
  checkLayoutText(text);
  return inContext(text, [&](MLIRContext *context) -> FailureOr<Type> {
    Type type = parseType(text, context);
    if (!type) {
      emitError(UnknownLoc::get(context))
          << "element types are written as in IR: f32, bf16, i8";
      return failure();
    }
    if (isa<ShapedType>(type) || !TensorType::isValidElementType(type)) {
      emitError(UnknownLoc::get(context))
          << type << " is not an element type: use a type such as f32 or i8";
      return failure();
    }
    return type;
  });
}

LayoutValue::Ptr LayoutValue::parse(const std::string &given,
                                    const std::optional<std::string> &target,
                                    const std::optional<std::string> &element) {
  // The parser rejects spaces after an attribute and miscounts columns after
  // leading ones.
  StringRef text = StringRef(given).trim();
  checkLayoutText(text);
  Type elementType = element ? parseElement(*element) : Type();
  Attribute targetAttr;
  if (target)
    targetAttr =
        inContext(*target, [&](MLIRContext *c) -> FailureOr<Attribute> {
          return nonNull(parseAttribute(*target, c));
        });
  return inContext(text, [&](MLIRContext *context) -> FailureOr<Ptr> {
    Attribute attr = parseAttribute(text, context);
    if (!attr)
      return failure();
    auto layout = dyn_cast<LayoutAttrInterface>(attr);
    if (layout && targetAttr) {
      attr = layout.withTarget(targetAttr);
      layout = dyn_cast_if_present<LayoutAttrInterface>(attr);
    }
    if (!attr)
      return failure();
    if (!layout) {
      emitError(UnknownLoc::get(context))
          << attr
          << " is not a layout: use #layout.map, #layout.blocked or another "
             "attribute of a layout family";
      return failure();
    }
    return Ptr(std::make_shared<LayoutValue>(
        layout, elementType ? elementType : NoneType::get(context),
        print(layout)));
  });
}

LayoutValue::Ptr
LayoutValue::import(Notation notation, StringRef text,
                    const std::optional<std::string> &element) {
  Type elementType = element ? parseElement(*element) : Type();
  std::optional<LayoutError> fault;
  parseAs(notation, text, [&](size_t offset, const Twine &message) {
    StringRef before = text.take_front(offset);
    fault = describeFault(text, before.count('\n') + 1,
                          offset - (before.rfind('\n') + 1) + 1, message);
  });
  if (fault)
    throw *fault;
  return inContext("", [&](MLIRContext *context) -> FailureOr<Ptr> {
    auto attr = ImportAttr::get(context, notation, text);
    return Ptr(std::make_shared<LayoutValue>(
        attr, elementType ? elementType : NoneType::get(context), print(attr)));
  });
}

/// Returns the padding value that `padded` states, or a null attribute if it is
/// 0 or +0.0, the default.
static TypedAttr getStatedValue(PaddedAttr padded) {
  TypedAttr value = padded.getValue();
  auto number = dyn_cast_if_present<FloatAttr>(value);
  auto integer = dyn_cast_if_present<IntegerAttr>(value);
  bool isZero = (number && number.getValue().isPosZero()) ||
                (integer && integer.getValue().isZero());
  return isZero ? TypedAttr() : value;
}

LayoutValue::Ptr LayoutValue::fromMap(const LayoutMap &map,
                                      const LayoutValue &like,
                                      bool keepsPadding, StoredDims stored) {
  return inContext("", [&](MLIRContext *context) -> FailureOr<Ptr> {
    auto emit = [&] { return emitError(UnknownLoc::get(context)); };
    Attribute attr = MapAttr::getChecked(emit, context, map, std::move(stored));
    auto padded = dyn_cast<PaddedAttr>(like.layout);
    if (padded && attr && keepsPadding)
      attr =
          PaddedAttr::getChecked(emit, context, attr, getStatedValue(padded));
    if (!attr)
      return failure();
    return Ptr(std::make_shared<LayoutValue>(cast<LayoutAttrInterface>(attr),
                                             like.element, print(attr)));
  });
}

bool LayoutValue::statesSamePadding(const LayoutValue &other) const {
  auto a = dyn_cast<PaddedAttr>(layout), b = dyn_cast<PaddedAttr>(other.layout);
  return bool(a) == bool(b) && (!a || getStatedValue(a) == getStatedValue(b));
}

bool LayoutValue::hasElement() const { return !isa<NoneType>(element); }

std::string LayoutValue::getElementText() const {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::shared_ptr<const OnShape> LayoutValue::on(ArrayRef<int64_t> shape,
                                               Type stored) const {
  if (!stored)
    stored = element;
  if (hasElement() && stored != element)
    inContext("", [&](MLIRContext *context) -> FailureOr<bool> {
      emitError(UnknownLoc::get(context))
          << "the elements are " << stored << ", but the layout is for "
          << element << ": convert the array";
      return failure();
    });
  auto key = std::make_pair(Shape(shape), stored.getAsOpaquePointer());
  {
    std::lock_guard<std::mutex> alone(mutex);
    auto it = shapes.find(key);
    if (it != shapes.end())
      return it->second;
  }
  using Result = std::shared_ptr<const OnShape>;
  Result result = inContext("", [&](MLIRContext *context) -> FailureOr<Result> {
    auto emit = [&] { return emitError(UnknownLoc::get(context)); };
    FailureOr<LayoutMap> map = layout.resolve(shape, stored, nullptr);
    if (failed(map)) {
      // Tests whether only the element type is missing, with an arbitrary one.
      if (isa<NoneType>(stored) &&
          succeeded(layout.resolve(shape, Float32Type::get(context), nullptr)))
        return emit() << "layout " << layout
                      << " depends on the element type, but none was stated: "
                         "use e.g. Layout(text, element='f32')";
      (void)layout.resolve(shape, stored, emit);
      return failure();
    }
    SmallVector<BoundedIndex> storedDims = layout.getStoredDims(shape, stored);
    Result on = std::make_shared<OnShape>(
        layout, Shape(shape), stored, *map,
        std::vector<BoundedIndex>(storedDims.begin(), storedDims.end()));
    if (!on->normal.hasOverflow())
      return on;
    return emit() << "the storage of layout " << layout
                  << " on this shape does not fit 64 bits (L1): the tensor is "
                     "too large";
  });
  std::lock_guard<std::mutex> alone(mutex);
  if (shapes.size() >= kMostShapes)
    shapes.clear();
  return shapes.emplace(std::move(key), std::move(result)).first->second;
}

std::shared_ptr<const OnShape> LayoutValue::onEveryShape() const {
  std::optional<Shape> stated = layout.getStatedShape();
  if (!stated)
    fail("layout " + text +
         " applies to several ranks, so its map depends on the shape: state "
         "the shape");
  return on(*stated);
}

std::shared_ptr<const OnShape> LayoutValue::tryEveryShape() const {
  try {
    return onEveryShape();
  } catch (const LayoutError &) {
    return nullptr;
  }
}

std::shared_ptr<const OnShape> LayoutValue::onSomeShape() const {
  return on(layout.getExampleShape());
}

bool LayoutValue::isSame(const LayoutValue &other) const {
  if (element != other.element || !statesSamePadding(other))
    return false;
  if (layout == other.layout)
    return true;
  auto mine = tryEveryShape(), theirs = other.tryEveryShape();
  return mine && theirs && mine->map == theirs->map &&
         mine->getStored() == theirs->getStored();
}

size_t LayoutValue::getHash() const {
  if (auto every = tryEveryShape())
    return hash_value(every->map);
  return hash_value(Attribute(layout));
}
