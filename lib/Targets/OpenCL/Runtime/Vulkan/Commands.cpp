//===- Commands.cpp - Record and submit commands --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Profile.h"

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

/// The size of a staging buffer, and the bytes of staging memory above which
/// commands are submitted before more of it is used.
static constexpr VkDeviceSize kStagingBytes = VkDeviceSize(16) << 20,
                              kMostStagingBytes = VkDeviceSize(64) << 20;
/// Copies between staging memory and images start at multiples of a pixel.
static constexpr VkDeviceSize kStagingAlignment = 16;
static constexpr uint32_t kSetsOfPool = 256, kDescriptorsOfPool = 2048;

static constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
static constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT |
                                         VK_ACCESS_TRANSFER_WRITE_BIT,
                               kAccesses = kWrites | VK_ACCESS_SHADER_READ_BIT |
                                           VK_ACCESS_TRANSFER_READ_BIT;

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

bool Commands::start() {
  if (isRecording)
    return true;
  Session *session = Session::get();
  if (!session)
    return false;
  std::string what = "recording commands for " + session->name;
  if (!pool) {
    VkCommandPoolCreateInfo info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.queueFamilyIndex = session->family;
    if (!check(vkCreateCommandPool(session->device, &info, nullptr, &pool),
               "vkCreateCommandPool", what))
      return false;
  }
  if (!buffer) {
    VkCommandBufferAllocateInfo info = {
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    if (!check(vkAllocateCommandBuffers(session->device, &info, &buffer),
               "vkAllocateCommandBuffers", what))
      return false;
  }
  if (!fence) {
    VkFenceCreateInfo info = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!check(vkCreateFence(session->device, &info, nullptr, &fence),
               "vkCreateFence", what))
      return false;
  }
  VkCommandBufferBeginInfo begin = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  isRecording =
      check(vkBeginCommandBuffer(buffer, &begin), "vkBeginCommandBuffer", what);
  if (isRecording)
    resetTimes(*session, buffer);
  return isRecording;
}

void Commands::addBarrier() {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = kWrites;
  barrier.dstAccessMask = kAccesses;
  vkCmdPipelineBarrier(buffer, kStages, kStages, 0, 1, &barrier, 0, nullptr, 0,
                       nullptr);
  ++barriers;
}

bool Commands::prepare(const std::vector<Memory *> &reads,
                       const std::vector<Memory *> &writes) {
  if (!start())
    return false;
  bool isOrdered = true;
  for (Memory *memory : reads)
    isOrdered &= memory->writtenAfter != barriers;
  for (Memory *memory : writes)
    isOrdered &=
        memory->writtenAfter != barriers && memory->readAfter != barriers;
  if (!isOrdered)
    addBarrier();
  for (Memory *memory : reads)
    memory->readAfter = barriers;
  for (Memory *memory : writes)
    memory->writtenAfter = barriers;
  return true;
}

bool Commands::prepareImage(Memory &memory) {
  if (!start())
    return false;
  VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.dstAccessMask = kAccesses;
  barrier.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex =
      VK_QUEUE_FAMILY_IGNORED;
  barrier.image = memory.image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, kStages, 0, 0,
                       nullptr, 0, nullptr, 1, &barrier);
  return true;
}

void Commands::showHost() {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_TRANSFER_BIT,
                       VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr,
                       0, nullptr);
}

//===----------------------------------------------------------------------===//
// Staging memory and descriptors
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

bool Commands::addDescriptorPool(Session &session) {
  const VkDescriptorPoolSize sizes[] = {
      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kDescriptorsOfPool},
      {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, kDescriptorsOfPool},
      {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, kDescriptorsOfPool}};
  VkDescriptorPoolCreateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = kSetsOfPool;
  info.poolSizeCount = 3;
  info.pPoolSizes = sizes;
  VkDescriptorPool made = VK_NULL_HANDLE;
  if (!check(vkCreateDescriptorPool(session.device, &info, nullptr, &made),
             "vkCreateDescriptorPool", "launching a kernel"))
    return false;
  descriptors.push_back(made);
  return true;
}

bool Commands::makeDescriptors(VkDescriptorSetLayout layout,
                               VkDescriptorSet &set) {
  Session *session = Session::get();
  if (!session)
    return false;
  VkDescriptorSetAllocateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout;
  while (true) {
    bool isNew = usedDescriptors == descriptors.size();
    if (isNew && !addDescriptorPool(*session))
      return false;
    info.descriptorPool = descriptors[usedDescriptors];
    VkResult code = vkAllocateDescriptorSets(session->device, &info, &set);
    bool isFull =
        code == VK_ERROR_OUT_OF_POOL_MEMORY || code == VK_ERROR_FRAGMENTED_POOL;
    if (!isFull || isNew)
      return check(code, "vkAllocateDescriptorSets", "launching a kernel");
    ++usedDescriptors;
  }
}

//===----------------------------------------------------------------------===//
// Submission
//===----------------------------------------------------------------------===//

void Commands::reset(Session &session) {
  vkResetCommandPool(session.device, pool, 0);
  for (VkDescriptorPool each : descriptors)
    vkResetDescriptorPool(session.device, each, 0);
  usedDescriptors = 0;
  for (Staging &each : staging)
    each.used = 0;
  for (Memory *memory : dying)
    vulkan::destroy(session, memory);
  dying.clear();
  ++barriers;
}

bool Commands::finish() {
  Session *session = Session::get();
  if (!session)
    return false;
  if (!isRecording) {
    for (Memory *memory : dying)
      vulkan::destroy(*session, memory);
    dying.clear();
    return true;
  }
  isRecording = false;
  std::string what = "running kernels on " + session->name;
  VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &buffer;
  bool isDone =
      check(vkEndCommandBuffer(buffer), "vkEndCommandBuffer", what) &&
      check(vkQueueSubmit(session->queue, 1, &info, fence), "vkQueueSubmit",
            what) &&
      check(vkWaitForFences(session->device, 1, &fence, VK_TRUE, UINT64_MAX),
            "vkWaitForFences", what) &&
      check(vkResetFences(session->device, 1, &fence), "vkResetFences", what);
  if (isDone)
    collectTimes(*session);
  else
    vkDeviceWaitIdle(session->device);
  reset(*session);
  return isDone;
}

void Commands::destroy(Session &session) {
  if (pool)
    reset(session);
  for (Staging &each : staging)
    vkDestroyBuffer(session.device, each.buffer, nullptr);
  for (VkDescriptorPool each : descriptors)
    vkDestroyDescriptorPool(session.device, each, nullptr);
  vkDestroyFence(session.device, fence, nullptr);
  vkDestroyCommandPool(session.device, pool, nullptr);
  *this = Commands();
}
