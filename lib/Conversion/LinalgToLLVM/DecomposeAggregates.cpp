//===- DecomposeAggregates.cpp - Softmax and the like ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Conversion/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATESPASS
#include "layout/Conversion/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// The transforms of Winograd's convolution are no aggregates, but upstream
/// writes them as loops over small products of matrices.
static FailureOr<Operation *> decomposeTransform(RewriterBase &rewriter,
                                                 Operation *op) {
  if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
    return linalg::decomposeWinogradFilterTransformOp(rewriter, filter);
  if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
    return linalg::decomposeWinogradInputTransformOp(rewriter, input);
  return linalg::decomposeWinogradOutputTransformOp(
      rewriter, cast<linalg::WinogradOutputTransformOp>(op));
}

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
    SmallVector<Operation *> transforms;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::WinogradFilterTransformOp,
              linalg::WinogradInputTransformOp,
              linalg::WinogradOutputTransformOp>(op))
        transforms.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : transforms) {
      rewriter.setInsertionPoint(op);
      Location loc = op->getLoc();
      std::string name = op->getName().getStringRef().str();
      if (failed(decomposeTransform(rewriter, op))) {
        emitError(loc, "layout-decompose-aggregates: '")
            << name
            << "' cannot be written as loops over products; make its shape "
               "static";
        return signalPassFailure();
      }
    }
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
