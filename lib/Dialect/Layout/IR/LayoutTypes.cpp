//===- LayoutTypes.cpp - Tensor types with a layout -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
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
  return hasLayout(type) && hasPadding(*getLayoutMap(type), type.getShape()) !=
                                ProofResult::Disproved;
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

bool layout::hasFiller(RankedTensorType type) {
  return getFillerAttr(type) || isa<ComplexType>(type.getElementType());
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
                                    TypedAttr padding, StoredDims stored) {
  if (stored.dims.empty() && map == LayoutMap::rowMajor(type.getRank()))
    return withoutLayout(type);
  Attribute layout = MapAttr::get(type.getContext(), map, std::move(stored));
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

/// Returns the tensor type, without an encoding, with the extents of `dims`
/// over the sizes of `type`, or failure if an extent overflows. An extent that
/// depends on a dynamic size is dynamic; a negative one becomes 0.
template <typename Dims>
static FailureOr<RankedTensorType> getTensorOf(const Dims &dims,
                                               RankedTensorType type) {
  SmallVector<int64_t> shape;
  for (const auto &dim : dims) {
    SizeExpr extent = dim.extent.specialize(type.getShape());
    if (extent.isOverflow())
      return failure();
    std::optional<int64_t> size = extent.getConstant();
    shape.push_back(size ? std::max<int64_t>(*size, 0) : ShapedType::kDynamic);
  }
  return RankedTensorType::get(shape, type.getElementType());
}

FailureOr<RankedTensorType> layout::getPhysicalType(RankedTensorType type) {
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map))
    return failure();
  return getTensorOf(map->getStoredAxes(), type);
}

SmallVector<BoundedIndex> layout::getStoredDims(RankedTensorType type) {
  if (auto layout =
          dyn_cast_if_present<LayoutAttrInterface>(type.getEncoding()))
    return layout.getStoredDims(type.getShape(), type.getElementType());
  return LayoutMap::rowMajor(type.getRank()).getStoredDims();
}

FailureOr<RankedTensorType> layout::getStorageType(RankedTensorType type) {
  if (failed(getLayoutMap(type)))
    return failure();
  return getTensorOf(getStoredDims(type), type);
}

ElementsAttr layout::retypeElements(ElementsAttr elements,
                                    RankedTensorType type) {
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.isSplat() ? dense.resizeSplat(type) : dense.reshape(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto sparse = dyn_cast<SparseElementsAttr>(elements))
    return SparseElementsAttr::get(type, sparse.getIndices(),
                                   sparse.getValues());
  return {};
}

//===----------------------------------------------------------------------===//
// Validity on a shape
//===----------------------------------------------------------------------===//

