//===- Blocks.cpp - Blocks of device memory -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include <iterator>
#include <list>

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

/// The size of a block, unless an object needs a larger one.
static constexpr VkDeviceSize kBlockBytes = VkDeviceSize(64) << 20;

struct mlir::layout::vulkan::Block {
  VkDeviceMemory memory;
  uint32_t type;
  bool hasImages;
  char *address; // null if the host cannot access it
  std::map<VkDeviceSize, VkDeviceSize> gaps; // from offsets to bytes

  /// Takes the first gap with enough bytes. Returns false if there is none.
  bool take(VkDeviceSize bytes, VkDeviceSize alignment, Place &place) {
    for (auto [start, size] : gaps) {
      VkDeviceSize offset = (start + alignment - 1) / alignment * alignment;
      if (offset + bytes > start + size)
        continue;
      gaps.erase(start);
      if (offset > start)
        gaps[start] = offset - start;
      if (offset + bytes < start + size)
        gaps[offset + bytes] = start + size - offset - bytes;
      place = {this, offset, bytes};
      return true;
    }
    return false;
  }

  void free(VkDeviceSize offset, VkDeviceSize bytes) {
    auto after = gaps.lower_bound(offset);
    if (after != gaps.end() && after->first == offset + bytes) {
      bytes += after->second;
      after = gaps.erase(after);
    }
    if (after != gaps.begin()) {
      auto before = std::prev(after);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    gaps[offset] = bytes;
  }
};

static std::list<Block> &getBlocks() {
  static auto *blocks = new std::list<Block>;
  return *blocks;
}

static VkResult makeBlock(Session &session, VkDeviceSize bytes, uint32_t type,
                          bool isImage) {
  VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = bytes;
  info.memoryTypeIndex = type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkResult code = vkAllocateMemory(session.device, &info, nullptr, &memory);
  if (code != VK_SUCCESS)
    return code;
  void *address = nullptr;
  if (session.memory.memoryTypes[type].propertyFlags &
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
    code = vkMapMemory(session.device, memory, 0, VK_WHOLE_SIZE, 0, &address);
    if (code != VK_SUCCESS) {
      vkFreeMemory(session.device, memory, nullptr);
      return code;
    }
  }
  getBlocks().push_front(
      {memory, type, isImage, static_cast<char *>(address), {{0, bytes}}});
  return VK_SUCCESS;
}

VkResult vulkan::findPlace(Session &session, const VkMemoryRequirements &needs,
                           bool isImage, VkMemoryPropertyFlags properties,
                           Place &place) {
  uint32_t type = 0;
  while (type < session.memory.memoryTypeCount &&
         (!(needs.memoryTypeBits >> type & 1) ||
          (session.memory.memoryTypes[type].propertyFlags & properties) !=
              properties))
    ++type;
  if (type == session.memory.memoryTypeCount)
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (Block &block : getBlocks())
    if (block.type == type && block.hasImages == isImage &&
        block.take(needs.size, needs.alignment, place))
      return VK_SUCCESS;
  VkResult code =
      makeBlock(session, std::max(kBlockBytes, needs.size), type, isImage);
  // A smaller block may fit if memory is short.
  if (code != VK_SUCCESS && needs.size < kBlockBytes)
    code = makeBlock(session, needs.size, type, isImage);
  if (code == VK_SUCCESS)
    getBlocks().front().take(needs.size, needs.alignment, place);
  return code;
}

void vulkan::freePlace(const Place &place) {
  if (place.block)
    place.block->free(place.offset, place.bytes);
}

VkDeviceMemory vulkan::getMemory(const Place &place) {
  return place.block->memory;
}

char *vulkan::getAddress(const Place &place) {
  return place.block->address + place.offset;
}

void vulkan::destroyBlocks(Session &session) {
  for (Block &block : getBlocks())
    vkFreeMemory(session.device, block.memory, nullptr);
  getBlocks().clear();
}
