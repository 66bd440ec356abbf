//===- LowerPackPadConcat.cpp - Pack, unpack, pad, concat to simpler ops --===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyTiles.h"
#include "Kernels/ExpandDims.h"
#include "Kernels/Kernel.h"
#include "layout/Support/LowerPacks.h"
#include "layout/Support/StatedSizes.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERPACKPADCONCATPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {

/// Sets the step of slice dims of size one to 1. Otherwise such a dim has a
/// stride that the source does not have, and upstream finds the dims that a
/// slice drops by comparing strides.
template <typename SliceOp>
struct NoStepForOneIndex : OpRewritePattern<SliceOp> {
  using OpRewritePattern<SliceOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> strides = op.getMixedStrides();
    bool changed = false;
    for (auto [stride, size] : llvm::zip_equal(strides, op.getMixedSizes()))
      if (isConstantIntValue(size, 1) && !isConstantIntValue(stride, 1)) {
        stride = rewriter.getIndexAttr(1);
        changed = true;
      }
    if (!changed)
      return rewriter.notifyMatchFailure(op, "does not step along this dim");
    if constexpr (std::is_same_v<SliceOp, tensor::ExtractSliceOp>)
      rewriter.replaceOpWithNewOp<SliceOp>(op, op.getResultType(),
                                           op.getSource(), op.getMixedOffsets(),
                                           op.getMixedSizes(), strides);
    else
      rewriter.replaceOpWithNewOp<SliceOp>(op, op.getSource(), op.getDest(),
                                           op.getMixedOffsets(),
                                           op.getMixedSizes(), strides);
    return success();
  }
};

/// Removes operands of a concatenation that are known to have no elements.
struct DropEmptyParts : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (Value part : op.getInputs())
      if (!layout::hasNoElements(cast<RankedTensorType>(part.getType())))
        parts.push_back(part);
    if (parts.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op, "all parts may have elements");
    RankedTensorType type = op.getResultType();
    Value whole;
    if (parts.empty()) {
      ReifiedRankedShapedTypeDims shape;
      if (failed(reifyResultShapes(rewriter, op, shape)))
        return rewriter.notifyMatchFailure(op, "unknown result shape");
      whole = tensor::EmptyOp::create(rewriter, op.getLoc(), shape.front(),
                                      type.getElementType());
    } else {
      whole = parts.size() == 1
                  ? parts.front()
                  : tensor::ConcatOp::create(rewriter, op.getLoc(), op.getDim(),
                                             parts);
    }
    rewriter.replaceOp(
        op, rewriter.createOrFold<tensor::CastOp>(op.getLoc(), type, whole));
    return success();
  }
};

/// Returns true if `op` can move to `user` and write its only result to another
/// destination there. It must have no reductions and not read its init, and
/// only `user` may have its result as an operand, except for queries of sizes.
/// Returns false for copies that layout-cpu-tile-transposes rewrites.
static bool canComputeAt(linalg::LinalgOp op, Operation *user) {
  return op && op->getBlock() == user->getBlock() && op->getNumResults() == 1 &&
         llvm::all_of(op->getUsers(),
                      [&](Operation *each) {
                        return each == user || isa<tensor::DimOp>(each);
                      }) &&
         op.hasPureTensorSemantics() &&
         op.getNumLoops() == op.getNumParallelLoops() &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         !layout::isCopyBetweenOrders(op);
}

/// Returns `target`, of sizes `extent`, with `value` written around the
/// interior of `op`, of sizes `inner`. Emits one fill for each side of a dim
/// that has a border, outermost dim first.
static Value fillAround(OpBuilder &b, tensor::PadOp op, Value value,
                        Value target, ArrayRef<OpFoldResult> inner,
                        SmallVector<OpFoldResult> extent) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> ones(inner.size(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> offset(inner.size(), b.getIndexAttr(0));
  auto fill = [&]() {
    Value part =
        tensor::ExtractSliceOp::create(b, loc, target, offset, extent, ones);
    part = linalg::FillOp::create(b, loc, value, part).getResult(0);
    target = tensor::InsertSliceOp::create(b, loc, part, target, offset, extent,
                                           ones);
  };
  for (auto [dim, size] : llvm::enumerate(inner)) {
    int64_t low = op.getStaticLow()[dim], high = op.getStaticHigh()[dim];
    extent[dim] = b.getIndexAttr(low);
    if (low != 0)
      fill();
    offset[dim] = affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineDimExpr(0) + low, {size});
    extent[dim] = b.getIndexAttr(high);
    if (high != 0)
      fill();
    offset[dim] = b.getIndexAttr(low);
    extent[dim] = size;
  }
  return target;
}

/// Returns true if `op` has static widths and its borders are less than a
/// quarter of the result, so that filling them is cheaper than filling
/// everything. Dynamic sizes count as 60.
static bool isThinPadding(tensor::PadOp op) {
  constexpr int64_t leastShare = 4;
  if (!ShapedType::isStaticShape(op.getStaticLow()) ||
      !ShapedType::isStaticShape(op.getStaticHigh()))
    return false;
  double inside = 1, all = 1;
  for (auto [size, low, high] :
       llvm::zip_equal(op.getSourceType().getShape(), op.getStaticLow(),
                       op.getStaticHigh())) {
    inside *= layout::countOf(size);
    all *= layout::countOf(size) + low + high;
  }
  return leastShare * (all - inside) < all;
}

