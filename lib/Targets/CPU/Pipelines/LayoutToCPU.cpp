//===- LayoutToCPU.cpp - From linalg to a laid-out CPU program ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/Pipelines/LayoutToCPU.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Pipelines/AssignLayouts.h"
#include "layout/Pipelines/Prepare.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildLayoutToCPUPipeline(OpPassManager &pm,
                                      const LayoutToCPUOptions &options) {
  pm.addPass(createSetTargetPass({options.target, options.cpu}));
  PrepareOptions prepare;
  prepare.inBlocks = true;
  buildPreparePipeline(pm, prepare);
  // Check indices before layouts are assigned: an index of padding is out of
  // range in the tensor, but in range in its storage.
  if (options.checkIndices)
    pm.addPass(createCheckIndicesPass());
  buildDecideLayoutsPipeline(pm);
  pm.addPass(createConvertLayoutToLinalgPass());
  pm.addPass(createVerifyLoweringInputPass());
  // If layouts were assigned for another target, its program runs here.
  pm.addPass(createSetTargetPass({/*target=*/"", options.cpu,
                                  /*lowering=*/true}));
  buildPreparedLinalgToLLVMPipeline(pm, options);
}

void layout::registerLayoutToCPUPipelines() {
  PassPipelineRegistration<LayoutToCPUOptions>(
      "layout-to-cpu",
      "Assign layouts for a CPU, and lower to physical tensors and to the LLVM "
      "dialect",
      buildLayoutToCPUPipeline);
}
