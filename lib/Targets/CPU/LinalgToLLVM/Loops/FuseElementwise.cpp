//===- FuseElementwise.cpp - Merge chains of elementwise ops --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Kernel.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::layout {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

static bool isAllParallel(linalg::LinalgOp op) {
  return op.getNumLoops() == op.getNumParallelLoops();
}

/// Returns true if `op` is a permuting copy, which is lowered separately.
static bool isTransposition(linalg::LinalgOp op) {
  if (isa<linalg::TransposeOp>(op.getOperation()))
    return true;
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !isAllParallel(op) || op.getBlock()->getOperations().size() != 1)
    return false;
  AffineMap in = op.getIndexingMapsArray()[0];
  AffineMap out = op.getIndexingMapsArray()[1];
  return in.isPermutation() && out.isPermutation() && in != out;
}

/// The maximum number of ops in a body that fusion may extend. Larger bodies
/// exceed the registers anyway.
constexpr unsigned kMaxBody = 64;

static bool hasAtMost(Block &block, unsigned count) {
  auto it = block.begin();
  for (unsigned i = 0; i < count && it != block.end(); ++i)
    ++it;
  return it == block.end();
}

/// Returns true if all other uses of the value of `operand` are in dead ops,
/// which were fused and will be erased by the driver.
static bool isOnlyLiveUse(OpOperand &operand) {
  return llvm::all_of(operand.get().getUses(), [&](OpOperand &use) {
    return &use == &operand || isOpTriviallyDead(use.getOwner());
  });
}

/// Returns true if the elementwise producer of `operand` should be fused into
/// its elementwise user. Either it only moves values, or the user's loops run
/// it exactly as often, no other op needs it, and both bodies are small
/// (kMaxBody). Transpositions, and producers with side effects, are not fused.
static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!producer || !consumer || !isAllParallel(consumer) ||
      !isAllParallel(producer))
    return false;
  if (isTransposition(producer) || isTransposition(consumer))
    return false;
  // An op with an assertion is not erased, so that it would run twice if fused.
  if (hasEffects(producer))
    return false;
  bool onlyMoves = producer.getBlock()->getOperations().size() == 1;
  if (onlyMoves)
    return true;
  // Each step clones the bodies: a bound keeps long chains linear.
  if (!hasAtMost(*producer.getBlock(), kMaxBody) ||
      !hasAtMost(*consumer.getBlock(), kMaxBody))
    return false;
  return isOnlyLiveUse(*operand) &&
         consumer.getMatchingIndexingMap(operand).isPermutation();
}

/// Returns true if an elementwise op reads, by `operand`, an expand_shape of
/// the result of a reduction. The op is then rewritten to the shape before the
/// expansion, so that one kernel computes both.
static bool shouldTakeShape(OpOperand *operand) {
  auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!expand || !consumer || !isAllParallel(consumer))
    return false;
  auto reduction = expand.getSrc().getDefiningOp<linalg::LinalgOp>();
  return expand->hasOneUse() && reduction && !isAllParallel(reduction);
}

/// Returns true if a reshape of `operand` should be folded into an elementwise
/// op. Either `operand` is that of an expand_shape, an elementwise op computes
/// it, and the expanded tensor is the init of a reduction. Or `operand` is that
/// of an elementwise op, and is a collapse_shape of a linalg op's result. The
/// elementwise op then has the dims of the reduction, e.g. the groups of a
/// grouped convolution, and is computed in its kernel.
static bool shouldTakeGroups(OpOperand *operand) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner())) {
    auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
    if (!producer || !isAllParallel(producer) || isTransposition(producer) ||
        !producer->hasOneUse() || !expand->hasOneUse())
      return false;
    OpOperand &use = *expand->use_begin();
    auto reduction = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return reduction && !isAllParallel(reduction) && reduction.isDpsInit(&use);
  }
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!collapse || !consumer || !collapse->hasOneUse() ||
      !isAllParallel(consumer) || isTransposition(consumer))
    return false;
  auto producer = collapse.getSrc().getDefiningOp<linalg::LinalgOp>();
  return producer && producer->hasOneUse() && !isTransposition(producer);
}

/// Returns true for a reduction whose body does not read its init. Upstream
/// would remove the init, but it is the result if there are no iterations.
static bool needsUnreadInit(Operation *op) {
  auto reduction = dyn_cast<linalg::LinalgOp>(op);
  return reduction && !isAllParallel(reduction) &&
         llvm::any_of(reduction.getDpsInitsMutable(), [&](OpOperand &init) {
           return !reduction.payloadUsesValueFromOperand(&init);
         });
}

namespace {
struct FuseElementwise
    : layout::impl::FuseElementwisePassBase<FuseElementwise> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp, linalg::TransposeOp>(
              op.getOperation()) &&
          isAllParallel(op) && op.hasPureTensorSemantics())
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      // An op without a generic form is not fused.
      (void)linalg::generalizeNamedOp(rewriter, op);
    }

    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns,
                                                       shouldTakeShape);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns,
                                                      shouldTakeGroups);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                         &getContext());
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (op != getOperation() && !needsUnreadInit(op))
        ops.push_back(op);
    });
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