/// Verifies that the size of the storage fits int64, in elements and in bytes
/// (spec, section 6). Otherwise emits an error and fails.
static LogicalResult verifySizes(const LayoutMap &map, Attribute name,
                                 ArrayRef<int64_t> shape, Type elementType,
                                 function_ref<InFlightDiagnostic()> emitError) {
  int64_t bytes = 1;
  if (elementType.isIntOrFloat())
    bytes = llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
  // Dynamic sizes are at least 1, so static sizes alone can overflow.
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

static void printIndex(InFlightDiagnostic &diag, ArrayRef<int64_t> index) {
  diag << "(";
  llvm::interleaveComma(index, diag);
  diag << ")";
}

/// Returns a value of a coordinate outside of its extent, for an error message,
/// or std::nullopt if `proof` has no counterexample or a size is dynamic. If no
/// two digits share a dim, one index reaches the bounds of all digits: the
/// value is then the bound of the coordinate's range. Otherwise it is the value
/// at the counterexample.
static std::optional<int64_t> getReached(const IndexExpr &value,
                                         ArrayRef<int64_t> shape,
                                         const ExtentProof &proof) {
  if (proof.answer != ProofResult::Disproved ||
      llvm::is_contained(shape, kUnknownSize))
    return std::nullopt;
  std::optional<int64_t> reached = value.evaluate(proof.index, proof.sizes);
  llvm::SmallSet<unsigned, 8> dims;
  bool isIndependent = llvm::all_of(value.terms, [&](const DigitTerm &term) {
    return term.digit.isDim() && dims.insert(term.digit.dim).second;
  });
  std::optional<Interval> range = getRange(value, proof.sizes);
  if (!isIndependent || !range)
    return reached;
  return range->min < 0 ? range->min : range->max;
}

/// Verifies that every coordinate of every index below `shape` is proven to be
/// in [0, extent). Otherwise emits an error and fails.
static LogicalResult
verifyBounds(const LayoutMap &map, Attribute name, ArrayRef<int64_t> shape,
             function_ref<InFlightDiagnostic()> emitError) {
  if (isWithinExtents(map, shape) == ProofResult::Proved)
    return success();
  LayoutMap special = map.specialize(shape);
  for (auto [c, coordinate] : llvm::enumerate(special.getCoordinates())) {
    ExtentProof proof = proveWithinExtent(special, c, shape);
    if (proof.answer == ProofResult::Proved)
      continue;
    InFlightDiagnostic diag = emitError();
    std::optional<int64_t> reached = getReached(coordinate.value, shape, proof);
    if (reached && *reached < 0) {
      diag << "layout " << name << " maps an index to " << coordinate.name
           << " " << *reached << ", below 0 (L1): add a constant to '"
           << coordinate.name << "'";
      return failure();
    }
    diag << "layout " << name << " has an extent of '" << coordinate.name
         << "' that is not proven to hold all elements (L2)";
    if (std::optional<int64_t> extent = coordinate.extent.evaluate(proof.sizes);
        reached && extent)
      diag << ": they reach " << coordinate.name << " " << *reached
           << ", the extent is " << *extent;
    else if (ShapedType::isDynamicShape(shape))
      diag << "; make the dynamic sizes static";
    return failure();
  }
  return success();
}

LogicalResult
layout::verifyLayout(const LayoutMap &map, Attribute name,
                     ArrayRef<int64_t> shape, Type elementType,
                     function_ref<InFlightDiagnostic()> emitError) {
  if (failed(verifySizes(map, name, shape, elementType, emitError)))
    return failure();
  if (llvm::is_contained(shape, 0))
    return success();
  if (failed(verifyBounds(map, name, shape, emitError)))
    return failure();
  llvm::SmallBitVector counted(map.getNumDims());
  for (const Coordinate &coordinate : map.getCoordinates())
    coordinate.value.walkDims([&](unsigned d) { counted.set(d); });
  for (unsigned d = map.getRank(); d < map.getNumDims(); ++d)
    if (!counted.test(d))
      return emitError()
             << "layout " << name
             << " has a replica that no coordinate uses (L1): remove it";
  PairProof proof = proveInjective(map, shape);
  if (proof.answer == ProofResult::Proved)
    return success();
  InFlightDiagnostic diag = emitError();
  if (proof.answer == ProofResult::Unknown) {
    diag << "layout " << name
         << " cannot be proven injective on this shape within the bound (L1): "
            "use strides that exceed the extent of the faster digits";
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
  if (failed(map) ||
      failed(verifyLayout(*map, layout, shape, elementType, emitError)))
    return failure();
  // Storage dims that a map states must also be within their extents.
  auto padded = dyn_cast<PaddedAttr>(layout);
  auto stated = dyn_cast<MapAttr>(padded ? padded.getLayout() : layout);
  if (!stated || stated.getStored().dims.empty() ||
      llvm::is_contained(shape, 0))
    return success();
  std::vector<Coordinate> dims;
  for (auto [i, dim] : llvm::enumerate(stated.getStored().dims))
    dims.push_back({("stored dim " + Twine(i)).str(), dim.value, dim.extent});
  LayoutMap asMap = LayoutMap::get(map->getRank(), "stored", std::move(dims),
                                   map->getReplicas());
  return verifyBounds(asMap, layout, shape, emitError);
}
