//===- CheckInput.cpp - Refuse ops that nothing is known of ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Support/LoweredDialects.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CHECKINPUTPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Why nothing is known of `op`; empty where something is.
static StringRef findGap(Operation *op) {
  if (!op->isRegistered())
    return "is of no registered dialect";
  if (!op->getParentOfType<func::FuncOp>() || isOpTriviallyDead(op) ||
      layout::isInputDialect(op->getName().getDialectNamespace()))
    return {};
  return "is of a dialect that is not lowered here";
}

namespace {
struct CheckInputPass : layout::impl::CheckInputPassBase<CheckInputPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    WalkResult walked =
        getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
          StringRef gap = findGap(op);
          if (gap.empty())
            return WalkResult::advance();
          op->emitError() << "'" << op->getName() << "' " << gap
                          << ", so nothing is known of what it computes: lower "
                             "it to linalg on tensors before, or leave it out";
          return WalkResult::interrupt();
        });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
