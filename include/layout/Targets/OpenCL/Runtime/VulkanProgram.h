//===- VulkanProgram.h - Run programs with Vulkan kernels -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets a CompiledProgram (CompiledProgram.h) call the Vulkan runtime of this
// process; a runtime error makes the run fail with its message. Programs
// without such calls do not look up a device.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_VULKANPROGRAM_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_VULKANPROGRAM_H

#include "layout/Runtime/CompiledProgram.h"

namespace mlir::layout {

/// Adds the functions and errors of the Vulkan runtime to those that `options`
/// has already.
void useVulkan(CompileOptions &options);

/// Returns the device that programs of this process used, or std::nullopt if
/// they have used none.
std::optional<KernelDevice> getUsedVulkanDevice();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_VULKANPROGRAM_H
