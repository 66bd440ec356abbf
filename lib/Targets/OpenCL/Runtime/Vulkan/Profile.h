//===- Profile.h - Times of commands ----------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With LAYOUT_VULKAN_PROFILE=1, timestamps before and after each command, and a
// table at exit. The times of commands that overlap include each other. Without
// it, all functions do nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_PROFILE_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_PROFILE_H

#include "../Common/ProfileTable.h"
#include "Session.h"

namespace mlir::layout::vulkan {

/// Resets the timestamps at the start of a command buffer.
void resetTimes(Session &session, VkCommandBuffer buffer);

/// Writes the timestamps before and after a command to its command buffer.
class Timed {
public:
  Timed(VkCommandBuffer buffer, const std::string &name, Work work);
  ~Timed();

private:
  VkCommandBuffer buffer;
};

/// Adds the times of the last command buffer, which is done, to the table.
void collectTimes(Session &session);

/// Prints the table, and destroys the timestamps.
void finishProfile(Session &session);

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_PROFILE_H
