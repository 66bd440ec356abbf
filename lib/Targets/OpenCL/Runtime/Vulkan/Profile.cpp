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
  std::vector<std::pair<std::string, Work>> pending; // in the command buffer

  bool hasTime() const { return times && 2 * pending.size() <= kTimes; }
  uint32_t getLast() const { return uint32_t(2 * pending.size() - 1); }
};
} // namespace

static Profile &getProfile() {
  static auto *profile = new Profile;
  return *profile;
}

void vulkan::resetTimes(Session &session, VkCommandBuffer buffer) {
  Profile &profile = getProfile();
  profile.pending.clear();
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

Timed::Timed(VkCommandBuffer buffer, const std::string &name, Work work)
    : buffer(buffer) {
  Profile &profile = getProfile();
  if (!profile.on)
    return;
  profile.pending.push_back({name, work});
  if (profile.hasTime())
    vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                        profile.times, profile.getLast() - 1);
}

Timed::~Timed() {
  Profile &profile = getProfile();
  if (profile.on && profile.hasTime())
    vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                        profile.times, profile.getLast());
}

void vulkan::collectTimes(Session &session) {
  Profile &profile = getProfile();
  uint32_t number = 0;
  for (const auto &[name, work] : profile.pending) {
    uint64_t times[2] = {};
    if (profile.times && number + 2 <= kTimes)
      vkGetQueryPoolResults(session.device, profile.times, number, 2,
                            sizeof(times), times, sizeof(times[0]),
                            VK_QUERY_RESULT_64_BIT);
    profile.table.add(name,
                      double(times[1] - times[0]) *
                          session.limits.timestampPeriod / 1e9,
                      work);
    number += 2;
  }
  profile.pending.clear();
}

void vulkan::finishProfile(Session &session) {
  Profile &profile = getProfile();
  if (profile.on)
    profile.table.print(getPool().describe());
  vkDestroyQueryPool(session.device, profile.times, nullptr);
  profile.times = VK_NULL_HANDLE;
}
