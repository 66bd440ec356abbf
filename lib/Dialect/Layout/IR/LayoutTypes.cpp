//===- LayoutTypes.cpp - Tensor types with a layout -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Algebra/IntegerSets.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

static_assert(ShapedType::kDynamic == kUnknownSize,
              "shapes are used as sizes of the algebra");

bool layout::hasLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<LayoutAttrInterface>(tensor.getEncoding());
}

FailureOr<LayoutMap> layout::getLayoutMap(RankedTensorType type) {
  if (!type.getEncoding())
    return LayoutMap::rowMajor(type.getRank());
  auto layout = dyn_cast<LayoutAttrInterface>(type.getEncoding());
  if (!layout)
    return failure();
  auto resolve = [&] {
    return layout.resolve(type.getShape(), type.getElementType(), nullptr);
  };
  auto *dialect = type.getContext()->getLoadedDialect<LayoutDialect>();
  return dialect ? dialect->getResolvedLayouts().get(type, resolve) : resolve();
}

TypedAttr layout::getPadding(RankedTensorType type) {
  auto layout = dyn_cast_if_present<LayoutAttrInterface>(type.getEncoding());
  return layout ? layout.getPadding(type.getElementType()) : TypedAttr();
}

bool layout::mayHavePadding(RankedTensorType type) {
  return hasLayout(type) &&
         hasPadding(*getLayoutMap(type), type.getShape()) != Answer::No;
}

bool layout::statesPadding(RankedTensorType type) {
  return getPadding(type) && mayHavePadding(type);
}

TypedAttr layout::getFillerAttr(RankedTensorType type) {
  if (TypedAttr padding = getPadding(type))
    return padding;
  Type element = type.getElementType();
  if (auto floatType = dyn_cast<FloatType>(element))
    return FloatAttr::get(floatType, 0.0);
  if (isa<IntegerType, IndexType>(element))
    return IntegerAttr::get(element, 0);
  return {};
}

Attribute layout::withPadding(Attribute layout, TypedAttr padding) {
  if (!padding)
    return layout;
  auto floatValue = dyn_cast<FloatAttr>(padding);
  auto intValue = dyn_cast<IntegerAttr>(padding);
  bool isZero = floatValue ? floatValue.getValue().isPosZero()
                           : intValue.getValue().isZero();
  return PaddedAttr::get(layout.getContext(), layout,
                         isZero ? TypedAttr() : padding);
}

RankedTensorType layout::withLayout(RankedTensorType type, const LayoutMap &map,
                                    TypedAttr padding) {
  if (map == LayoutMap::rowMajor(type.getRank()))
    return withoutLayout(type);
  Attribute layout = MapAttr::get(type.getContext(), map);
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               withPadding(layout, padding));
}

RankedTensorType layout::withoutLayout(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

std::optional<int64_t> layout::getWholeBytes(Type elementType) {
  int64_t count = 1;
  if (auto vector = dyn_cast<VectorType>(elementType)) {
    if (vector.isScalable())
      return std::nullopt;
    count = vector.getNumElements();
    elementType = vector.getElementType();
  }
  if (!elementType.isIntOrFloat() ||
      elementType.getIntOrFloatBitWidth() % 8 != 0)
    return std::nullopt;
  return count * (elementType.getIntOrFloatBitWidth() / 8);
}

FailureOr<RankedTensorType> layout::getPhysicalType(RankedTensorType type) {
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map))
    return failure();
  SmallVector<int64_t> shape;
  for (const StoredAxis &axis : map->getStoredAxes()) {
    SizeExpr extent = axis.extent.specialize(type.getShape());
    if (extent.isOverflow())
      return failure();
    std::optional<int64_t> size = extent.getConstant();
    shape.push_back(size ? std::max<int64_t>(*size, 0) : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, type.getElementType());
}

