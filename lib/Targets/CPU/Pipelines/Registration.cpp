//===- Registration.cpp - Lowerings of the CPU target ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/Registration.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "layout/Targets/CPU/Pipelines/LayoutToCPU.h"
#include "layout/Targets/CPU/Pipelines/LayoutToUpstream.h"
#include "layout/Targets/CPU/Pipelines/LinalgToLLVM.h"

using namespace mlir;

void layout::registerCPULoweringModels(DialectRegistry &registry) {
  registerCPUPipelineModels(registry);
}

void layout::registerCPULowerings() {
  registerLayoutToLinalgPasses();
  registerLayoutLinalgToLLVMPasses();
  registerCPUPipelines();
  registerLayoutToCPUPipelines();
  registerLayoutToUpstreamPipelines();
}
