//===- OpenCLBackEnd.h - From GPU kernels to a host program -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline `layout-gpu-to-opencl`: lowers host code with GPU modules over
// images and buffers (layout/Targets/OpenCL/GPUToOpenCL/Storage.h) to the LLVM
// dialect with calls of layout/Targets/OpenCL/Runtime/OpenCL.h. Kernels become
// SPIR-V constants.
//
//   layout-opt kernels.mlir -layout-gpu-to-opencl | layout-run -
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_PIPELINES_OPENCLBACKEND_H
#define LAYOUT_TARGETS_OPENCL_PIPELINES_OPENCLBACKEND_H

#include "layout/Targets/OpenCL/GPUToOpenCL/KernelAPI.h"

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mlir::layout {

/// Adds the passes that compile each GPU module to a `gpu.binary`. In host code
/// they only guard launches of dynamic size by checks that 32-bit indices
/// suffice.
void buildImageKernelsToBinary(OpPassManager &pm,
                               KernelAPI api = KernelAPI::OpenCL);

/// Adds all passes of `layout-gpu-to-opencl` or `layout-gpu-to-vulkan`.
void buildOpenCLBackEnd(OpPassManager &pm, KernelAPI api = KernelAPI::OpenCL);

/// Registers the interfaces of upstream dialects that these passes need.
void registerOpenCLBackEndModels(DialectRegistry &registry);

/// Registers the pipelines `layout-gpu-to-opencl` and `layout-gpu-to-vulkan`.
void registerOpenCLBackEndPipelines();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_PIPELINES_OPENCLBACKEND_H
