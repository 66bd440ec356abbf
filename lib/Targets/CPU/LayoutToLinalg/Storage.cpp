//===- Storage.cpp - Laid-out values as physical tensors ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Storage.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "layout/Dialect/Layout/Utils/EmitSize.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns the number of the first of `axes` whose extent is the size of
/// dynamic dim `d`, or std::nullopt if there is none. `axes` are the stored
/// axes of the map, or the dims of the storage array.
template <typename Axes>
static std::optional<unsigned> findOfSize(RankedTensorType type,
                                          const Axes &axes, unsigned d) {
  for (auto [a, axis] : llvm::enumerate(axes))
    if (axis.extent.specialize(type.getShape()) == SizeExpr::dim(d))
      return a;
  return std::nullopt;
}

/// Returns the number of the stored axis whose extent is the size of dim `d`.
/// Returns std::nullopt if there is none, or if no dim of the storage array has
/// this extent.
static std::optional<unsigned>
findAxisOfSize(RankedTensorType type, const LayoutMap &map, unsigned d) {
  if (!findOfSize(type, getStoredDims(type), d))
    return std::nullopt;
  return findOfSize(type, map.getStoredAxes(), d);
}

SmallVector<unsigned> layout::getCarriedDims(RankedTensorType type) {
  SmallVector<unsigned> carried;
  if (type.hasStaticShape() || !hasLayout(type))
    return carried;
  LayoutMap map = *getLayoutMap(type);
  for (unsigned d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d) && !findAxisOfSize(type, map, d))
      carried.push_back(d);
  return carried;
}

void layout::populateStorageConversion(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](RankedTensorType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        if (!hasLayout(type))
          return std::nullopt;
        FailureOr<LayoutMap> map = getLayoutMap(type);
        if (failed(map) || map->getSpace() != "buffer")
          return failure();
        FailureOr<RankedTensorType> physical = getPhysicalType(type);
        if (failed(physical))
          return failure();
        results.push_back(*physical);
        results.append(getCarriedDims(type).size(),
                       IndexType::get(type.getContext()));
        return success();
      });
}

bool layout::carriesPadding(RankedTensorType from, RankedTensorType to) {
  return !statesPadding(to) || getPadding(from) == getPadding(to);
}

bool layout::haveIdenticalStorage(RankedTensorType a, RankedTensorType b) {
  FailureOr<LayoutMap> from = getLayoutMap(a), to = getLayoutMap(b);
  if (failed(from) || failed(to) || a.getShape() != b.getShape())
    return false;
  return equalOn(*from, *to, a.getShape()) == ProofResult::Proved;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> layout::getLogicalSizes(OpBuilder &b, Location loc,
                                                  RankedTensorType type,
                                                  ValueRange values) {
  SmallVector<OpFoldResult> sizes;
  std::optional<LayoutMap> map;
  unsigned carried = 1;
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    if (!map)
      map = *getLayoutMap(type);
    if (std::optional<unsigned> axis = findAxisOfSize(type, *map, d))
      sizes.push_back(
          tensor::getMixedSize(b, loc, values.front(), int64_t(*axis)));
    else
      sizes.push_back(values[carried++]);
  }
  return sizes;
}

SmallVector<Value> layout::withCarriedSizes(OpBuilder &b, Location loc,
                                            RankedTensorType type,
                                            Value physical,
                                            ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> values{physical};
  for (unsigned d : getCarriedDims(type))
    values.push_back(getValueOrCreateConstantIndexOp(b, loc, sizes[d]));
  return values;
}

/// Emits the extents of a physical tensor or storage array of type `tensor`:
/// static ones from the type, dynamic ones computed from the logical `sizes`.
/// `axes` are its stored axes or its dims, with an extent as an expression of
/// the sizes.
template <typename Axes>
static SmallVector<OpFoldResult>
emitExtents(OpBuilder &b, Location loc, RankedTensorType tensor,
            const Axes &axes, ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> extents;
  for (auto [axis, stored] : llvm::zip_equal(axes, tensor.getShape())) {
    if (!ShapedType::isDynamic(stored)) {
      extents.push_back(b.getIndexAttr(stored));
      continue;
    }
    extents.push_back(emitExtent(b, loc, axis.extent, sizes));
  }
  return extents;
}

SmallVector<OpFoldResult>
layout::getPhysicalSizes(OpBuilder &b, Location loc, RankedTensorType type,
                         ArrayRef<OpFoldResult> sizes) {
  LayoutMap map = *getLayoutMap(type);
  return emitExtents(b, loc, *getPhysicalType(type), map.getStoredAxes(),
                     sizes);
}

SmallVector<OpFoldResult>
layout::getStorageSizes(OpBuilder &b, Location loc, RankedTensorType type,
                        ArrayRef<OpFoldResult> sizes) {
  return emitExtents(b, loc, *getStorageType(type), getStoredDims(type), sizes);
}

bool layout::areSizesStored(RankedTensorType type) {
  if (type.hasStaticShape())
    return true;
  SmallVector<BoundedIndex> dims = getStoredDims(type);
  return llvm::all_of(llvm::seq<unsigned>(0, type.getRank()), [&](unsigned d) {
    return !type.isDynamicDim(d) || findOfSize(type, dims, d);
  });
}

