//===- LayoutFuzz.cpp - Arbitrary bytes as a layout -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer program: the input is parsed as a `#layout.` or `#npu.`
// attribute. It must be refused with a diagnostic or satisfy the laws below; a
// violation aborts.
//
//  * text: printing and parsing gives the same attribute;
//  * L1: a layout that is valid for unknown sizes is valid for all sizes;
//  * L3, L4: on every shape for which the layout is valid, indices map into the
//    extents and back;
//  * L5: the canonical type is valid, parses, and has the same map;
//  * L6: the normal form on the shape is the same layout.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/AffineMaps.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

using namespace mlir;
using namespace mlir::layout;

namespace {

constexpr int64_t kDynamic = ShapedType::kDynamic;
/// The number of inputs per context. Attributes live as long as their context.
constexpr int kRunsPerContext = 1000;
/// The number of indices tested per shape. Every fourth is also mapped back,
/// which takes a hundred times as long.
constexpr int kPoints = 24;
/// The largest box to search for a point without a backward formula.
constexpr double kMaxWalk = 1 << 16;

/// Sizes of the first dims: non-divisible, unknown, empty, one, too large.
const std::vector<std::vector<int64_t>> kShapes = {
    {2, 5, 3, 4, 2, 3},
    {17, 33, 2, 1, 3, 1},
    {kDynamic, 16, kDynamic, 8, kDynamic, 2},
    {8, kDynamic, 4, kDynamic, 1, kDynamic},
    {kDynamic, kDynamic, kDynamic, kDynamic, kDynamic, kDynamic},
    {1, 1, 1, 1, 1, 1},
    {3, 0, 2, 7, 4, 2},
    {int64_t(1) << 40, int64_t(1) << 40, 3, int64_t(1) << 62, 5, 7},
};

class Session {
public:
  Session() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<LayoutDialect, npu::NPUDialect, arith::ArithDialect>();
    context.getDiagEngine().registerHandler(
        [&](Diagnostic &diag) { lastError = diag.str(); });
    Builder b(&context);
    elements = {b.getF32Type(), b.getI8Type(),
                b.getF16Type(), b.getI1Type(),
                b.getI64Type(), ComplexType::get(b.getF32Type())};
    target = npu::ChipAttr::get(&context, 4, 4096, 64);
  }

  /// Tests a text. Returns false if it is not a layout.
  bool run(StringRef text);

private:
  /// Returns the type, or null if it is invalid.
  RankedTensorType getType(ArrayRef<int64_t> shape, Type element,
                           Attribute layout) {
    return RankedTensorType::getChecked(
        [&] { return emitError(UnknownLoc::get(&context)); }, shape, element,
        layout);
  }
  void expect(bool holds, const char *law, Attribute attr, Type type = {});
  void checkText(Attribute attr);
  void checkOn(LayoutAttrInterface layout, ArrayRef<int64_t> shape,
               Type element);
  void checkPoints(const LayoutMap &map, RankedTensorType type);
  void checkInstances(RankedTensorType type);

  MLIRContext context;
  std::string lastError;
  SmallVector<Type> elements;
  Attribute target;
};

} // namespace

void Session::expect(bool holds, const char *law, Attribute attr, Type type) {
  if (holds)
    return;
  llvm::errs() << "broken: " << law << "\n  " << attr << "\n";
  if (type)
    llvm::errs() << "  on " << type << "\n";
  if (!lastError.empty())
    llvm::errs() << "  last diagnostic: " << lastError << "\n";
  std::abort();
}

void Session::checkText(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  expect(parseAttribute(text, &context) == attr, "the text reads back", attr);
}

void Session::checkPoints(const LayoutMap &map, RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  Attribute name = type.getEncoding();
  LayoutMap special = map.specialize(shape);
  expect(special.specialize(shape) == special, "the normal form is stable (L6)",
         name, type);
  expect(equalOn(map, special, shape) != ProofResult::Disproved,
         "the normal form is the same layout (L6)", name, type);
  if (!type.hasStaticShape() || llvm::is_contained(shape, 0))
    return;
  auto extents = map.storageExtent(shape);
  expect(extents.has_value(), "a valid layout has extents (L2)", name, type);
  // Without a formula, mapping back searches the box, which may be large if
  // integer sets proved the layout.
  bool isFormula = getBackwardValues(map, shape).has_value();
  double boxSize = 1;
  for (int64_t size : map.getBox(shape))
    boxSize *= size;
  bool walks = !isFormula && boxSize <= kMaxWalk;
  for (int i = 0; i < kPoints; ++i) {
    // Corners first, then steps that cover most of the box.
    SmallVector<int64_t> index;
    for (auto [d, size] : llvm::enumerate(shape))
      index.push_back(i < 8 ? ((i >> (d % 3)) & 1) * (size - 1)
                            : int64_t(i) * (5 + 2 * int64_t(d)) % size);
    auto point = map.forward(index, shape);
    expect(point.has_value() && point == special.forward(index, shape),
           "the normal form keeps the points (L6)", name, type);
    for (auto [x, extent] : llvm::zip(*point, *extents))
      expect(x >= 0 && x < extent, "points lie in the extents (L2)", name,
             type);
    if (isFormula ? i % 4 == 3 : walks && i == 3)
      expect(map.backward(*point, shape) == index,
             "backward undoes forward (L3)", name, type);
  }
}

