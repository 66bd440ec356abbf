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
#include <string>
#include <vector>

namespace mlir::layout::vulkan {

/// A command of a command buffer, as a row of the table.
struct TimedCommand {
  std::string name;
  Work work;
};

/// Records the reset of the timestamps at the start of a command buffer.
void resetTimes(Session &session, VkCommandBuffer buffer);

/// Records the timestamps before and after the command `number` of a command
/// buffer.
class Timed {
public:
  Timed(VkCommandBuffer buffer, size_t number);
  ~Timed();

private:
  void writeTime(uint32_t query);
  VkCommandBuffer buffer;
  size_t number;
};

/// Adds the times of the commands of the last command buffer, which is done, to
/// the table.
void collectTimes(Session &session, const std::vector<TimedCommand> &commands);

/// Prints the table, and destroys the timestamps.
void finishProfile(Session &session);

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_PROFILE_H
