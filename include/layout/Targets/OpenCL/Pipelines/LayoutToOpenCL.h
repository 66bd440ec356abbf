//===- LayoutToOpenCL.h - From linalg to OpenCL images ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline for devices with images: assigns layouts for the device, lowers
// tensors to images and buffers, ops to SPIR-V kernels, and the host program to
// calls of the runtime in layout/Targets/OpenCL/Runtime/OpenCL.h.
//
//   layout-opt net.mlir -layout-to-opencl="target={#layout.opencl}" |
//     layout-run -
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_PIPELINES_LAYOUTTOOPENCL_H
#define LAYOUT_TARGETS_OPENCL_PIPELINES_LAYOUTTOOPENCL_H

#include "layout/Targets/OpenCL/Pipelines/OpenCLBackEnd.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::layout {

struct LayoutToOpenCLOptions : PassPipelineOptions<LayoutToOpenCLOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("The target, such as `#layout.opencl<..>`; by default "
                     "`layout.target` of the module")};
  Option<bool> kernelsOnly{
      *this, "kernels-only",
      llvm::cl::desc("Stop at kernels in the gpu dialect and their launches"),
      llvm::cl::init(false)};
};

/// Adds the passes from linalg to a host program in the LLVM dialect, or with
/// `kernelsOnly` to kernels in the gpu dialect.
void buildLayoutToOpenCLPipeline(OpPassManager &pm,
                                 const LayoutToOpenCLOptions &options,
                                 KernelAPI api = KernelAPI::OpenCL);

void registerLayoutToOpenCLPipelines();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_PIPELINES_LAYOUTTOOPENCL_H