ElementsAttr layout::retypeElements(ElementsAttr elements,
                                    RankedTensorType type) {
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.isSplat() ? dense.resizeSplat(type) : dense.reshape(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

//===----------------------------------------------------------------------===//
// Validity on a shape
//===----------------------------------------------------------------------===//

/// Sizes in elements and in bytes stay in int64 (section 6).
static LogicalResult verifySizes(const LayoutMap &map, Attribute name,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 function_ref<InFlightDiagnostic()> emitError) {
  int64_t bytes = 1;
  if (elementType.isIntOrFloat())
    bytes = llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  // Unknown sizes are at least 1, so known ones alone can overflow.
  SmallVector<int64_t> known(shape);
  llvm::replace(known, ShapedType::kDynamic, int64_t(1));
  std::optional<int64_t> elements = getStorageSize(map, known);
  int64_t total;
  if (elements && !llvm::MulOverflow(*elements, bytes, total) &&
      !map.specialize(shape).hasOverflow())
    return success();
  emitError() << "the storage of layout " << name
              << " on this shape does not fit 64 bits (L1): the tensor is too "
                 "large";
  return failure();
}

/// True if `x` is a sum of nothing but digits and strides that are >= 0,
/// whatever the sizes; its highest value is then met at the highest digits.
static bool isSumOfNonNegatives(const Linear &x) {
  return x.constant.isProvablyAtLeast(SizeExpr(0)) &&
         llvm::all_of(x.terms, [](const DigitTerm &term) {
           return term.stride.isProvablyAtLeast(SizeExpr(0)) &&
                  (!term.digit.fused || term.digit.modulus ||
                   isSumOfNonNegatives(*term.digit.fused));
         });
}

/// Every coordinate stays in [0, extent) on the box.
static LogicalResult
verifyBounds(const LayoutMap &special, Attribute name, ArrayRef<int64_t> shape,
             function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<int64_t> box = special.getBox(shape);
  for (const Coordinate &coordinate : special.getCoordinates()) {
    std::optional<Interval> range = getRange(coordinate.value, box);
    // Digits that do not nest reach their highest values at different indices;
    // the sum of those is then no position at all.
    auto isWithin = [&] {
      return sets::proveWithin(coordinate.value, coordinate.extent, box)
                 .answer == Answer::Yes;
    };
    std::optional<int64_t> extent = coordinate.extent.getConstant();
    if (range && range->min < 0 && !isWithin()) {
      emitError() << "layout " << name << " maps an index to "
                  << coordinate.name << " " << range->min
                  << ", below 0 (L1): add a constant to '" << coordinate.name
                  << "'";
      return failure();
    }
    bool fits =
        range && extent
            ? range->max < *extent
            : isSumOfNonNegatives(coordinate.value) &&
                  coordinate.extent.isProvablyAtLeast(
                      naturalExtent(coordinate.value).specialize(shape));
    if (fits || isWithin())
      continue;
    InFlightDiagnostic diag = emitError();
    diag << "layout " << name << " has no extent of '" << coordinate.name
         << "' that is shown to hold all elements (L2)";
    if (range && extent)
      diag << ": they reach " << coordinate.name << " " << range->max
           << ", the extent is " << *extent;
    return failure();
  }
  return success();
}

static void printIndex(InFlightDiagnostic &diag, ArrayRef<int64_t> index) {
  diag << "(";
  llvm::interleaveComma(index, diag);
  diag << ")";
}

LogicalResult
layout::verifyLayout(const LayoutMap &map, Attribute name,
                     ArrayRef<int64_t> shape, Type elementType,
                     function_ref<InFlightDiagnostic()> emitError) {
  if (failed(verifySizes(map, name, shape, elementType, emitError)))
    return failure();
  if (llvm::is_contained(shape, 0))
    return success();
  if (failed(verifyBounds(map.specialize(shape), name, shape, emitError)))
    return failure();
  InjectivityProof proof = proveInjective(map, shape);
  if (proof.answer == Answer::Yes)
    return success();
  InFlightDiagnostic diag = emitError();
  if (proof.answer == Answer::Unknown) {
    diag << "layout " << name
         << " cannot be proven injective on this shape within the bound (L1): "
            "use strides that exceed what lies below them";
    return failure();
  }
  diag << "layout " << name << " is not injective (L1): indices ";
  printIndex(diag, proof.first);
  diag << " and ";
  printIndex(diag, proof.second);
  diag << " share one storage point";
  return failure();
}

LogicalResult
layout::verifyEncoding(LayoutAttrInterface layout, ArrayRef<int64_t> shape,
                       Type elementType,
                       function_ref<InFlightDiagnostic()> emitError) {
  FailureOr<LayoutMap> map = layout.resolve(shape, elementType, emitError);
  if (failed(map))
    return failure();
  return verifyLayout(*map, layout, shape, elementType, emitError);
}