/// Lowers a pad by one value to a fill, only of the borders if these are thin,
/// and a copy into the interior. The copy is a structured op whose destination
/// is the interior, so that it is vectorized and needs no temporary. With
/// `inPlace`, the producer computes there instead if canComputeAt allows it.
struct LowerPad : OpRewritePattern<tensor::PadOp> {
  LowerPad(MLIRContext *context, bool inPlace)
      : OpRewritePattern(context), inPlace(inPlace) {}

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value value = op.getConstantPaddingValue();
    if (!value) {
      // The padding depends on the position.
      return linalg::rewriteInDestinationPassingStyle(rewriter, op);
    }
    Location loc = op.getLoc();
    ReifiedRankedShapedTypeDims shape;
    if (failed(reifyResultShapes(rewriter, op, shape)))
      return rewriter.notifyMatchFailure(op, "unknown result shape");
    RankedTensorType type = op.getResultType();
    Value from = op.getSource();
    SmallVector<OpFoldResult> source =
        tensor::getMixedSizes(rewriter, loc, from);
    SmallVector<OpFoldResult> sizes = shape.front();
    // Static extents of the type replace reified arithmetic.
    for (auto [i, extent] : llvm::enumerate(type.getShape()))
      if (!ShapedType::isDynamic(extent))
        sizes[i] = rewriter.getIndexAttr(extent);
    Value target =
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    if (isThinPadding(op))
      target = fillAround(rewriter, op, value, target, source, sizes);
    else if (!op.hasZeroLowPad() || !op.hasZeroHighPad())
      target =
          linalg::FillOp::create(rewriter, loc, value, target).getResult(0);
    // A slice without elements may have an offset that is out of bounds.
    if (layout::hasNoElements(op.getSourceType())) {
      rewriter.replaceOp(
          op, rewriter.createOrFold<tensor::CastOp>(loc, type, target));
      return success();
    }
    SmallVector<OpFoldResult> ones(source.size(), rewriter.getIndexAttr(1));
    SmallVector<OpFoldResult> low = op.getMixedLowPad();
    Value interior = tensor::ExtractSliceOp::create(rewriter, loc, target, low,
                                                    source, ones);
    if (from.getType() != interior.getType())
      from = tensor::CastOp::create(rewriter, loc, interior.getType(), from);
    Value copy;
    if (auto producer = from.getDefiningOp<linalg::LinalgOp>();
        inPlace && canComputeAt(producer, op)) {
      layout::replaceDimOfResults(rewriter, producer);
      rewriter.moveOpBefore(producer, op);
      rewriter.modifyOpInPlace(
          producer, [&] { producer.getDpsInitsMutable()[0].set(interior); });
      copy = from;
    } else {
      copy = linalg::CopyOp::create(rewriter, loc, from, interior).getResult(0);
    }
    Value result = tensor::InsertSliceOp::create(rewriter, loc, copy, target,
                                                 low, source, ones);
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  const bool inPlace;
};

struct LowerExpandShape : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
    if (layout::canExpandShape(op.getResultType(), groups))
      return rewriter.notifyMatchFailure(op, "groups have one dynamic size");
    rewriter.replaceOp(
        op, layout::expandDims(rewriter, op.getLoc(), op.getResultType(),
                               op.getSrc(), groups, op.getMixedOutputShape()));
    return success();
  }
};

/// Replaces a collapse of a tensor of dynamic shape without elements by
/// tensor.empty. For a group of size 0 with a dynamic size, bufferization
/// infers a static size, but the verifier does not.
struct CollapseNoElements : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getSrcType().hasStaticShape() ||
        !layout::hasNoElements(op.getSrcType()))
      return rewriter.notifyMatchFailure(op, "may have elements");
    ReifiedRankedShapedTypeDims shape;
    if (failed(reifyResultShapes(rewriter, op, shape)))
      return rewriter.notifyMatchFailure(op, "unknown result shape");
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), shape.front(),
                                          op.getResultType().getElementType());
    rewriter.replaceOp(op, rewriter.createOrFold<tensor::CastOp>(
                               op.getLoc(), op.getResultType(), empty));
    return success();
  }
};

/// Replaces identity transpositions by their input, cast to the result type if
/// it differs. Upstream's canonicalizer omits this cast, which is needed if a
/// folded cast changed the result type.
struct DropSameOrder : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !isIdentityPermutation(op.getPermutation()))
      return rewriter.notifyMatchFailure(op, "moves dims, or buffers");
    rewriter.replaceOp(
        op, rewriter.createOrFold<tensor::CastOp>(
                op.getLoc(), op->getResult(0).getType(), op.getInput()));
    return success();
  }
};

struct LowerPackPadConcat
    : layout::impl::LowerPackPadConcatPassBase<LowerPackPadConcat> {
  using LowerPackPadConcatPassBase::LowerPackPadConcatPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<layout::LowerPack, layout::LowerUnPack, LowerExpandShape,
                 CollapseNoElements, DropSameOrder,
                 NoStepForOneIndex<tensor::ExtractSliceOp>,
                 NoStepForOneIndex<tensor::InsertSliceOp>>(context);
    patterns.add<LowerPad>(context, padInPlace);
    patterns.add<DropEmptyParts>(context, /*benefit=*/2);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    GreedyRewriteConfig config;
    config.enableFolding(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    // A later pass would reject the remaining ops without this explanation.
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (isa<linalg::PackOp, linalg::UnPackOp>(op)) {
        op->emitError(
            "layout-cpu-lower-pack-pad-concat: cannot lower this op to pad, "
            "expand_shape and transpose; its tiled dims or tile "
            "sizes must be static");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
