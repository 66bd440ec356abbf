//===- Commands.h - Record and submit commands ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command buffer that is recorded, and what lives until it is done:
// descriptor sets, staging memory and objects to destroy.
//
//   Commands &commands = getCommands();
//   if (!commands.prepare({in}, {out}))    // the reads and writes of
//     return;                              // the next command
//   vkCmdDispatch(commands.get(), ..);
//   commands.finish();                     // submits, and waits
//
// Laws:
//   - `prepare` records a barrier only if the next command reads memory that
//     was written since the last barrier, or writes memory that was read or
//     written since then.
//   - After `finish`, the device is idle.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_COMMANDS_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_COMMANDS_H

#include "Memory.h"

namespace mlir::layout::vulkan {

/// A part of a buffer that the host can access.
struct Staged {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  char *address = nullptr;
};

/// Member functions that return a bool report an error and return false on
/// failure.
class Commands {
public:
  /// Returns the command buffer, after a successful `prepare`.
  VkCommandBuffer get() const { return buffer; }

  bool prepare(const std::vector<Memory *> &reads,
               const std::vector<Memory *> &writes);
  /// Moves a new image to the layout GENERAL.
  bool prepareImage(Memory &memory);
  /// Makes staging memory that commands wrote visible to the host.
  void showHost();

  /// Returns staging memory of at least `bytes` bytes, which is valid until the
  /// next `finish` or `stage`. May finish earlier commands.
  bool stage(VkDeviceSize bytes, Staged &staged);
  bool makeDescriptors(VkDescriptorSetLayout layout, VkDescriptorSet &set);
  /// Destroys `memory` when the commands that use it are done.
  void destroyLater(Memory *memory) { dying.push_back(memory); }

  /// Submits the commands and waits for them. Returns true if there are none.
  bool finish();

  void destroy(Session &session);

private:
  struct Staging {
    VkBuffer buffer;
    Place place;
    VkDeviceSize bytes, used;
  };

  bool start();
  bool addStaging(Session &session, VkDeviceSize bytes);
  bool addDescriptorPool(Session &session);
  void addBarrier();
  void reset(Session &session);

  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer buffer = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  bool isRecording = false;
  uint64_t barriers = 1; // before the next command
  std::vector<Staging> staging;
  std::vector<VkDescriptorPool> descriptors;
  size_t usedDescriptors = 0; // the first pool that is not full
  std::vector<Memory *> dying;
};

Commands &getCommands();
void destroyCommands(Session &session);

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_COMMANDS_H
