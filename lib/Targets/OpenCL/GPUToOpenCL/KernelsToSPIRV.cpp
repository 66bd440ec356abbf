//===- KernelsToSPIRV.cpp - Convert GPU modules to SPIR-V modules ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPatterns.h"
#include "layout/Support/AdviceOnErrors.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/GPUToSPIRV/GPUToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/UBToSPIRV/UBToSPIRV.h"
#include "mlir/Conversion/VectorToSPIRV/VectorToSPIRV.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::layout {
#define GEN_PASS_DEF_KERNELSTOSPIRVPASS
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns the environment of the conversion: SPIR-V 1.0 with all capabilities
/// that kernels may use. finishModule states those in use.
static spirv::TargetEnvAttr getTargetEnv(MLIRContext *context) {
  using spirv::Capability;
  auto triple = spirv::VerCapExtAttr::get(
      spirv::Version::V_1_0,
      {Capability::Kernel, Capability::Addresses, Capability::ImageBasic,
       Capability::Int64, Capability::Int16, Capability::Int8,
       Capability::Float64, Capability::Float16, Capability::Float16Buffer},
      ArrayRef<spirv::Extension>(), context);
  return spirv::TargetEnvAttr::get(triple,
                                   spirv::getDefaultResourceLimits(context));
}

static void populatePatterns(const SPIRVTypeConverter &converter,
                             RewritePatternSet &patterns) {
  populateKernelPatterns(converter, patterns);
  populateOpenCLStdPatterns(converter, patterns);
}

static LogicalResult convertModule(gpu::GPUModuleOp module,
                                   const KernelLowering &api) {
  MLIRContext *context = module.getContext();
  spirv::TargetEnvAttr targetEnv = api.getTargetEnv(context);
  SPIRVConversionOptions options;
  options.use64bitIndex = !has32BitAddresses(module);
  options.emulateLT32BitScalarTypes = false;
  SPIRVTypeConverter converter(targetEnv, options);
  api.addDeviceTypes(converter);
  addCommonTypes(converter, module->hasAttr(kHalfArithmeticAttrName));

  RewritePatternSet patterns(context);
  ScfToSPIRVContext scfContext;
  populateGroupMemoryPatterns(converter, patterns);
  api.populatePatterns(converter, patterns);
  populateGPUToSPIRVPatterns(converter, patterns);
  arith::populateArithToSPIRVPatterns(converter, patterns);
  populateMathToSPIRVPatterns(converter, patterns);
  populateVectorToSPIRVPatterns(converter, patterns);
  populateSCFToSPIRVPatterns(converter, scfContext, patterns);
  ub::populateUBToSPIRVConversionPatterns(converter, patterns);

  auto target = SPIRVConversionTarget::get(targetEnv);
  // The kinds of images in use need no separate capabilities.
  target->addLegalOp<spirv::ImageReadOp, spirv::ImageWriteOp,
                     spirv::ImageSampleExplicitLodOp>();
  // Declarations of OpenCL.std functions, which patchSpirvForOpenCL replaces.
  target->addLegalOp<spirv::FuncOp, spirv::FunctionCallOp>();
  // The conversion reports the op; this adds advice.
  std::string text =
      (api.name + Twine(" kernels do not support it") + kNoForm).str();
  AdviceOnErrors advice(context, text);
  return applyFullConversion(module, *target, std::move(patterns));
}

static LogicalResult convertKernels(gpu::GPUModuleOp module,
                                    const KernelLowering &api,
                                    RunPasses runPasses) {
  if (failed(api.check(module)))
    return failure();
  OpBuilder builder(module);
  auto clone = cast<gpu::GPUModuleOp>(builder.clone(*module));
  // Upstream assigns the results of scf.for at the end of each iteration, hence
  // not for zero iterations; those of scf.while are assigned before.
  OpPassManager loops(gpu::GPUModuleOp::getOperationName());
  loops.addPass(createForToWhileLoopPass());
  if (failed(runPasses(loops, clone)))
    return failure();
  legalizeHalf(clone);
  if (failed(api.legalize(clone)) || failed(convertModule(clone, api)))
    return failure();
  auto converted = dyn_cast<spirv::ModuleOp>(module->getPrevNode());
  return converted ? api.finish(converted) : failure();
}

LogicalResult layout::convertKernels(ModuleOp module, const KernelLowering &api,
                                     RunPasses runPasses) {
  SmallVector<gpu::GPUModuleOp> modules(module.getOps<gpu::GPUModuleOp>());
  for (gpu::GPUModuleOp each : modules)
    if (failed(::convertKernels(each, api, runPasses)))
      return failure();
  return success();
}

static constexpr KernelLowering kOpenCL = {
    "OpenCL",       getTargetEnv,     checkKernels, legalizeForOpenCL,
    addDeviceTypes, populatePatterns, finishModule};

namespace {
struct KernelsToSPIRV : layout::impl::KernelsToSPIRVPassBase<KernelsToSPIRV> {
  void runOnOperation() override {
    if (failed(convertKernels(getOperation(), kOpenCL,
                              [&](OpPassManager &passes, Operation *op) {
                                return runPipeline(passes, op);
                              })))
      signalPassFailure();
  }
};
} // namespace
