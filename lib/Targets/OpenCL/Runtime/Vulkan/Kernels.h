//===- Kernels.h - Pipelines of kernels -------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipelines of kernels, one per work-group size.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_KERNELS_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_KERNELS_H

#include "Modules.h"

namespace mlir::layout::vulkan {

struct Kernel {
  std::string name;
  Module *module;
  LayoutClKernelMetadata facts;
  uint64_t number; // of no other kernel of the process
  // Null before the first launch.
  VkDescriptorSetLayout descriptors = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  std::map<Sizes, VkPipeline> pipelines; // by work-group size
};

/// Destroys a kernel, which may be null, after the recorded commands.
void releaseKernel(void *kernel);

/// Destroys all kernels and modules.
void destroyKernels(Session &session);

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_KERNELS_H
