//===- Lowerings.cpp - Registration of the lowerings ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowerings.h"
#include "layout/Pipelines/CPU.h"
#include "layout/Pipelines/LayoutToCPU.h"
#include "layout/Pipelines/LayoutToMPI.h"
#include "layout/Pipelines/LayoutToNPU.h"
#include "layout/Pipelines/LayoutToOpenCL.h"
#include "layout/Pipelines/LayoutToUpstream.h"
#include "layout/Pipelines/OpenCLBackEnd.h"
#include "layout/Pipelines/Registration.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "layout/Targets/NPU/NPUToEmitC/Passes.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "layout/Targets/OpenCL/LayoutToGPU/Passes.h"

using namespace mlir;

void layout::registerLoweringModels(DialectRegistry &registry) {
  registerCPUPipelineModels(registry);
  registerOpenCLBackEndModels(registry);
}

void layout::registerLoweringPasses() {
  registerLayoutGPUToOpenCLPasses();
  registerLayoutToGPUPasses();
  registerLayoutToLinalgPasses();
  registerLayoutToMPIPasses();
  registerLayoutToNPUPasses();
  registerLayoutLinalgToLLVMPasses();
  npu::registerNPUToEmitCPasses();
  registerCPUPipelines();
  registerLayoutToCPUPipelines();
  registerLayoutToMPIPipelines();
  registerLayoutToNPUPipelines();
  registerLayoutToOpenCLPipelines();
  registerLayoutToUpstreamPipelines();
  registerOpenCLBackEndPipelines();
}
