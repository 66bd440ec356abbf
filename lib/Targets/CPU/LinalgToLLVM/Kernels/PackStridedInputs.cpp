//===- PackStridedInputs.cpp - Compact copies of strided inputs -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/PackStridedInputs.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

/// The minimum number of reads per element that justifies a copy.
static constexpr int64_t kLeastReads = 32;

/// Returns `map` with each input dim whose extent is one replaced by the
/// constant 0.
static AffineMap dropUnitDims(AffineMap map, ArrayRef<int64_t> extents) {
  SmallVector<AffineExpr> kept;
  for (auto [dim, extent] : llvm::enumerate(extents))
    kept.push_back(extent == 1 ? getAffineConstantExpr(0, map.getContext())
                               : getAffineDimExpr(dim, map.getContext()));
  return simplifyAffineMap(
      map.replaceDimsAndSymbols(kept, {}, map.getNumDims(), 0));
}

/// Returns the dim of which `expr` is a constant multiple, or std::nullopt if
/// it is another expression or the dim itself.
static std::optional<unsigned> findSteppedDim(AffineExpr expr) {
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul ||
      !isa<AffineConstantExpr>(product.getRHS()))
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

static void compactInput(linalg::LinalgOp op, OpOperand &operand,
                         ArrayRef<int64_t> extents) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  AffineMap map = dropUnitDims(op.getMatchingIndexingMap(&operand), extents);
  if (!type || !type.hasStaticShape() || type.getEncoding() ||
      !op.payloadUsesValueFromOperand(&operand))
    return;
  int64_t reads = 1;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (!map.isFunctionOfDim(dim))
      reads *= extent;
  if (reads < kLeastReads)
    return;
  // Dims with unit steps are the same in the copy. Positions that a constant
  // subscript does not read are not copied.
  OpBuilder b(op);
  SmallVector<AffineExpr> from, subscripts;
  SmallVector<int64_t> shape(type.getShape());
  bool steps = false;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    AffineExpr own = b.getAffineDimExpr(i);
    if (std::optional<unsigned> dim = findSteppedDim(expr)) {
      auto product = cast<AffineBinaryOpExpr>(expr);
      shape[i] = extents[*dim];
      from.push_back(own * product.getRHS());
      subscripts.push_back(product.getLHS());
      steps = true;
    } else if (isa<AffineConstantExpr>(expr) && shape[i] != 1) {
      shape[i] = 1;
      from.push_back(expr);
      subscripts.push_back(b.getAffineConstantExpr(0));
    } else if (isa<AffineDimExpr, AffineConstantExpr>(expr)) {
      from.push_back(own);
      subscripts.push_back(expr);
    } else {
      return; // sums, e.g. overlapping windows
    }
  }
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] =
      AffineMap::get(map.getNumDims(), 0, subscripts, b.getContext());
  // Other operands must still determine the extents of the removed dims.
  if (!steps || !inversePermutation(concatAffineMaps(maps, b.getContext())))
    return;
  unsigned rank = type.getRank();
  Location loc = op.getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  SmallVector<AffineMap> copied{AffineMap::get(rank, 0, from, b.getContext()),
                                b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      b, loc, empty.getType(), operand.get(), empty, copied, loops,
      [](OpBuilder &inner, Location loc, ValueRange elements) {
        linalg::YieldOp::create(inner, loc, elements.front());
      });
  operand.set(copy.getResult(0));
  cast<linalg::GenericOp>(op).setIndexingMapsAttr(
      b.getAffineMapArrayAttr(maps));
}

void layout::packStridedInputs(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (!isa<linalg::GenericOp>(op.getOperation()) ||
      !op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      llvm::any_of(extents, ShapedType::isDynamic) ||
      llvm::is_contained(extents, 0))
    return;
  for (OpOperand *operand : op.getDpsInputOperands())
    compactInput(op, *operand, extents);
}
