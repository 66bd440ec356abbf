//===- Profile.cpp - Times of commands ------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "../Common/Files.h"
#include "Memory.h"

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

/// The number of timestamps of a command buffer. Further commands are counted
/// without a time.
static constexpr uint32_t kTimes = 8192;

namespace {
struct Profile {
  bool on = isSetupVariableOn("LAYOUT_VULKAN_PROFILE");
  VkQueryPool times = VK_NULL_HANDLE; // null if the queue has none
  ProfileTable table;
};
} // namespace

static Profile &getProfile() {
  static auto *profile = new Profile;
  return *profile;
}

void vulkan::resetTimes(Session &session, VkCommandBuffer buffer) {
  Profile &profile = getProfile();
  if (!profile.on || !session.hasTimes)
    return;
  VkQueryPoolCreateInfo info = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = kTimes;
  // Commands have no times if this fails.
  if (!profile.times)
    vkCreateQueryPool(session.device, &info, nullptr, &profile.times);
  if (profile.times)
    vkCmdResetQueryPool(buffer, profile.times, 0, kTimes);
}

Timed::Timed(VkCommandBuffer buffer, size_t number)
    : buffer(buffer), number(number) {
  writeTime(0);
}

Timed::~Timed() { writeTime(1); }

void Timed::writeTime(uint32_t query) {
  VkQueryPool times = getProfile().times;
  if (times && number < kTimes / 2)
    vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, times,
                        uint32_t(2 * number) + query);
}

void vulkan::collectTimes(Session &session,
                          const std::vector<TimedCommand> &commands) {
  Profile &profile = getProfile();
  if (!profile.on)
    return;
  for (size_t i = 0; i < commands.size(); ++i) {
    uint64_t times[2] = {};
    if (profile.times && i < kTimes / 2)
      vkGetQueryPoolResults(session.device, profile.times, uint32_t(2 * i), 2,
                            sizeof(times), times, sizeof(times[0]),
                            VK_QUERY_RESULT_64_BIT);
    profile.table.add(commands[i].name,
                      double(times[1] - times[0]) *
                          session.limits.timestampPeriod / 1e9,
                      commands[i].work);
  }
}

void vulkan::finishProfile(Session &session) {
  Profile &profile = getProfile();
  if (profile.on)
    profile.table.print(getPool().describe());
  vkDestroyQueryPool(session.device, profile.times, nullptr);
  profile.times = VK_NULL_HANDLE;
}
