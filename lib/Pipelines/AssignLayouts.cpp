//===- AssignLayouts.cpp - Decide, apply, fold ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Pipelines/AssignLayouts.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildAssignLayoutsPipeline(OpPassManager &pm, StringRef target,
                                        StringRef certificate) {
  pm.addPass(createLowerTosaPass());
  pm.addPass(createInlineGlobalsPass());
  pm.addPass(createFoldBroadcastsPass());
  pm.addPass(createDensifyConvolutionsPass());
  pm.addPass(createFoldConstantSlicesPass());
  CanonicalizeLayoutsPassOptions canonicalize;
  canonicalize.keepNpuScatter = true;
  pm.addPass(createCanonicalizeLayoutsPass(canonicalize));
  SolvePassOptions propagate;
  propagate.target = target.str();
  propagate.certificate = certificate.str();
  pm.addPass(createSolvePass(propagate));
  pm.addPass(createMaterializePass());
  pm.addPass(createFoldConvertsPass());
  pm.addPass(createVerifyLayoutsPass());
}

void layout::registerAssignLayoutsPipeline() {
  PassPipelineRegistration<AssignLayoutsOptions>(
      "layout-assign",
      "Decide layouts for the target, insert the conversions that they need "
      "and fold those that need not run",
      [](OpPassManager &pm, const AssignLayoutsOptions &options) {
        buildAssignLayoutsPipeline(pm, options.target, options.certificate);
      });
}
