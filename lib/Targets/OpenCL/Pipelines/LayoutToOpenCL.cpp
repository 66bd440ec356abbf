//===- LayoutToOpenCL.cpp - From linalg to OpenCL images ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Pipelines/LayoutToOpenCL.h"
#include "layout/Linalg/Passes.h"
#include "layout/Pipelines/AddCanonicalizer.h"
#include "layout/Pipelines/AssignLayouts.h"
#include "layout/Pipelines/Prepare.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "layout/Targets/OpenCL/LayoutToGPU/Passes.h"
#include "layout/Targets/OpenCL/Pipelines/OpenCLBackEnd.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildLayoutToOpenCLPipeline(OpPassManager &pm,
                                         const LayoutToOpenCLOptions &options,
                                         KernelAPI api) {
  pm.addPass(createCheckInputPass());
  pm.addPass(createPrepareEntryPointsPass());
  pm.addPass(createSequenceForallsPass());
  pm.addPass(createLowerPacksPass({/*views=*/false}));
  buildPreparePipeline(pm);
  pm.addPass(createCheckIndicesPass());
  buildDecideLayoutsPipeline(pm, options.target);
  pm.addPass(createConvertLayoutToGPUPass());
  pm.addPass(createLowerAffinePass());
  addCanonicalizer(pm);
  pm.addPass(createCSEPass());
  if (!options.kernelsOnly)
    buildOpenCLBackEnd(pm, api);
}

void layout::registerLayoutToOpenCLPipelines() {
  PassPipelineRegistration<LayoutToOpenCLOptions>(
      "layout-to-opencl",
      "Assign layouts for a device with images, and lower to SPIR-V kernels "
      "and "
      "a host program",
      [](OpPassManager &pm, const LayoutToOpenCLOptions &options) {
        buildLayoutToOpenCLPipeline(pm, options, KernelAPI::OpenCL);
      });
  PassPipelineRegistration<LayoutToOpenCLOptions>(
      "layout-to-vulkan",
      "Assign layouts for a device with images, and lower to SPIR-V kernels "
      "for Vulkan and a host program",
      [](OpPassManager &pm, const LayoutToOpenCLOptions &options) {
        buildLayoutToOpenCLPipeline(pm, options, KernelAPI::Vulkan);
      });
}
