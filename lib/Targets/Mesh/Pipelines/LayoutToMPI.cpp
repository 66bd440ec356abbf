//===- LayoutToMPI.cpp - From tensors on a mesh to a program --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/Mesh/Pipelines/LayoutToMPI.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "layout/Targets/Mesh/LayoutToMPI/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildLayoutToMPIPipeline(OpPassManager &pm,
                                      const LayoutToMPIOptions &options) {
  ConvertLayoutToMPIPassOptions messages;
  messages.maxExtraBytes = options.maxExtraBytes;
  messages.implementation = options.implementation;
  pm.addPass(createConvertLayoutToMPIPass(messages));
  // Ops on the mesh were verified by the previous pass.
  pm.addPass(createVerifyLayoutsPass());
  pm.addPass(createConvertLayoutToLinalgPass());
  buildLinalgToLLVMPipeline(pm, options);
}

void layout::registerLayoutToMPIPipelines() {
  PassPipelineRegistration<LayoutToMPIOptions>(
      "layout-to-mpi",
      "Lower ops on a mesh to ops on blocks, conversions to MPI messages, and "
      "the program of every rank to the LLVM dialect",
      buildLayoutToMPIPipeline);
}
