//===- LayoutToCPU.cpp - From linalg to a laid-out CPU program ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Pipelines/LayoutToCPU.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildAssignLayoutsPipeline(OpPassManager &pm, StringRef target) {
  pm.addPass(createLowerTosaPass());
  pm.addPass(createInlineGlobalsPass());
  CanonicalizeLayoutsPassOptions canonicalize;
  canonicalize.keepNpuScatter = true;
  pm.addPass(createCanonicalizeLayoutsPass(canonicalize));
  SolvePassOptions propagate;
  propagate.target = target.str();
  pm.addPass(createSolvePass(propagate));
  pm.addPass(createMaterializePass());
  pm.addPass(createFoldConvertsPass());
  pm.addPass(createVerifyLayoutsPass());
}

void layout::buildLayoutToCPUPipeline(OpPassManager &pm,
                                      const LayoutToCPUOptions &options) {
  buildAssignLayoutsPipeline(pm, options.target);
  pm.addPass(createConvertLayoutToLinalgPass());
  buildLinalgToLLVMPipeline(pm, options);
}

void layout::registerLayoutToCPUPipelines() {
  PassPipelineRegistration<AssignLayoutsOptions>(
      "layout-assign",
      "Decide layouts for the target, insert the conversions that they need "
      "and fold those that need not run",
      [](OpPassManager &pm, const AssignLayoutsOptions &options) {
        buildAssignLayoutsPipeline(pm, options.target);
      });
  PassPipelineRegistration<LayoutToCPUOptions>(
      "layout-to-cpu",
      "Assign layouts for a CPU, lower them to physical tensors, and these to "
      "the LLVM dialect",
      buildLayoutToCPUPipeline);
}
