//===- VulkanProgram.cpp - Run programs with Vulkan kernels ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/VulkanProgram.h"
#include "layout/Targets/OpenCL/Runtime/Vulkan.h"

using namespace mlir;

void layout::useVulkan(CompileOptions &options) {
  // The message is emitted as a diagnostic instead of being printed.
  layoutVkSetErrorHandler(nullptr);
#define FUNCTION(name) {#name, reinterpret_cast<void *>(&name)}
  options.addRuntime(
      {FUNCTION(layoutVkCreateBuffer), FUNCTION(layoutVkCreateImage),
       FUNCTION(layoutVkRelease), FUNCTION(layoutVkEnterScope),
       FUNCTION(layoutVkLeaveScope), FUNCTION(layoutVkUpload),
       FUNCTION(layoutVkDownload), FUNCTION(layoutVkCopy),
       FUNCTION(layoutVkGetConstant), FUNCTION(layoutVkGetKernel),
       FUNCTION(layoutVkLaunch), FUNCTION(layoutVkRefuseSizes)},
      layoutVkTakeError);
#undef FUNCTION
}

std::optional<layout::KernelDevice> layout::getUsedVulkanDevice() {
  int32_t isGpu = 0;
  const char *name = layoutVkGetUsedDevice(&isGpu);
  return name ? std::optional<KernelDevice>({name, isGpu != 0}) : std::nullopt;
}
