//===- FuseComparisons.cpp - Fusion of comparisons into selects -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OKKernel has functions that select by a comparison, but none that produces
// i1. So upstream's elementwise fusion fuses f32 comparisons into their
// selects.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if the operand is an i1 tensor that a linalg.generic on f32, i1
/// and i32 elements computes, e.g. a comparison.
static bool isComparison(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  return producer && getElementTypeOrSelf(operand->get()).isInteger(1) &&
         llvm::all_of(producer.getBlock()->getArgumentTypes(), [](Type type) {
           return type.isF32() || type.isInteger(1) || type.isInteger(32);
         });
}

void layout::dropAsserts(func::FuncOp function) {
  function.walk([](cf::AssertOp op) {
    if (!isa<linalg::LinalgOp>(op->getParentOp()))
      return;
    op.emitWarning() << "NPU programs do not check \"" << op.getMsg()
                     << "\": the result is that of a program "
                     << "without this check";
    op.erase();
  });
}

/// If an init has a layout and is not read, replaces it by a tensor.empty with
/// this layout. Upstream's patterns, which run next, would drop the layout.
static void keepLayoutsOfInits(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto type = dyn_cast<RankedTensorType>(init.get().getType());
      if (!type || !type.hasStaticShape() || !type.getEncoding() ||
          op.payloadUsesValueFromOperand(&init))
        continue;
      OpBuilder builder(op);
      init.set(tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                       type.getElementType(),
                                       type.getEncoding()));
    }
  });
}

LogicalResult layout::fuseComparisons(func::FuncOp function) {
  keepLayoutsOfInits(function);
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, isComparison);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}
