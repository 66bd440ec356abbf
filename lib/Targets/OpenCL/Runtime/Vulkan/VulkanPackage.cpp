//===- VulkanPackage.cpp - Run a package of Vulkan kernels ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/VulkanPackage.h"
#include "../Common/Package.h"
#include "Kernels.h"

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

static constexpr RuntimeFunctions kFunctions = {
    layoutVkCreateBuffer, layoutVkCreateImage, layoutVkRelease,
    layoutVkGetConstant,  layoutVkCopy,        layoutVkGetKernel,
    layoutVkLaunch,       releaseKernel};

namespace {
/// Uploads copy their data when they are recorded, and downloads submit the
/// commands and wait for them, so that a run that has returned is done.
class VulkanPackage : public LayoutPackage {
public:
  VulkanPackage() : LayoutPackage(kFunctions, vulkan::getError()) {}

  bool open() override { return Session::get() != nullptr; }
  MemoryLimit getObjectLimit() const override {
    return {Session::getOpened()->mostBytes, "maxMemoryAllocationSize"};
  }
  MemoryLimit getTotalLimit() const override {
    uint64_t most = 0;
    const VkPhysicalDeviceMemoryProperties &all = Session::getOpened()->memory;
    for (uint32_t i = 0; i < all.memoryHeapCount; ++i)
      most = std::max<uint64_t>(most, all.memoryHeaps[i].size);
    return {most, "the largest memory heap"};
  }
  bool waitForInputs() override { return true; }
  bool waitForRuns() override { return !error.isPending(); }

protected:
  void startUpload(void *memory, const std::string &data, bool) override {
    layoutVkUpload(memory, data.data(), data.size());
  }
  void startDownload(std::string &data, void *memory) override {
    layoutVkDownload(data.data(), memory, data.size());
  }
  void endRun() override {}
};
} // namespace

LayoutPackage *layoutVkLoadPackage(const char *directory) {
  return loadPackage(directory, std::make_unique<VulkanPackage>());
}
