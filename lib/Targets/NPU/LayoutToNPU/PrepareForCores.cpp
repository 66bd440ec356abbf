//===- PrepareForCores.cpp - Programs in what cores can hold --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrepareForCores.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PREPAREFORCORESPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
struct PrepareForCoresPass
    : layout::impl::PrepareForCoresPassBase<PrepareForCoresPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      dropAsserts(function);
      foldExtracts(function);
    }
    // A view of a tensor that holds nothing is such a tensor.
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      sliceProducts(function);
      generalizeBodies(function);
      if (failed(expandMath(function)))
        return signalPassFailure();
      readByLoops(function);
      splitGroups(function);
      if (failed(fuseComparisons(function)))
        return signalPassFailure();
      storeInWholeBytes(function);
      splitWideArguments(function);
      carryIntegersInFloats(function);
      splitBodies(function);
    }
  }
};
} // namespace
