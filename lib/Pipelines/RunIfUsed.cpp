//===- RunIfUsed.cpp - Passes for ops that may be absent ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Pipelines/Passes.h"

namespace mlir::layout {
#define GEN_PASS_DEF_RUNIFUSEDPASS
#include "layout/Pipelines/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {
struct RunIfUsed : layout::impl::RunIfUsedPassBase<RunIfUsed> {
  using RunIfUsedPassBase::RunIfUsedPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    for (const OpPassManager &pipeline : pipelines)
      pipeline.getDependentDialects(registry);
  }

  void runOnOperation() override {
    WalkResult walk = getOperation()->walk([&](Operation *op) {
      OperationName name = op->getName();
      return llvm::is_contained(ops, name.getStringRef()) ||
                     llvm::is_contained(ops, name.getDialectNamespace())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!walk.wasInterrupted())
      return;
    for (OpPassManager &pipeline : pipelines)
      if (failed(runPipeline(pipeline, getOperation())))
        return signalPassFailure();
  }
};
} // namespace
