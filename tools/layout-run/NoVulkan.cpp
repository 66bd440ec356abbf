//===- NoVulkan.cpp - Stubs for builds without Vulkan ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces VulkanProgram.cpp in builds without Vulkan. Linking a program that
// calls the Vulkan runtime is an error at the program, with a note for each
// missing function.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/VulkanProgram.h"

using namespace mlir;

void layout::useVulkan(CompileOptions &) {}

std::optional<layout::KernelDevice> layout::getUsedVulkanDevice() {
  return std::nullopt;
}
