//===- KernelPatterns.h - Convert kernels on images to SPIR-V ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `layout-opencl-kernels-to-spirv`, in the order in which they run
// on a GPU module. `layout-vulkan-kernels-to-spirv` replaces some of them
// (KernelLowering). `layout-opencl-kernels-to-source` runs the first three and
// prints the result (KernelSource.h).
//
//   checkKernels         rejects what OpenCL 1.2 cannot express
//   legalizeHalf         computes f16 in f32, with casts at loads and stores,
//                        unless the module has half arithmetic
//   legalizeForOpenCL    replaces ops that have no SPIR-V
//   populate..Patterns   convert gpu.func, memref.load and .store of device
//                        memory, and functions of OpenCL.std without an op
//   finishModule         meets requirements of OpenCL consumers: entry points,
//                        capabilities, variables first, and no vector ops that
//                        break a translator
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELPATTERNS_H
#define LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELPATTERNS_H

#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::layout {

/// The advice of errors at ops that kernels cannot have.
constexpr llvm::StringLiteral kNoForm =
    "; write it with ops of arith, math, vector, memref and scf that kernels "
    "support, or compute it on the host";

LogicalResult checkKernels(gpu::GPUModuleOp module);
/// Emits an error at `op` and fails unless `name` is an identifier of at most
/// 100 letters, digits and underscores. OpenCL C and cache paths contain the
/// names of kernels.
LogicalResult checkKernelName(Operation *op, StringRef name);

/// Converts the f16 values of kernels to f32, with casts at loads and stores;
/// in a module with half arithmetic, only arguments. checkKernels must have
/// accepted the kernels.
void legalizeHalf(gpu::GPUModuleOp module);
/// Returns f32 for f16, and a vector of f32 for a vector of f16. For other
/// types the result is null.
Type widenHalf(Type type);

LogicalResult legalizeForOpenCL(gpu::GPUModuleOp module);

/// The steps of the conversion to SPIR-V that depend on the API of the device.
struct KernelLowering {
  /// Starts the advice of errors: "OpenCL" or "Vulkan".
  llvm::StringLiteral name;
  /// Returns the version and all capabilities that kernels may use.
  spirv::TargetEnvAttr (*getTargetEnv)(MLIRContext *context);
  /// Rejects what the API cannot express. `module` is not changed.
  LogicalResult (*check)(gpu::GPUModuleOp module);
  /// Replaces ops and types that have no SPIR-V.
  LogicalResult (*legalize)(gpu::GPUModuleOp module);
  /// Adds the type conversions of device memory.
  void (*addDeviceTypes)(SPIRVTypeConverter &converter);
  void (*populatePatterns)(const SPIRVTypeConverter &converter,
                           RewritePatternSet &patterns);
  LogicalResult (*finish)(spirv::ModuleOp module);
};

/// Runs passes on an op, as Pass::runPipeline does.
using RunPasses =
    llvm::function_ref<LogicalResult(OpPassManager &passes, Operation *op)>;

/// Adds a spirv.module before each gpu.module, with its kernels for `api`.
LogicalResult convertKernels(ModuleOp module, const KernelLowering &api,
                             RunPasses runPasses);

/// Adds the type conversions that all APIs share: memrefs of work-group memory
/// become pointers, and f16 becomes f32 unless `hasHalves` is set.
void addCommonTypes(SPIRVTypeConverter &converter, bool hasHalves);
/// Adds the conversion of memrefs of device memory to images and pointers.
void addDeviceTypes(SPIRVTypeConverter &converter);
/// Returns the storage of a memref type of a kernel, which checkKernels has
/// found to be valid device memory.
DeviceStorage getCheckedStorage(MemRefType type);
/// Emits (x, y) or (x, y, slice, slice), i32, for the indices of a pixel, which
/// are slowest first. OpenCL's built-in functions take two or four coordinates.
Value makeCoordinates(OpBuilder &builder, Location loc, ValueRange indices);
/// Sign-extends or truncates an integer, or a vector of integers, between its
/// width in the kernel and the 32 bits with which image ops read and write.
Value convertInteger(OpBuilder &builder, Location loc, Value value, Type type);
/// Emits a variable for each work-group memory of `kernel` before `function`,
/// and its address at the start of the kernel, to which `signature` maps the
/// memory.
void addGroupMemory(ConversionPatternRewriter &rewriter, gpu::GPUFuncOp kernel,
                    spirv::FuncOp function, const TypeConverter &converter,
                    TypeConverter::SignatureConversion &signature);
/// Moves the body of `kernel` to `function`, with arguments as `signature` maps
/// them, and erases the kernel.
LogicalResult moveBody(ConversionPatternRewriter &rewriter,
                       gpu::GPUFuncOp kernel, spirv::FuncOp function,
                       const TypeConverter &converter,
                       TypeConverter::SignatureConversion &signature);

/// Adds the conversions of memref.load and .store of work-group memory. They
/// precede the patterns of an API, which need not handle such memory.
void populateGroupMemoryPatterns(const SPIRVTypeConverter &converter,
                                 RewritePatternSet &patterns);
void populateKernelPatterns(const SPIRVTypeConverter &converter,
                            RewritePatternSet &patterns);
void populateOpenCLStdPatterns(const SPIRVTypeConverter &converter,
                               RewritePatternSet &patterns);

/// Emits a call of the OpenCL.std function `name`, and declares it as an
/// imported function of the module that contains `builder` (see
/// OpenCLSpirvPatcher.h). Returns the result, which is null without a
/// `resultType`.
Value callOpenCLStd(OpBuilder &builder, Location loc, StringRef name,
                    Type resultType, ValueRange operands);

LogicalResult finishModule(spirv::ModuleOp module);
/// Returns the functions of the module that have a body.
SmallVector<spirv::FuncOp> getKernels(spirv::ModuleOp module);
/// Erases dead ops of a kernel, and moves its variables to its start.
void cleanKernel(spirv::FuncOp kernel);
/// Emits the entry point of a kernel and its work-group size, if it states one.
void addEntryPoint(spirv::FuncOp kernel, spirv::ExecutionModel model,
                   OpBuilder &builder);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELPATTERNS_H
