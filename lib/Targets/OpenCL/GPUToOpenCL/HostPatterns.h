//===- HostPatterns.h - Convert host GPU ops to runtime calls ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `convert-gpu-to-opencl-runtime`:
//
//   checkHost              rejects what the runtime does not support
//   embedBinaries          makes each gpu.binary a constant
//   populateHostPatterns   adds a pattern for each GPU op
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

/// The prefixes of all symbols that the conversion creates: the functions of
/// the runtimes for OpenCL and Vulkan, and globals.
inline constexpr llvm::StringLiteral kRuntimePrefix = "layoutCl",
                                     kVulkanPrefix = "layoutVk",
                                     kOwnPrefix = "__opencl_";
/// The functions of the runtime, of type () -> (), that convert-layout-to-gpu
/// has already declared and called. checkHost accepts these declarations
/// despite their prefix.
inline constexpr llvm::StringLiteral kScopes[] = {"layoutClEnterScope",
                                                  "layoutClLeaveScope"};

/// The LLVM constants that hold the SPIR-V words (`global`, of `bytes` bytes)
/// and the OpenCL C (`source`) of a gpu.binary.
struct EmbeddedBinary {
  LLVM::GlobalOp global;
  int64_t bytes;
  LLVM::GlobalOp source;        // null-terminated; may be null
  gpu::KernelTableAttr kernels; // null if the binary has no table
};
using EmbeddedBinaries = llvm::StringMap<EmbeddedBinary>;

FailureOr<EmbeddedBinaries> embedBinaries(ModuleOp module);

void populateHostPatterns(const LLVMTypeConverter &converter,
                          const EmbeddedBinaries &binaries,
                          RewritePatternSet &patterns);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_HOSTPATTERNS_H
