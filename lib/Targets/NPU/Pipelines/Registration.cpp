//===- Registration.cpp - Lowerings of the NPU target ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/Registration.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "layout/Targets/NPU/NPUToEmitC/Passes.h"
#include "layout/Targets/NPU/Pipelines/LayoutToNPU.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void layout::registerNPULoweringModels(DialectRegistry &registry) {
  registry.insert<emitc::EmitCDialect>();
}

void layout::registerNPULowerings() {
  npu::registerNPUPasses();
  registerLayoutToNPUPasses();
  npu::registerNPUToEmitCPasses();
  registerLayoutToNPUPipelines();
}
