//===- FoldConverts.cpp - layout-fold-converts ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/RuleCheck.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::layout {
#define GEN_PASS_DEF_FOLDCONVERTSPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Replaces a conversion of a tensor.empty by a tensor.empty in the new layout,
/// unless this layout states a padding value, which must be written.
struct ConvertOfEmpty : public OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp convert,
                                PatternRewriter &rewriter) const override {
    auto empty = convert.getSource().getDefiningOp<tensor::EmptyOp>();
    RankedTensorType type = convert.getResult().getType();
    if (!empty)
      return rewriter.notifyMatchFailure(convert, "not of fresh storage");
    // Padding with a stated value must be written.
    if (getPadding(type))
      return rewriter.notifyMatchFailure(convert, "states a padding value");
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(convert, type,
                                                 empty.getDynamicSizes());
    return success();
  }
};

/// Replaces a conversion of a linalg.fill by a fill of converted storage, if a
/// fill can write the new type.
struct ConvertOfFill : public OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp convert,
                                PatternRewriter &rewriter) const override {
    auto fill = convert.getSource().getDefiningOp<linalg::FillOp>();
    if (!fill)
      return rewriter.notifyMatchFailure(convert, "not of a fill");
    if (!canWriteAs(fill, convert.getResult().getType()))
      return rewriter.notifyMatchFailure(convert, "not to be filled directly");
    Value storage = ConvertOp::create(rewriter, convert.getLoc(),
                                      convert.getResult().getType(),
                                      fill.getOutputs().front());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(convert, fill.getInputs(),
                                                storage);
    return success();
  }
};

/// Replaces the second of two equal conversions in a block by the first.
struct DuplicateConvert : public OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp convert,
                                PatternRewriter &rewriter) const override {
    for (Operation *user : convert.getSource().getUsers()) {
      auto other = dyn_cast<ConvertOp>(user);
      if (!other || other == convert ||
          other.getResult().getType() != convert.getResult().getType() ||
          other->getBlock() != convert->getBlock() ||
          !other->isBeforeInBlock(convert))
        continue;
      rewriter.replaceOp(convert, other.getResult());
      return success();
    }
    return rewriter.notifyMatchFailure(convert, "the only one of its kind");
  }
};

struct FoldConvertsPass
    : public layout::impl::FoldConvertsPassBase<FoldConvertsPass> {
  void runOnOperation() override {
    if (failed(foldLayoutTransforms(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult layout::foldLayoutTransforms(Operation *root) {
  RewritePatternSet patterns(root->getContext());
  populateFoldTransformPatterns(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // Visit only conversions and their replacements.
  SmallVector<Operation *> converts;
  root->walk([&](ConvertOp convert) { converts.push_back(convert); });
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  if (failed(applyOpPatternsGreedily(converts, std::move(patterns), config)))
    return failure();
  // Erase converted values without other uses; users come before producers.
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isa<ConvertOp, linalg::FillOp, tensor::EmptyOp>(op) ||
        op->hasTrait<OpTrait::ConstantLike>())
      if (isOpTriviallyDead(op))
        op->erase();
  });
  return success();
}

void layout::populateFoldTransformPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertOfEmpty, ConvertOfFill, DuplicateConvert>(
      patterns.getContext());
}
