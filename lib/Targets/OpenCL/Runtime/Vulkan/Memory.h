//===- Memory.h - Buffers and images in blocks of memory --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers and images are bound to parts of blocks of device memory, because
// drivers limit the number of allocations. Released objects are reused by
// tensors that fit (ObjectPool.h); those that leave the pool are destroyed when
// the commands that use them are done.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_MEMORY_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_MEMORY_H

#include "../Common/ObjectPool.h"
#include "Session.h"

namespace mlir::layout::vulkan {

struct Block;

/// A part of a block of device memory.
struct Place {
  Block *block = nullptr;
  VkDeviceSize offset = 0, bytes = 0;
};

/// Finds a place for a buffer or an image in memory with the given properties,
/// in a new block if necessary. Images and buffers are in different blocks.
VkResult findPlace(Session &session, const VkMemoryRequirements &needs,
                   bool isImage, VkMemoryPropertyFlags properties,
                   Place &place);
void freePlace(const Place &place);
void destroyBlocks(Session &session);
VkDeviceMemory getMemory(const Place &place);
/// Returns the address of a place in memory that the host can access.
char *getAddress(const Place &place);

struct MemoryShape {
  VkFormat format; // VK_FORMAT_UNDEFINED for buffers
  size_t width;    // in bytes for buffers
  size_t height = 1;

  bool isImage() const { return format != VK_FORMAT_UNDEFINED; }
  size_t countBytes() const;
  /// Returns true if an object of shape `into` can hold one of this shape.
  bool fits(const MemoryShape &into) const;
};

/// A buffer, or an image with its view. Images are in the layout GENERAL.
struct Memory {
  MemoryShape shape;
  uint64_t number = 0; // of no other object of the process
  VkBuffer buffer = VK_NULL_HANDLE;
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
  Place place;
  /// The numbers of barriers before the last recorded commands that read and
  /// wrote it (Commands.h).
  uint64_t readAfter = 0, writtenAfter = 0;
};

ObjectPool<Memory *, MemoryShape> &getPool();

/// Destroys an object that no command uses any more.
void destroy(Session &session, Memory *memory);

/// Destroys all objects and blocks.
void destroyMemory(Session &session);

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_MEMORY_H
