//===- KernelAPI.h - The APIs of devices with images ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELAPI_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELAPI_H

namespace mlir::layout {

/// The API by which kernels run on a device.
enum class KernelAPI { OpenCL, Vulkan };

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_KERNELAPI_H
