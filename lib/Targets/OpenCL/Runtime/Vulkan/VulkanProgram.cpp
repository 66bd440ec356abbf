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
  auto add = [&](StringRef name, auto *function) {
    options.symbols.push_back({name.str(), reinterpret_cast<void *>(function)});
  };
  add("layoutVkCreateBuffer", &layoutVkCreateBuffer);
  add("layoutVkCreateImage", &layoutVkCreateImage);
  add("layoutVkRelease", &layoutVkRelease);
  add("layoutVkEnterScope", &layoutVkEnterScope);
  add("layoutVkLeaveScope", &layoutVkLeaveScope);
  add("layoutVkUpload", &layoutVkUpload);
  add("layoutVkDownload", &layoutVkDownload);
  add("layoutVkCopy", &layoutVkCopy);
  add("layoutVkGetConstant", &layoutVkGetConstant);
  add("layoutVkGetKernel", &layoutVkGetKernel);
  add("layoutVkLaunch", &layoutVkLaunch);
  add("layoutVkRefuseSizes", &layoutVkRefuseSizes);
  auto takeOther = std::move(options.takeError);
  options.takeError = [takeOther]() -> std::optional<std::string> {
    if (takeOther)
      if (std::optional<std::string> message = takeOther())
        return message;
    const char *message = layoutVkTakeError();
    return message ? std::optional<std::string>(message) : std::nullopt;
  };
}

std::optional<layout::KernelDevice> layout::getUsedVulkanDevice() {
  int32_t isGpu = 0;
  const char *name = layoutVkGetUsedDevice(&isGpu);
  return name ? std::optional<KernelDevice>({name, isGpu != 0}) : std::nullopt;
}