SmallVector<OpFoldResult> layout::readLogicalSizes(OpBuilder &b, Location loc,
                                                   RankedTensorType type,
                                                   Value storage,
                                                   ValueRange carried) {
  SmallVector<OpFoldResult> sizes;
  SmallVector<BoundedIndex> dims = getStoredDims(type);
  SmallVector<unsigned> beside;
  if (!carried.empty())
    beside = getCarriedDims(type);
  for (auto [d, size] : llvm::enumerate(type.getShape())) {
    const auto *it = llvm::find(beside, d);
    if (!ShapedType::isDynamic(size))
      sizes.push_back(b.getIndexAttr(size));
    else if (it != beside.end())
      sizes.push_back(carried[it - beside.begin()]);
    else
      sizes.push_back(tensor::getMixedSize(
          b, loc, storage, int64_t(*findOfSize(type, dims, d))));
  }
  return sizes;
}

/// Creates a tensor.empty of `type` with the given extents.
static Value createEmptyOf(OpBuilder &b, Location loc, RankedTensorType type,
                           ArrayRef<OpFoldResult> extents) {
  SmallVector<Value> dynamic;
  for (auto [extent, size] : llvm::zip_equal(extents, type.getShape()))
    if (ShapedType::isDynamic(size))
      dynamic.push_back(getValueOrCreateConstantIndexOp(b, loc, extent));
  return tensor::EmptyOp::create(b, loc, type, dynamic);
}

Value layout::createEmpty(OpBuilder &b, Location loc, RankedTensorType type,
                          ArrayRef<OpFoldResult> sizes) {
  return createEmptyOf(b, loc, *getPhysicalType(type),
                       getPhysicalSizes(b, loc, type, sizes));
}

Value layout::createFiller(OpBuilder &b, Location loc, RankedTensorType type) {
  if (TypedAttr filler = getFillerAttr(type))
    return arith::ConstantOp::create(b, loc, filler);
  auto complex = cast<ComplexType>(type.getElementType());
  Attribute zero = b.getZeroAttr(complex.getElementType());
  return complex::ConstantOp::create(b, loc, complex,
                                     b.getArrayAttr({zero, zero}));
}

Value layout::createPadded(OpBuilder &b, Location loc, RankedTensorType type,
                           ArrayRef<OpFoldResult> sizes) {
  Value empty = createEmpty(b, loc, type, sizes);
  Value padding = arith::ConstantOp::create(b, loc, getPadding(type));
  return linalg::FillOp::create(b, loc, padding, empty).getResult(0);
}

//===----------------------------------------------------------------------===//
// Views and elements
//===----------------------------------------------------------------------===//

bool layout::canReinterpret(RankedTensorType from, RankedTensorType to) {
  if (from == to)
    return true;
  if (from.hasStaticShape() && to.hasStaticShape())
    return from.getNumElements() == to.getNumElements();
  // A view can infer one dynamic extent per group.
  return from.getRank() > to.getRank() &&
         getReassociationIndicesForReshape(from, to).has_value();
}

Value layout::reinterpretShape(OpBuilder &b, Location loc, Value source,
                               RankedTensorType to) {
  auto from = cast<RankedTensorType>(source.getType());
  if (from == to)
    return source;
  if (to.hasStaticShape() && hasNoElements(to))
    return tensor::EmptyOp::create(b, loc, to, ValueRange());
  if (auto groups = getReassociationIndicesForReshape(from, to)) {
    if (from.getRank() > to.getRank())
      return tensor::CollapseShapeOp::create(b, loc, to, source, *groups);
    if (from.getRank() < to.getRank() && to.hasStaticShape())
      return tensor::ExpandShapeOp::create(b, loc, to, source, *groups);
  }
  // Static shapes of equal size are reshaped through one dim.
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return {};
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank > 0)
      groups.emplace_back(llvm::to_vector<2>(llvm::seq<int64_t>(0, rank)));
    return groups;
  };
  auto line =
      RankedTensorType::get({from.getNumElements()}, from.getElementType());
  // A tensor of rank 0 is expanded to one dim.
  if (from.getRank() == 0)
    source = tensor::ExpandShapeOp::create(b, loc, line, source,
                                           ArrayRef<ReassociationIndices>());
  else if (from.getRank() > 1)
    source = tensor::CollapseShapeOp::create(b, loc, line, source,
                                             all(from.getRank()));
  if (to.getRank() == 1)
    return source;
  if (to.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, loc, to, source,
                                           ArrayRef<ReassociationIndices>());
  return tensor::ExpandShapeOp::create(b, loc, to, source, all(to.getRank()));
}

Value layout::reinterpretShape(OpBuilder &b, Location loc, Value source,
                               RankedTensorType to,
                               ArrayRef<OpFoldResult> sizes) {
  // The extents of a view without elements may differ from those of its layout.
  if (hasNoElements(to) && source.getType() != to)
    return createEmptyOf(b, loc, to, sizes);
  if (Value result = reinterpretShape(b, loc, source, to))
    return result;
  SmallVector<Value> extents = getValueOrCreateConstantIndexOp(b, loc, sizes);
  Value shape = tensor::FromElementsOp::create(b, loc, extents);
  return tensor::ReshapeOp::create(b, loc, to, source, shape);
}

Value layout::extractElement(OpBuilder &b, Location loc, RankedTensorType type,
                             Value physical, ValueRange index,
                             ArrayRef<OpFoldResult> sizes) {
  return tensor::ExtractOp::create(
      b, loc, physical,
      emitStoredAxes(b, loc, *getLayoutMap(type), index, sizes));
}
