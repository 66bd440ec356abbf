//===- LowerStridedCopies.cpp - Copies of non-contiguous buffers ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERSTRIDEDCOPIESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Row-major without gaps; such a copy is one memcpy.
static bool isDense(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return false;
  if (type.getLayout().isIdentity())
    return true;
  return type.hasStaticShape() &&
         type.areTrailingDimsContiguous(type.getRank());
}

namespace {
struct LowerStridedCopies
    : layout::impl::LowerStridedCopiesPassBase<LowerStridedCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) {
      if (isa<MemRefType>(op.getSource().getType()) &&
          isa<MemRefType>(op.getTarget().getType()) &&
          !(isDense(op.getSource()) && isDense(op.getTarget())))
        copies.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::CopyOp copy : copies) {
      if (copy.getSource() == copy.getTarget()) {
        rewriter.eraseOp(copy);
        continue;
      }
      rewriter.setInsertionPoint(copy);
      auto structured = linalg::CopyOp::create(
          rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
      rewriter.setInsertionPoint(structured);
      if (failed(linalg::linalgOpToLoops(
              rewriter, cast<linalg::LinalgOp>(structured.getOperation())))) {
        structured->emitError("layout-lower-strided-copies: cannot turn this "
                              "copy into loops");
        return signalPassFailure();
      }
      rewriter.eraseOp(structured);
    }
  }
};
} // namespace
