//===- UnrollLoops.cpp - Unrolling of constant-trip loops -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::layout {
#define GEN_PASS_DEF_UNROLLLOOPSPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// The maximum number of ops that one loop of the first round of unrolling, or
/// all loops of later rounds together, unroll to. Each op is assigned layouts
/// and addresses.
static constexpr int64_t kMostOps = 1 << 16;

static int64_t countOps(scf::ForOp loop) {
  int64_t ops = 0;
  loop.walk([&](Operation *) { ++ops; });
  return ops;
}

namespace {
struct UnrollLoopsPass
    : public layout::impl::UnrollLoopsPassBase<UnrollLoopsPass> {
  void runOnOperation() override {
    // Unrolling a loop may make the trip counts of other loops constant, so
    // this is repeated. All loops of later rounds share one budget of ops.
    bool isFirst = true;
    int64_t left = kMostOps;
    while (true) {
      // The walk visits inner loops first.
      SmallVector<scf::ForOp> loops;
      getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
      bool isChanged = false;
      for (scf::ForOp loop : loops) {
        std::optional<APInt> trips = loop.getStaticTripCount();
        // The canonicalizer removes loops without iterations, and the lowering
        // reports loops with dynamic trip counts.
        if (!trips || trips->isZero())
          continue;
        int64_t ops = countOps(loop);
        if (trips->ugt(std::max<int64_t>(left / ops, 1))) {
          loop.emitError()
              << "'scf.for' has " << trips->getZExtValue() << " iterations of "
              << ops << " ops, but an NPU program is unrolled, to at most "
              << kMostOps
              << " ops: compile its body as a program, and loop over that";
          return signalPassFailure();
        }
        if (failed(loopUnrollFull(loop))) {
          loop.emitError() << "'scf.for' cannot be unrolled: use 'index' "
                              "bounds and a positive step";
          return signalPassFailure();
        }
        isChanged = true;
        if (!isFirst)
          left =
              std::max<int64_t>(left - int64_t(trips->getZExtValue()) * ops, 0);
      }
      if (!isChanged || !hasLoops())
        return;
      isFirst = false;
      // Fold loop bounds that have become constant.
      (void)applyPatternsGreedily(getOperation(),
                                  RewritePatternSet(&getContext()));
    }
  }

private:
  bool hasLoops() {
    return getOperation()
        ->walk([](scf::ForOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  }
};
} // namespace
