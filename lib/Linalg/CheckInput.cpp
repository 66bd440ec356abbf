//===- CheckInput.cpp - Reject ops that cannot be lowered -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Linalg/Passes.h"
#include "layout/Support/LoweredDialects.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CHECKINPUTPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns the first tensor type whose encoding is not a layout, or a null
/// type.
static Type findForeign(TypeRange types) {
  auto found = llvm::find_if(types, [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getEncoding() &&
           !isa<layout::LayoutAttrInterface>(tensor.getEncoding());
  });
  return found == types.end() ? Type() : *found;
}

static LogicalResult check(Operation *op) {
  bool isLive = op->getParentOfType<func::FuncOp>() && !isOpTriviallyDead(op);
  StringRef gap;
  if (!op->isRegistered())
    gap = "is not of a registered dialect";
  else if (isLive &&
           !layout::isInputDialect(op->getName().getDialectNamespace()) &&
           !isa<linalg::AggregatedOpInterface>(op))
    gap = "is of a dialect that is not lowered here";
  if (!gap.empty())
    return op->emitError() << "'" << op->getName() << "' " << gap
                           << ", so what it computes is unknown: lower it to "
                              "linalg on tensors first, or remove it";
  if (!isLive)
    return success();
  if (failed(layout::checkStatedSizes(op)))
    return failure();
  Type foreign = findForeign(op->getOperandTypes());
  if (!foreign)
    foreign = findForeign(op->getResultTypes());
  if (!foreign)
    return success();
  return op->emitOpError()
         << "has a value of type " << foreign
         << ", whose encoding is not a layout, so where its elements are is "
            "unknown: remove the encoding, or state a layout";
}

namespace {
struct CheckInputPass : layout::impl::CheckInputPassBase<CheckInputPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    WalkResult walked =
        getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
          return failed(check(op)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
        });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
