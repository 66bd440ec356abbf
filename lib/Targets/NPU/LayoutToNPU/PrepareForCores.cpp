//===- PrepareForCores.cpp - Programs in what cores can hold --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrepareForCores.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PREPAREFORCORESPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Integers that are all the same are a number in the body, so that what they
/// are multiplied by may fold.
static void inlineIntegers(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      DenseIntElementsAttr numbers;
      if (!matchPattern(input->get(), m_Constant(&numbers)) ||
          numbers.empty() || !numbers.isSplat())
        continue;
      OpBuilder builder = OpBuilder::atBlockBegin(op.getBody());
      op.getMatchingBlockArgument(input).replaceAllUsesWith(
          arith::ConstantOp::create(
              builder, op.getLoc(),
              builder.getIntegerAttr(numbers.getElementType(),
                                     numbers.getSplatValue<APInt>())));
    }
  });
}

namespace {
struct PrepareForCoresPass
    : layout::impl::PrepareForCoresPassBase<PrepareForCoresPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      dropAsserts(function);
      foldExtracts(function);
      inlineIntegers(function);
    }
    // A view of a tensor that holds nothing is such a tensor.
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      sliceProducts(function);
      computeUsedParts(function);
      generalizeBodies(function);
      if (failed(expandMath(function)))
        return signalPassFailure();
      readByLoops(function);
      readByData(function);
      splitGroups(function);
      if (failed(fuseComparisons(function)))
        return signalPassFailure();
      storeInWholeBytes(function);
      splitWideArguments(function);
      carryIntegersInFloats(function);
      splitBodies(function);
      rewriteReductions(function);
    }
  }
};
} // namespace
