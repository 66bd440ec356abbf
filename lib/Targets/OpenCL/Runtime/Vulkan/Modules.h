//===- Modules.h - Shader modules and pipeline caches -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shader modules, each made once per process, with the driver's cache of their
// pipelines, which is kept on disk (Common/DiskCache.h). The key of a cache has
// the device, the version of its driver, the UUID of its pipeline caches, and
// the words of the module.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_MODULES_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_MODULES_H

#include "Session.h"

namespace mlir::layout::vulkan {

struct Module {
  VkShaderModule module = VK_NULL_HANDLE;
  VkPipelineCache cache = VK_NULL_HANDLE; // null without a disk cache
  bool hasNewPipelines = false;           // the file on disk lacks them
};

/// Returns the module of the SPIR-V `words`, which `kernel` needs. Reports an
/// error and returns null if the words are incomplete, have no such kernel, or
/// state a capability that the device lacks.
Module *getModule(Session &session, const std::string &words,
                  const std::string &kernel);

/// Writes the caches to disk, and destroys all modules.
void destroyModules(Session &session);

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_MODULES_H
