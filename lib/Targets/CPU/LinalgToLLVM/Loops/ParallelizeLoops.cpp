//===- ParallelizeLoops.cpp - Marked loops to scf.parallel ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuParams.h"
#include "Kernels/Kernel.h"
#include "Loops/ParallelLoops.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PARALLELIZELOOPSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// The minimum number of vector steps of an op that threads share. Starting
/// threads takes about two microseconds, longer than fewer steps take.
static constexpr double kLeastSteps = 1 << 12;

/// The iterations per core up to which nested loops are merged to one loop for
/// threads. Inner loops are added until there are 32 per core. A short loop
/// with a dynamic trip count is only added as the first or second one, and only
/// if there are fewer than 4 per core.
static constexpr int64_t kIterationsPerCore = 32, kLeastIterationsPerCore = 4;

bool layout::isWorthThreads(linalg::LinalgOp op, int64_t vectorSize) {
  if (hasEffects(op))
    return false;
  double steps = op.getBlock()->getOperations().size();
  for (int64_t extent : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(extent))
      return true;
    steps *= extent;
  }
  return steps >= kLeastSteps * vectorSize;
}

/// Returns the loop that is the whole body of `loop`, if it is marked as
/// parallel, returns no values, and has bounds from outside of `outermost`.
/// Returns null otherwise.
static scf::ForOp getNextOfNest(scf::ForOp loop, scf::ForOp outermost) {
  auto next = dyn_cast<scf::ForOp>(loop.getBody()->front());
  if (!next || next->getNextNode() != loop.getBody()->getTerminator() ||
      !next->hasAttr(layout::kParallelLoopAttrName) ||
      next->getNumResults() != 0)
    return nullptr;
  for (Value bound : next->getOperands())
    if (!outermost.isDefinedOutsideOfLoop(bound))
      return nullptr;
  return next;
}

/// Returns true if the body of `loop` has no inner loops, so that an iteration
/// is a few vector ops. These take less time than the division by a dynamic
/// trip count that each iteration of merged loops needs.
static bool isShort(scf::ForOp loop) {
  return llvm::all_of(*loop.getBody(),
                      [](Operation &op) { return op.getNumRegions() == 0; });
}

/// Returns the loops from `outermost` inward that become one scf.parallel, by
/// the limits of kIterationsPerCore for `cores`, or all that can be merged.
static SmallVector<scf::ForOp> findNest(scf::ForOp outermost, int64_t cores) {
  int64_t enough = kIterationsPerCore * cores;
  SmallVector<scf::ForOp> nest;
  int64_t iterations = 1;
  for (scf::ForOp loop = outermost; loop;
       loop = getNextOfNest(loop, outermost)) {
    // One dynamic trip count may be 1, but hardly two of them.
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (!trips && isShort(loop) &&
        (nest.size() > 1 || iterations >= kLeastIterationsPerCore * cores))
      break;
    nest.push_back(loop);
    if (trips)
      iterations *= trips->getLimitedValue(enough);
    if (iterations >= enough)
      break;
  }
  return nest;
}

static void shareAmongThreads(ArrayRef<scf::ForOp> nest) {
  scf::ForOp outermost = nest.front(), innermost = nest.back();
  SmallVector<Value> from, to, steps;
  for (scf::ForOp loop : nest) {
    from.push_back(loop.getLowerBound());
    to.push_back(loop.getUpperBound());
    steps.push_back(loop.getStep());
  }
  OpBuilder b(outermost);
  auto parallel =
      scf::ParallelOp::create(b, outermost.getLoc(), from, to, steps);
  Block *body = parallel.getBody();
  innermost.getBody()->getTerminator()->erase();
  body->getOperations().splice(body->begin(),
                               innermost.getBody()->getOperations());
  for (auto [loop, index] : llvm::zip_equal(nest, parallel.getInductionVars()))
    scf::ForOp(loop).getInductionVar().replaceAllUsesWith(index);
  // The outermost loop contains the innermost one, which has no terminator now.
  outermost->erase();
}

/// Replaces `op` by sequential loops. Upstream's lowering to OpenMP supports
/// few reductions, and adds floats in an order that differs between executions.
static void makeSequential(scf::ParallelOp op) {
  OpBuilder builder(op);
  auto emitBody = [&](OpBuilder &b, Location, ValueRange indices,
                      ValueRange results) {
    IRMapping mapping;
    mapping.map(op.getInductionVars(), indices);
    auto cloneAll = [&](Block *block) {
      for (Operation &inner : block->without_terminator())
        b.clone(inner, mapping);
    };
    cloneAll(op.getBody());
    auto reduce = cast<scf::ReduceOp>(op.getBody()->getTerminator());
    scf::ValueVector next;
    for (auto [result, operand, region] : llvm::zip_equal(
             results, reduce.getOperands(), reduce.getReductions())) {
      Block &block = region.front();
      mapping.map(block.getArgument(0), result);
      mapping.map(block.getArgument(1), mapping.lookupOrDefault(operand));
      cloneAll(&block);
      next.push_back(
          mapping.lookupOrDefault(block.getTerminator()->getOperand(0)));
    }
    return next;
  };
  scf::LoopNest nest = scf::buildLoopNest(
      builder, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
      op.getStep(), op.getInitVals(), emitBody);
  op.replaceAllUsesWith(nest.results);
  op.erase();
}

/// Returns true if `loop` contains an assertion. A launcher that survives a
/// failed assertion returns to the thread that called the program, and may not
/// support failures in other threads.
static bool mayFail(scf::ParallelOp loop) {
  return loop
      .walk([](Operation *op) {
        return isa<cf::AssertOp, cpu::AssertIndexOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct ParallelizeLoops
    : layout::impl::ParallelizeLoopsPassBase<ParallelizeLoops> {
  using ParallelizeLoopsPassBase::ParallelizeLoopsPassBase;

  void runOnOperation() override {
    getOperation()->walk([](scf::ParallelOp op) {
      if (op.getNumResults() != 0 || mayFail(op))
        makeSequential(op);
    });
    int64_t cores = layout::getCpuParams(getOperation()).cores;
    SmallVector<SmallVector<scf::ForOp>> nests;
    getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      // A loop that passes a buffer to its next iteration is sequential.
      if (!loop->hasAttr(layout::kParallelLoopAttrName) ||
          loop->getNumResults() != 0)
        return WalkResult::advance();
      nests.push_back(findNest(loop, cores));
      return WalkResult::skip();
    });
    for (ArrayRef<scf::ForOp> nest : nests)
      shareAmongThreads(nest);
    getOperation()->walk([](scf::ForOp loop) {
      loop->removeAttr(layout::kParallelLoopAttrName);
    });
  }
};
} // namespace
