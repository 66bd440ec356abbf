//===- BoxOfLoops.cpp - An op on a box of its iterations ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's tiling slices an operand by the first index of the box and the
// distance to the last one, which requires increasing indices from 0 on. For
// reversed, divided and shifted indices, this file slices by the least and the
// greatest index.
//
//===----------------------------------------------------------------------===//

#include "Tiling/TileAndFuse.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if the index is a sum of loops times factors of at least 0. A
/// constant term is excluded, because upstream's tiling would have it in the
/// slice as well as in the map.
static bool goesForward(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == 0;
  if (isa<AffineDimExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return goesForward(binary.getLHS()) && goesForward(binary.getRHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && factor &&
         factor.getValue() >= 0 && goesForward(binary.getLHS());
}

std::optional<IndexRange> layout::getIndexRange(AffineExpr expr,
                                                ArrayRef<int64_t> firsts,
                                                ArrayRef<int64_t> extents) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexRange{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    unsigned loop = dim.getPosition();
    return IndexRange{firsts[loop], firsts[loop] + extents[loop] - 1};
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<IndexRange> a = getIndexRange(binary.getLHS(), firsts, extents);
  std::optional<IndexRange> b = getIndexRange(binary.getRHS(), firsts, extents);
  if (!a || !b)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return IndexRange{a->least + b->least, a->most + b->most};
  if (b->least != b->most)
    return std::nullopt;
  int64_t number = b->least;
  if (binary.getKind() == AffineExprKind::Mul)
    return IndexRange{std::min(a->least * number, a->most * number),
                      std::max(a->least * number, a->most * number)};
  if (number <= 0)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::FloorDiv)
    return IndexRange{llvm::divideFloorSigned(a->least, number),
                      llvm::divideFloorSigned(a->most, number)};
  if (binary.getKind() == AffineExprKind::CeilDiv)
    return IndexRange{llvm::divideCeilSigned(a->least, number),
                      llvm::divideCeilSigned(a->most, number)};
  if (a->least >= 0 && a->most < number)
    return a;
  return IndexRange{0, number - 1};
}

namespace {
struct Box {
  ArrayRef<int64_t> firsts, extents;
};
} // namespace

/// Returns the slice of `tensor` that the iterations `box` read, and the map to
/// its indices from loops that start at 0. Returns std::nullopt if the range of
/// an index is not known. Scalars are returned unchanged.
static std::optional<std::pair<Value, AffineMap>>
takePart(OpBuilder &builder, Location loc, Value tensor, AffineMap map,
         const Box &box) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return std::make_pair(tensor, map);
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> moved;
  for (auto [loop, first] : llvm::enumerate(box.firsts))
    moved.push_back(getAffineDimExpr(loop, context) + first);
  SmallVector<int64_t> offsets, sizes, ones(type.getRank(), 1);
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : map.getResults()) {
    std::optional<IndexRange> range =
        getIndexRange(expr, box.firsts, box.extents);
    if (!range)
      return std::nullopt;
    offsets.push_back(range->least);
    sizes.push_back(range->most - range->least + 1);
    exprs.push_back(simplifyAffineExpr(expr.replaceDims(moved) - range->least,
                                       map.getNumDims(), /*numSymbols=*/0));
  }
  auto part = AffineMap::get(map.getNumDims(), 0, exprs, context);
  if (ArrayRef(sizes) == type.getShape())
    return std::make_pair(tensor, part);
  auto attrs = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(context, values);
  };
  Value slice = tensor::ExtractSliceOp::create(
      builder, loc, tensor, attrs(offsets), attrs(sizes), attrs(ones));
  return std::make_pair(slice, part);
}

static FailureOr<linalg::LinalgOp>
makeGenericBox(OpBuilder &builder, linalg::GenericOp op, const Box &box) {
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    auto part = takePart(builder, op.getLoc(), operand.get(),
                         op.getMatchingIndexingMap(&operand), box);
    if (!part)
      return failure();
    operands.push_back(part->first);
    maps.push_back(part->second);
  }
  ArrayRef<Value> inits = ArrayRef(operands).drop_front(op.getNumDpsInputs());
  auto part = linalg::GenericOp::create(
      builder, op.getLoc(), llvm::to_vector(ValueRange(inits).getTypes()),
      ArrayRef(operands).take_front(op.getNumDpsInputs()), inits, maps,
      op.getIteratorTypesArray());
  IRMapping mapping;
  op.getRegion().cloneInto(&part.getRegion(), mapping);
  linalg::offsetIndices(
      builder, cast<linalg::LinalgOp>(part.getOperation()),
      getAsIndexOpFoldResult(builder.getContext(), box.firsts));
  return cast<linalg::LinalgOp>(part.getOperation());
}

/// Replaces inits of `part`, a copy of `op` on a box. One that the op does not
/// read becomes a tensor.empty. One that it reads and that is filled in `op`
/// becomes a fill of the size of the box.
static void makeFreshInits(OpBuilder &builder, linalg::LinalgOp op,
                           linalg::LinalgOp part) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(part);
  for (auto [whole, init] :
       llvm::zip_equal(op.getDpsInitsMutable(), part.getDpsInitsMutable())) {
    auto fill = whole.get().getDefiningOp<linalg::FillOp>();
    bool isRead = op.payloadUsesValueFromOperand(&whole);
    if (isRead && !fill)
      continue;
    auto type = cast<RankedTensorType>(init.get().getType());
    Operation *sliced = init.get().getDefiningOp<tensor::ExtractSliceOp>();
    Value fresh = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                          type.getElementType());
    if (isRead)
      fresh =
          linalg::FillOp::create(builder, op.getLoc(), fill.getInputs(), fresh)
              .getResult(0);
    init.set(fresh);
    if (sliced && sliced->use_empty())
      sliced->erase();
  }
}

/// Creates a copy of `op` on `extents` iterations from `firsts` on, with slices
/// of all operands. Fails if the op cannot be tiled.
static FailureOr<linalg::LinalgOp> makeSliced(OpBuilder &builder,
                                              linalg::LinalgOp op,
                                              ArrayRef<int64_t> firsts,
                                              ArrayRef<int64_t> extents) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  bool isForward = llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return llvm::all_of(map.getResults(), goesForward);
  });
  if (generic && !isForward)
    return makeGenericBox(builder, generic, Box{firsts, extents});
  FailureOr<TilingResult> tiled =
      cast<TilingInterface>(op.getOperation())
          .getTiledImplementation(
              builder, getAsIndexOpFoldResult(builder.getContext(), firsts),
              getAsIndexOpFoldResult(builder.getContext(), extents));
  if (failed(tiled) || tiled->tiledOps.size() != 1)
    return failure();
  if (auto part = dyn_cast<linalg::LinalgOp>(tiled->tiledOps.front()))
    return part;
  return failure();
}

FailureOr<linalg::LinalgOp> layout::makeBox(OpBuilder &builder,
                                            linalg::LinalgOp op,
                                            ArrayRef<int64_t> firsts,
                                            ArrayRef<int64_t> extents) {
  FailureOr<linalg::LinalgOp> part = makeSliced(builder, op, firsts, extents);
  if (succeeded(part))
    makeFreshInits(builder, op, *part);
  return part;
}
