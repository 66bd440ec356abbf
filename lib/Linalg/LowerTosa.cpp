//===- LowerTosa.cpp - layout-prepare-lower-tosa --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Linalg/Passes.h"
#include "layout/Support/AdviceOnErrors.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERTOSAPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

static bool hasTosa(Operation *root) {
  return root
      ->walk([](Operation *op) {
        return isa_and_nonnull<tosa::TosaDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct LowerTosaPass : layout::impl::LowerTosaPassBase<LowerTosaPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation()->walk([&](func::FuncOp function) {
      if (hasTosa(function))
        functions.push_back(function);
    });
    if (functions.empty())
      return;
    OpPassManager pipeline(func::FuncOp::getOperationName());
    pipeline.addPass(tosa::createTosaInferShapesPass());
    pipeline.addPass(tosa::createTosaMakeBroadcastablePass());
    pipeline.addPass(tosa::createTosaToLinalgNamed());
    // The decompositions create ops whose shapes are not broadcastable yet.
    pipeline.addPass(tosa::createTosaMakeBroadcastablePass());
    pipeline.addPass(tosa::createTosaToLinalg());
    pipeline.addPass(createTosaToArithPass());
    pipeline.addPass(createTosaToTensorPass());
    pipeline.addPass(createTosaToSCFPass());
    AdviceOnErrors advice(&getContext(),
                          "upstream's lowering of TOSA, which "
                          "layout-prepare-lower-tosa runs, does not "
                          "support this op on these types; write it in linalg");
    for (func::FuncOp function : functions)
      if (failed(runPipeline(pipeline, function)))
        return signalPassFailure();
  }
};
} // namespace
