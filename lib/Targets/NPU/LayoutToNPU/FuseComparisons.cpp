//===- FuseComparisons.cpp - Comparisons where they are used --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OKKernel selects by a comparison in one function, and has none that makes
// bits. So an op that compares f32 becomes a part of those that select by it,
// by upstream's fusion.
//
//===----------------------------------------------------------------------===//

#include "PrepareForCores.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::layout;

/// Whether the operand is made of bits and words, by an op that goes into this
/// one.
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
    op.emitWarning() << "an NPU does not check at run time that \""
                     << op.getMsg() << "\": its result is that of a program "
                     << "without this check";
    op.erase();
  });
}

/// What an op starts from and does not read is fresh. Upstream's patterns for
/// that forget the layout of the tensor.
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
