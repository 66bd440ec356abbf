//===- Registration.cpp - One call to register everything -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Pipelines/Registration.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Pipelines/CPU.h"
#include "layout/Pipelines/LayoutToCPU.h"
#include "layout/Pipelines/LayoutToNPU.h"
#include "layout/Pipelines/LayoutToOpenCL.h"
#include "layout/Pipelines/OpenCLBackEnd.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "layout/Targets/NPU/NPUToEmitC/Passes.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "layout/Targets/OpenCL/LayoutToGPU/Passes.h"
#include "layout/Targets/Registration.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void layout::registerAllDialects(DialectRegistry &registry) {
  registry.insert<LayoutDialect, npu::NPUDialect>();
  registerLayoutRules(registry);
  registerTargets(registry);
  registerCPUPipelineModels(registry);
  registerOpenCLBackEndModels(registry);
}

void layout::registerAllPasses() {
  registerLayoutPasses();
  registerLayoutGPUToOpenCLPasses();
  registerLayoutToGPUPasses();
  registerLayoutToLinalgPasses();
  registerLayoutToNPUPasses();
  registerLayoutLinalgToLLVMPasses();
  npu::registerNPUPasses();
  npu::registerNPUToEmitCPasses();
  registerCPUPipelines();
  registerLayoutToCPUPipelines();
  registerLayoutToNPUPipelines();
  registerLayoutToOpenCLPipelines();
  registerOpenCLBackEndPipelines();
  registerFormerPassNames();
}
