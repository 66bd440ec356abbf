//===- Session.h - The Vulkan device and its queue --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instance, device and queue of the process, and the pending error. Every
// entry point of the C API starts with
//
//   Lock lock(getError().mutex);
//   Session *session = Session::get();
//   if (!session)
//     return nullptr;           // an error is pending, or there is no device
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_SESSION_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_SESSION_H

#include "../Common/GroupLimits.h"
#include "../Common/PendingError.h"
#include "layout/Targets/OpenCL/Runtime/Vulkan.h"
#include <map>
#include <vector>
#include <vulkan/vulkan.h>

namespace mlir::layout::vulkan {

using Lock = std::lock_guard<std::recursive_mutex>;

PendingError &getError();

/// Returns true if `code` is VK_SUCCESS. Otherwise reports "<what> failed:
/// <call> returned <code>" and returns false.
bool check(VkResult code, const char *call, const std::string &what);

/// The optional features of the device that kernels may need.
struct Features {
  bool int64 = false, int16 = false, int8 = false, float64 = false,
       float16 = false, storage16 = false, storage8 = false;
};

class Session {
public:
  /// Returns the session, which the first call opens. While an error is
  /// pending, or without a device, returns null.
  static Session *get();
  /// Returns the session even if an error is pending, or null before the first
  /// use of the device.
  static Session *getOpened();

  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0; // of the queue
  std::string name;
  /// The part of cache keys that identifies the device: its name, the version
  /// of its driver, and the UUID of its pipeline caches.
  std::string key;
  bool isGpu = false;
  bool hasTimes = false; // the queue writes timestamps
  VkPhysicalDeviceLimits limits = {};
  VkPhysicalDeviceMemoryProperties memory = {};
  VkDeviceSize mostBytes = 0; // of an allocation
  Features features;

  /// Returns the sampler of images that are read: nearest pixels at
  /// unnormalized coordinates, and a border of zeros.
  VkSampler getSampler(bool isInteger) const { return samplers[isInteger]; }

  /// Returns true if images of this format can be sampled, stored to, and
  /// copied to.
  bool supports(VkFormat format) const;

  GroupLimits getGroupLimits() const;

private:
  bool open();
  bool findDevice();
  bool makeDevice();
  bool makeSampler(bool isInteger);
  void close();
  VkSampler samplers[2] = {};
};

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_SESSION_H
