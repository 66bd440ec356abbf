//===- KernelPatterns.h - Convert kernels on images to SPIR-V ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `layout-opencl-kernels-to-spirv`, in the order in which they run
// on a GPU module. `layout-opencl-kernels-to-source` runs the first three and
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

/// Adds the type conversions of kernels: memrefs of device and work-group
/// memory become SPIR-V images and pointers, and f16 becomes f32 unless
/// `hasHalves` is set.
void addDeviceTypes(SPIRVTypeConverter &converter, bool hasHalves);

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

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELPATTERNS_H
