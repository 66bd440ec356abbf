//===- VulkanPatterns.h - Convert kernels to SPIR-V for Vulkan --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of `layout-vulkan-kernels-to-spirv` that differ from those for
// OpenCL (KernelPatterns.h). A kernel has no parameters; its argument number i
// is
//
//   a buffer               a storage buffer at set 0, binding i
//   an image that is read  a combined image sampler at set 0, binding i
//   an image it stores to  a storage image at set 0, binding i
//   a scalar               a push constant (Runtime/PushConstants.h)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_VULKAN_VULKANPATTERNS_H
#define LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_VULKAN_VULKANPATTERNS_H

#include "KernelPatterns.h"

namespace mlir::layout {

/// Rejects what Vulkan 1.1 cannot express, after checkKernels.
LogicalResult checkForVulkan(gpu::GPUModuleOp module);

/// Expands functions that GLSL.std.450 lacks, and marks the images that kernels
/// store to by their memory spaces, because their types in SPIR-V differ from
/// those of images that are read.
LogicalResult legalizeForVulkan(gpu::GPUModuleOp module);

/// Sets the memory space of each image that the kernel stores to, such as
/// "image2d", to {stored = "image2d"}.
void markStoredImages(gpu::GPUFuncOp kernel);

/// Adds the type conversion of memrefs of device memory.
void addVulkanTypes(SPIRVTypeConverter &converter);

/// Adds the conversions of gpu.func, memref.load and memref.store of device
/// memory, and arith.remsi.
void populateVulkanPatterns(const SPIRVTypeConverter &converter,
                            RewritePatternSet &patterns);

/// Adds entry points, work-group sizes as specialization constants 0 to 2, and
/// the capabilities in use.
LogicalResult finishForVulkan(spirv::ModuleOp module);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_VULKAN_VULKANPATTERNS_H
