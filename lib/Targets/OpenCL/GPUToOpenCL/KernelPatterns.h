//===- KernelPatterns.h - Kernels on images to SPIR-V -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of `convert-image-kernels-to-spirv`, in the order in which they
// run on one GPU module; `convert-image-kernels-to-source` has the first three
// and prints what is left (KernelSource.h):
//
//   checkKernels         what cannot be said in OpenCL 1.2 is an error
//   legalizeHalf         f16 is left only where memory is read and written,
//                        but where the module asks for half arithmetic
//   legalizeForOpenCL    ops that have no SPIR-V become ops that have
//   populate..Patterns   gpu.func, memref.load and .store of device memory, and
//                        functions of OpenCL.std without an op
//   finishModule         what readers of OpenCL binaries ask beyond the
//                        conversion: entry points, capabilities, variables
//                        first, none of the vector ops that break a reader
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELPATTERNS_H
#define LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELPATTERNS_H

#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"

namespace mlir::layout {

/// What to do about an op that no kernel can have.
constexpr llvm::StringLiteral kNoForm =
    "; write it with ops of arith, math, vector, memref and scf that kernels "
    "have, or compute it on the host";

LogicalResult checkKernels(gpu::GPUModuleOp module);
/// Names go to compilers and caches of others, as identifiers and paths.
LogicalResult checkKernelName(Operation *op, StringRef name);

/// Of kernels that checkKernels has seen.
void legalizeHalf(gpu::GPUModuleOp module);
/// The type with f32 for f16, or null where there is no f16 in it.
Type widenHalf(Type type);

LogicalResult legalizeForOpenCL(gpu::GPUModuleOp module);

/// Memory of the device becomes images and pointers; f16 becomes f32, but where
/// there is half arithmetic.
void addDeviceTypes(SPIRVTypeConverter &converter, bool hasHalves);

void populateKernelPatterns(const SPIRVTypeConverter &converter,
                            RewritePatternSet &patterns);
void populateOpenCLStdPatterns(const SPIRVTypeConverter &converter,
                               RewritePatternSet &patterns);

/// Calls OpenCL.std's `name`, declaring it as an imported function of the
/// module that `builder` is in (see SpirvBinary.h). `resultType` may be null.
Value callOpenCLStd(OpBuilder &builder, Location loc, StringRef name,
                    Type resultType, ValueRange operands);

LogicalResult finishModule(spirv::ModuleOp module);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_KERNELPATTERNS_H
