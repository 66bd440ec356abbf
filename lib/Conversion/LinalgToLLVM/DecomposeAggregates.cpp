//===- DecomposeAggregates.cpp - Softmax and the like ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Conversion/LinalgToLLVM/Passes.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATESPASS
#include "layout/Conversion/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {
struct DecomposeAggregates
    : layout::impl::DecomposeAggregatesPassBase<DecomposeAggregates> {
  void runOnOperation() override {
    SmallVector<linalg::AggregatedOpInterface> ops;
    getOperation()->walk([&](linalg::AggregatedOpInterface op) {
      // Relayouts have a lowering of their own.
      if (!isa<linalg::PackOp, linalg::UnPackOp>(op.getOperation()))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::AggregatedOpInterface op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
      if (failed(parts)) {
        op->emitError("layout-decompose-aggregates: this op cannot be written "
                      "as structured ops; make its shape static");
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *parts);
    }
  }
};
} // namespace
