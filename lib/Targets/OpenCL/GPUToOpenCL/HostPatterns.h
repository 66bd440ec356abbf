//===- HostPatterns.h - GPU ops of the host to runtime calls ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of `convert-gpu-to-opencl-runtime`:
//
//   checkHost          what the runtime has no call for is an error
//   embedBinaries      each gpu.binary becomes a constant
//   populateHost..     one pattern for each GPU op
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_HOSTPATTERNS_H
#define LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_HOSTPATTERNS_H

#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::layout {

LogicalResult checkHost(ModuleOp module);

/// What the names of all that the conversion makes start with.
inline constexpr llvm::StringLiteral kRuntimePrefix = "layoutCl",
                                     kOwnPrefix = "__opencl_";
/// Functions of the runtime, () -> (), that convert-layout-to-gpu declares and
/// calls.
inline constexpr llvm::StringLiteral kScopes[] = {"layoutClEnterScope",
                                                  "layoutClLeaveScope"};

/// The constant with the words of a gpu.binary, by the name of the latter.
struct EmbeddedBinary {
  LLVM::GlobalOp global;
  int64_t bytes;
  LLVM::GlobalOp
      source; // null where there is none, else with a null at its end
  gpu::KernelTableAttr kernels; // null where the binary lists none
};
using EmbeddedBinaries = llvm::StringMap<EmbeddedBinary>;

FailureOr<EmbeddedBinaries> embedBinaries(ModuleOp module);

void populateHostPatterns(const LLVMTypeConverter &converter,
                          const EmbeddedBinaries &binaries,
                          RewritePatternSet &patterns);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_HOSTPATTERNS_H
