//===- OpenCLBackEnd.h - From GPU kernels to a host program -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline `layout-gpu-to-opencl`: input is host code with GPU modules over
// images and buffers (layout/Targets/OpenCL/GPUToOpenCL/Storage.h), output is
// the LLVM dialect with calls of layout/Targets/OpenCL/Runtime/OpenCL.h and the
// kernels as SPIR-V in constants.
//
//   layout-opt kernels.mlir -layout-gpu-to-opencl | layout-run -
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PIPELINES_OPENCLBACKEND_H
#define LAYOUT_PIPELINES_OPENCLBACKEND_H

namespace mlir {
class DialectRegistry;
class OpPassManager;
namespace layout {

/// Kernels to binaries: `gpu.binary` for each GPU module, host code unchanged.
void buildImageKernelsToBinary(OpPassManager &pm);

/// All of it.
void buildOpenCLBackEnd(OpPassManager &pm);

/// The interfaces that the pipeline needs of upstream dialects.
void registerOpenCLBackEndModels(DialectRegistry &registry);

/// Registers the pipeline under the name `layout-gpu-to-opencl`.
void registerOpenCLBackEndPipelines();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_PIPELINES_OPENCLBACKEND_H
