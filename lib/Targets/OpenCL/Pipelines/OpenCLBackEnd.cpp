//===- OpenCLBackEnd.cpp - From GPU kernels to a host program -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Pipelines/OpenCLBackEnd.h"
#include "layout/Pipelines/AddCanonicalizer.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/SPIRV/Target.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildImageKernelsToBinary(OpPassManager &pm, KernelAPI api) {
  pm.addPass(createCountKernelWorkPass());
  pm.addPass(createNarrowKernelIndicesPass());
  if (api == KernelAPI::Vulkan) {
    pm.addPass(createKernelsToVulkanPass());
  } else {
    pm.addPass(createKernelsToSourcePass());
    pm.addPass(createKernelsToSPIRVPass());
  }
  pm.addPass(createSerializeKernelsPass());
}

void layout::buildOpenCLBackEnd(OpPassManager &pm, KernelAPI api) {
  buildImageKernelsToBinary(pm, api);
  ConvertGPUToOpenCLRuntimePassOptions host;
  if (api == KernelAPI::Vulkan)
    host.prefix = "layoutVk";
  pm.addPass(createConvertGPUToOpenCLRuntimePass(host));
  // Lower the linalg ops that the host computes on its own buffers.
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  addCanonicalizer(pm);
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void layout::registerOpenCLBackEndModels(DialectRegistry &registry) {
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  // Needed for the target of a `gpu.binary`.
  spirv::registerSPIRVTargetInterfaceExternalModels(registry);
}

void layout::registerOpenCLBackEndPipelines() {
  PassPipelineRegistration<>(
      "layout-gpu-to-opencl",
      "Lower GPU kernels on images to SPIR-V, and their host code to the LLVM "
      "dialect with calls of the OpenCL runtime",
      [](OpPassManager &pm) { buildOpenCLBackEnd(pm, KernelAPI::OpenCL); });
  PassPipelineRegistration<>(
      "layout-gpu-to-vulkan",
      "Lower GPU kernels on images to SPIR-V for Vulkan, and their host code "
      "to the LLVM dialect with calls of the Vulkan runtime",
      [](OpPassManager &pm) { buildOpenCLBackEnd(pm, KernelAPI::Vulkan); });
}
