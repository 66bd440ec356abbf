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

static LogicalResult convertModule(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  spirv::TargetEnvAttr targetEnv = getTargetEnv(context);
  SPIRVConversionOptions options;
  options.use64bitIndex = !has32BitAddresses(module);
  options.emulateLT32BitScalarTypes = false;
  SPIRVTypeConverter converter(targetEnv, options);
  addDeviceTypes(converter, module->hasAttr(kHalfArithmeticAttrName));

  RewritePatternSet patterns(context);
  ScfToSPIRVContext scfContext;
  populateKernelPatterns(converter, patterns);
  populateOpenCLStdPatterns(converter, patterns);
  populateGPUToSPIRVPatterns(converter, patterns);
  arith::populateArithToSPIRVPatterns(converter, patterns);
  populateMathToSPIRVPatterns(converter, patterns);
  populateVectorToSPIRVPatterns(converter, patterns);
  populateSCFToSPIRVPatterns(converter, scfContext, patterns);
  ub::populateUBToSPIRVConversionPatterns(converter, patterns);

  auto target = SPIRVConversionTarget::get(targetEnv);
  // Kinds of images have no separate capabilities in OpenCL.
  target->addLegalOp<spirv::ImageReadOp, spirv::ImageWriteOp>();
  // Declarations of OpenCL.std functions, which patchSpirvForOpenCL replaces.
  target->addLegalOp<spirv::FuncOp, spirv::FunctionCallOp>();
  // The conversion reports the op; this adds advice.
  std::string text = ("OpenCL kernels do not support it" + kNoForm).str();
  AdviceOnErrors advice(context, text);
  return applyFullConversion(module, *target, std::move(patterns));
}

namespace {
struct KernelsToSPIRV : layout::impl::KernelsToSPIRVPassBase<KernelsToSPIRV> {
  void runOnOperation() override {
    SmallVector<gpu::GPUModuleOp> modules(
        getOperation().getOps<gpu::GPUModuleOp>());
    for (gpu::GPUModuleOp module : modules)
      if (failed(convert(module)))
        return signalPassFailure();
  }

  LogicalResult convert(gpu::GPUModuleOp module) {
    if (failed(checkKernels(module)))
      return failure();
    OpBuilder builder(module);
    auto clone = cast<gpu::GPUModuleOp>(builder.clone(*module));
    auto spirvModule = [&]() -> spirv::ModuleOp {
      // Upstream assigns the results of scf.for at the end of each iteration,
      // hence not for zero iterations; those of scf.while are assigned before.
      OpPassManager loops(gpu::GPUModuleOp::getOperationName());
      loops.addPass(createForToWhileLoopPass());
      if (failed(runPipeline(loops, clone)))
        return {};
      legalizeHalf(clone);
      if (failed(legalizeForOpenCL(clone)) || failed(convertModule(clone)))
        return {};
      return dyn_cast<spirv::ModuleOp>(module->getPrevNode());
    }();
    return spirvModule ? finishModule(spirvModule) : failure();
  }
};
} // namespace