/// The core of the check ignores the shape, so only the storage size
/// distinguishes instances.
void Session::checkInstances(RankedTensorType type) {
  if (type.hasStaticShape())
    return;
  for (int64_t size : {1, 2, 7, 40}) {
    SmallVector<int64_t> shape(type.getShape());
    llvm::replace(shape, kDynamic, size);
    expect(getType(shape, type.getElementType(), type.getEncoding()) ||
               StringRef(lastError).contains("does not fit 64 bits") ||
               StringRef(lastError).contains("within the bound"),
           "valid for unknown sizes is valid for all (L1)", type.getEncoding(),
           RankedTensorType::get(shape, type.getElementType()));
  }
}

void Session::checkOn(LayoutAttrInterface layout, ArrayRef<int64_t> shape,
                      Type element) {
  RankedTensorType type = getType(shape, element, layout);
  if (!type)
    return;
  FailureOr<LayoutMap> map = getLayoutMap(type);
  expect(succeeded(map), "a valid type has a map", layout, type);
  (void)layout.getStoredDims(shape, element);
  expect(succeeded(getPhysicalType(type)), "a valid type has storage", layout,
         type);
  checkPoints(*map, type);

  RankedTensorType canonical = withLayout(type, *map, getPadding(type));
  if (!hasLayout(canonical))
    return;
  Attribute core = canonical.getEncoding();
  checkText(core);
  expect(getType(shape, element, core) == canonical,
         "the canonical type is valid (L5)", core, type);
  expect(*getLayoutMap(canonical) == *map, "the canonical map is the map (L5)",
         core, type);
  checkInstances(canonical);
}

bool Session::run(StringRef text) {
  Attribute attr = parseAttribute(text, &context);
  if (!attr)
    return false;
  checkText(attr);
  auto layout = dyn_cast<LayoutAttrInterface>(attr);
  if (!layout)
    return true;
  layout = cast<LayoutAttrInterface>(layout.withTarget(target));
  checkText(layout);
  SmallVector<unsigned> ranks{0, 1, 2, 3, 4, 5};
  std::optional<SmallVector<int64_t>> stated = layout.getStatedShape();
  if (stated)
    ranks = {unsigned(stated->size())};
  for (unsigned rank : ranks) {
    for (const std::vector<int64_t> &sizes : kShapes) {
      SmallVector<int64_t> shape;
      for (unsigned d = 0; d < rank; ++d)
        shape.push_back(stated && !ShapedType::isDynamic((*stated)[d])
                            ? (*stated)[d]
                            : sizes[d % sizes.size()]);
      checkOn(layout, shape, elements.front());
      if (&sizes == &kShapes.front())
        for (Type element : llvm::drop_begin(elements))
          checkOn(layout, shape, element);
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Mutations that keep the text a layout more often than random bytes do
//===----------------------------------------------------------------------===//

/// Replaces a number of the text by another one.
static std::string changeNumber(StringRef text, std::mt19937 &random) {
  static const char *const numbers[] = {"0",
                                        "1",
                                        "2",
                                        "3",
                                        "4",
                                        "5",
                                        "6",
                                        "7",
                                        "8",
                                        "12",
                                        "16",
                                        "128",
                                        "4294967296",
                                        "4611686018427387904",
                                        "9223372036854775807"};
  SmallVector<std::pair<size_t, size_t>> places;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && llvm::isDigit(text[end]))
      ++end;
    if (end > i)
      places.push_back({i, end});
    i = std::max(end, i + 1);
  }
  if (places.empty())
    return text.str();
  auto [begin, end] = places[random() % places.size()];
  return (text.take_front(begin) + numbers[random() % std::size(numbers)] +
          text.drop_front(end))
      .str();
}

/// Swaps, duplicates or removes elements between commas.
static std::string moveElements(StringRef text, std::mt19937 &random) {
  SmallVector<StringRef> elements;
  text.split(elements, ',');
  size_t a = random() % elements.size(), b = random() % elements.size();
  switch (random() % 3) {
  case 0:
    std::swap(elements[a], elements[b]);
    break;
  case 1:
    elements.insert(elements.begin() + a, elements[b]);
    break;
  case 2:
    elements.erase(elements.begin() + a);
    break;
  }
  return llvm::join(elements, ",");
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  StringRef text(reinterpret_cast<const char *>(data), size);
  std::string changed;
  switch (random() % 4) {
  case 0:
    changed = moveElements(text, random);
    break;
  case 1:
  case 2:
    changed = changeNumber(text, random);
    break;
  case 3:
    return LLVMFuzzerMutate(data, size, maxSize);
  }
  size_t newSize = std::min(changed.size(), maxSize);
  std::memcpy(data, changed.data(), newSize);
  return newSize;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<Session> session;
  static int runs = 0;
  StringRef text(reinterpret_cast<const char *>(data), size);
  // Upstream attributes are not tested.
  if (!text.starts_with("#layout.") && !text.starts_with("#npu."))
    return -1;
  if (!session || ++runs % kRunsPerContext == 0)
    session = std::make_unique<Session>();
  (void)session->run(text);
  return 0;
}
