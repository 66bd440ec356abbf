//===- Registration.cpp - Lowerings of the OpenCL target ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/Registration.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "layout/Targets/OpenCL/LayoutToGPU/Passes.h"
#include "layout/Targets/OpenCL/Pipelines/LayoutToOpenCL.h"
#include "layout/Targets/OpenCL/Pipelines/OpenCLBackEnd.h"

using namespace mlir;

void layout::registerOpenCLLoweringModels(DialectRegistry &registry) {
  registerOpenCLBackEndModels(registry);
}

void layout::registerOpenCLLowerings() {
  registerLayoutToGPUPasses();
  registerLayoutGPUToOpenCLPasses();
  registerLayoutToOpenCLPipelines();
  registerOpenCLBackEndPipelines();
}
