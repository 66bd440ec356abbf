//===- Commands.cpp - Record and submit commands --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

/// The size of a staging buffer, and the bytes of staging memory above which
/// commands are submitted before more of it is used.
static constexpr VkDeviceSize kStagingBytes = VkDeviceSize(16) << 20,
                              kMostStagingBytes = VkDeviceSize(64) << 20;
/// Copies between staging memory and images start at multiples of a pixel.
static constexpr VkDeviceSize kStagingAlignment = 16;
/// The number of command buffers that are kept.
static constexpr size_t kRecordings = 32;

Commands &vulkan::getCommands() {
  static auto *commands = new Commands;
  return *commands;
}

void vulkan::destroyCommands(Session &session) {
  getCommands().destroy(session);
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

bool Commands::makePool(Session &session) {
  VkCommandPoolCreateInfo info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  info.queueFamilyIndex = session.family;
  return pool ||
         check(vkCreateCommandPool(session.device, &info, nullptr, &pool),
               "vkCreateCommandPool", "recording commands for " + session.name);
}

/// Makes a pool of exactly the descriptors of the commands.
bool Commands::makeDescriptorPool(Session &session, Recording &recording) {
  VkDescriptorPoolSize sizes[std::size(kDescriptorTypes)];
  VkDescriptorPoolCreateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.pPoolSizes = sizes;
  for (size_t i = 0; i < std::size(kDescriptorTypes); ++i) {
    VkDescriptorPoolSize &size = sizes[info.poolSizeCount];
    size = {kDescriptorTypes[i], 0};
    for (const Command &command : pending)
      size.descriptorCount += command.descriptors[i];
    info.poolSizeCount += size.descriptorCount != 0;
  }
  for (const Command &command : pending)
    info.maxSets += command.kernel != nullptr;
  return !info.maxSets ||
         check(vkCreateDescriptorPool(session.device, &info, nullptr,
                                      &recording.descriptors),
               "vkCreateDescriptorPool", "launching a kernel");
}

/// Records a barrier if the command needs one.
void Commands::order(const Command &command, VkCommandBuffer buffer) {
  bool isOrdered = true;
  for (Memory *memory : command.reads)
    isOrdered &= memory->writtenAfter != barriers;
  for (Memory *memory : command.writes)
    isOrdered &=
        memory->writtenAfter != barriers && memory->readAfter != barriers;
  if (!isOrdered) {
    VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = kWrites;
    barrier.dstAccessMask = kAccesses;
    vkCmdPipelineBarrier(buffer, kStages, kStages, 0, 1, &barrier, 0, nullptr,
                         0, nullptr);
    ++barriers;
  }
  for (Memory *memory : command.reads)
    memory->readAfter = barriers;
  for (Memory *memory : command.writes)
    memory->writtenAfter = barriers;
}

bool Commands::record(Session &session, Recording &recording) {
  std::string what = "recording commands for " + session.name;
  VkCommandBufferAllocateInfo info = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  VkCommandBuffer &buffer = recording.buffer;
  VkCommandBufferBeginInfo begin = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  if (!check(vkAllocateCommandBuffers(session.device, &info, &buffer),
             "vkAllocateCommandBuffers", what) ||
      !makeDescriptorPool(session, recording) ||
      !check(vkBeginCommandBuffer(buffer, &begin), "vkBeginCommandBuffer",
             what))
    return false;
  resetTimes(session, buffer);
  ++barriers; // The device is idle before the submission.
  for (const Command &command : pending) {
    order(command, buffer);
    if (!command.name) {
      command.record(buffer, recording.descriptors);
      continue;
    }
    Timed timed(buffer, recording.timed.size());
    recording.timed.push_back({command.name, command.work});
    if (!command.record(buffer, recording.descriptors))
      return false;
  }
  return check(vkEndCommandBuffer(buffer), "vkEndCommandBuffer", what);
}

void Commands::free(Session &session, const Recording &recording) {
  if (recording.buffer)
    vkFreeCommandBuffers(session.device, pool, 1, &recording.buffer);
  vkDestroyDescriptorPool(session.device, recording.descriptors, nullptr);
}

/// Returns the recording of the commands, which are recorded if there is none,
/// or null after an error.
Commands::Recording *Commands::getRecording(Session &session) {
  std::vector<uint64_t> identity;
  for (const Command &command : pending)
    identity.insert(identity.end(), command.identity.begin(),
                    command.identity.end());
  auto known = std::find_if(
      recordings.begin(), recordings.end(),
      [&](const Recording &each) { return each.identity == identity; });
  if (known != recordings.end()) {
    recordings.splice(recordings.begin(), recordings, known);
    return &recordings.front();
  }
  Recording made;
  if (!makePool(session) || !record(session, made)) {
    free(session, made);
    return nullptr;
  }
  made.identity = std::move(identity);
  recordings.push_front(std::move(made));
  if (recordings.size() > kRecordings) {
    free(session, recordings.back());
    recordings.pop_back();
  }
  return &recordings.front();
}

void Commands::drop(const Kernel &kernel) {
  auto isLaunch = [&](const Command &each) { return each.kernel == &kernel; };
  pending.erase(std::remove_if(pending.begin(), pending.end(), isLaunch),
                pending.end());
}

//===----------------------------------------------------------------------===//
// Staging memory
//===----------------------------------------------------------------------===//

bool Commands::addStaging(Session &session, VkDeviceSize bytes) {
  std::string what =
      "allocating " + std::to_string(bytes) + " bytes of staging memory";
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage =
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  Staging made = {VK_NULL_HANDLE, {}, bytes, 0};
  if (!check(vkCreateBuffer(session.device, &info, nullptr, &made.buffer),
             "vkCreateBuffer", what))
    return false;
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(session.device, made.buffer, &needs);
  staging.push_back(made);
  Place &place = staging.back().place;
  if (check(findPlace(session, needs, /*isImage=*/false,
                      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                          VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                      place),
            "vkAllocateMemory", what) &&
      check(vkBindBufferMemory(session.device, made.buffer, getMemory(place),
                               place.offset),
            "vkBindBufferMemory", what))
    return true;
  freePlace(place);
  vkDestroyBuffer(session.device, made.buffer, nullptr);
  staging.pop_back();
  return false;
}

bool Commands::stage(VkDeviceSize bytes, Staged &staged) {
  Session *session = Session::get();
  if (!session)
    return false;
  VkDeviceSize used = 0;
  for (const Staging &each : staging)
    used += each.used;
  if (used && used + bytes > kMostStagingBytes && !finish())
    return false;
  auto fits = [&](const Staging &each) {
    return each.used + bytes <= each.bytes;
  };
  auto place = std::find_if(staging.begin(), staging.end(), fits);
  if (place == staging.end()) {
    if (!addStaging(*session, std::max(kStagingBytes, bytes)))
      return false;
    place = std::prev(staging.end());
  }
  staged = {place->buffer, place->used, getAddress(place->place) + place->used};
  place->used = (place->used + bytes + kStagingAlignment - 1) /
                kStagingAlignment * kStagingAlignment;
  return true;
}

//===----------------------------------------------------------------------===//
// Submission
//===----------------------------------------------------------------------===//

void Commands::reset(Session &session) {
  pending.clear();
  for (Staging &each : staging)
    each.used = 0;
  for (Memory *memory : dying)
    vulkan::destroy(session, memory);
  dying.clear();
}

bool Commands::finish() {
  Session *session = Session::get();
  if (!session)
    return false;
  if (pending.empty()) {
    reset(*session);
    return true;
  }
  std::string what = "running kernels on " + session->name;
  VkFenceCreateInfo made = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  if (!fence && !check(vkCreateFence(session->device, &made, nullptr, &fence),
                       "vkCreateFence", what))
    return false;
  Recording *recording = getRecording(*session);
  if (!recording)
    return false;
  VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &recording->buffer;
  VkResult code = vkQueueSubmit(session->queue, 1, &info, fence);
  bool isSubmitted = check(code, "vkQueueSubmit", what);
  if (!isSubmitted && code != VK_ERROR_DEVICE_LOST)
    return false;
  bool isDone =
      isSubmitted &&
      check(vkWaitForFences(session->device, 1, &fence, VK_TRUE, UINT64_MAX),
            "vkWaitForFences", what) &&
      check(vkResetFences(session->device, 1, &fence), "vkResetFences", what);
  if (isDone)
    collectTimes(*session, recording->timed);
  else
    vkDeviceWaitIdle(session->device);
  reset(*session);
  return isDone;
}

void Commands::destroy(Session &session) {
  reset(session);
  for (const Recording &each : recordings)
    free(session, each);
  for (Staging &each : staging)
    vkDestroyBuffer(session.device, each.buffer, nullptr);
  vkDestroyFence(session.device, fence, nullptr);
  vkDestroyCommandPool(session.device, pool, nullptr);
  *this = Commands();
}
