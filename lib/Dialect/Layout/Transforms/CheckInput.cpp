//===- CheckInput.cpp - Refuse ops that nothing is known of ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/Transforms/Passes.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CHECKINPUTPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {
struct CheckInputPass : layout::impl::CheckInputPassBase<CheckInputPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    WalkResult walked =
        getOperation()->walk<WalkOrder::PreOrder>(
            [](Operation *op) {
              if (op->isRegistered())
                return WalkResult::advance();
              op->emitError()
                  << "'" << op->getName()
                  << "' is of no registered dialect, so nothing is known "
                     "of what it computes: lower it to linalg on tensors "
                     "before, or leave it out";
              return WalkResult::interrupt();
            });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
