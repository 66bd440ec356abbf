//===- SequenceForalls.cpp - layout-prepare-sequence-foralls --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites scf.forall, whose bodies run in parallel on host threads, as a
// sequential loop: a device distributes each op by itself.
//
//   %r = scf.forall (%i) in (6) shared_outs(%o = %a) {
//     .. reads %o ..
//     scf.forall.in_parallel { tensor.parallel_insert_slice %t into %o[%i, 0]
//     .. }
//
//   %r = scf.for %i = 0 to 6 step 1 iter_args(%p = %a) {
//     .. reads %a ..
//     tensor.insert_slice %t into %p[%i, 0] .., scf.yield
//
// The upstream conversion works on buffers only.
//
//===----------------------------------------------------------------------===//

#include "layout/Linalg/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_SEQUENCEFORALLSPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns true if the terminator of `op` only inserts slices.
static bool insertsSlices(scf::ForallOp op) {
  return llvm::all_of(op.getTerminator().getYieldingOps(), [](Operation &each) {
    return isa<tensor::ParallelInsertSliceOp>(each);
  });
}

/// Emits the insertions of one iteration of `op` into `shared`, the iter_args
/// of the new loop, and returns the updated tensors. `mapping` maps values of
/// the body of `op` to their values in this iteration.
static SmallVector<Value> insertSlices(OpBuilder &b, scf::ForallOp op,
                                       ValueRange shared,
                                       const IRMapping &mapping) {
  SmallVector<Value> results(shared);
  auto map = [&](ArrayRef<OpFoldResult> numbers) {
    SmallVector<OpFoldResult> mapped;
    for (OpFoldResult number : numbers) {
      auto value = dyn_cast<Value>(number);
      mapped.push_back(value ? OpFoldResult(mapping.lookupOrDefault(value))
                             : number);
    }
    return mapped;
  };
  for (Operation &each : op.getTerminator().getYieldingOps()) {
    auto insert = cast<tensor::ParallelInsertSliceOp>(each);
    auto dest = cast<BlockArgument>(insert.getDest());
    Value &result = results[dest.getArgNumber() - op.getInductionVars().size()];
    result = tensor::InsertSliceOp::create(
        b, insert.getLoc(), mapping.lookupOrDefault(insert.getSource()), result,
        map(insert.getMixedOffsets()), map(insert.getMixedSizes()),
        map(insert.getMixedStrides()));
  }
  return results;
}

/// Replaces `op` by a nest of scf.for. Reads of a shared tensor in the body
/// become reads of the tensor before the loop.
static void sequence(RewriterBase &rewriter, scf::ForallOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto asValues = [&](ArrayRef<OpFoldResult> numbers) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, numbers);
  };
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, asValues(op.getMixedLowerBound()),
      asValues(op.getMixedUpperBound()), asValues(op.getMixedStep()),
      op.getOutputs(),
      [&](OpBuilder &b, Location, ValueRange indices, ValueRange shared) {
        IRMapping mapping;
        mapping.map(op.getInductionVars(), indices);
        mapping.map(op.getRegionOutArgs(), op.getOutputs());
        for (Operation &inner : op.getBody()->without_terminator())
          b.clone(inner, mapping);
        return scf::ValueVector(insertSlices(b, op, shared, mapping));
      });
  rewriter.replaceOp(op, nest.results);
}

namespace {
struct SequenceForalls
    : layout::impl::SequenceForallsPassBase<SequenceForalls> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops; // inner ones first
    getOperation()->walk([&](scf::ForallOp op) {
      if (insertsSlices(op))
        loops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp op : loops)
      sequence(rewriter, op);
  }
};
} // namespace
