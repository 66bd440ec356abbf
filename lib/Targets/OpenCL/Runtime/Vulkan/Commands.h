//===- Commands.h - Record and submit commands ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The commands since the last submission, the command buffers that earlier ones
// were recorded in, and what lives until commands are done: staging memory and
// objects to destroy.
//
//   Command command;                   // its reads, writes and identity
//   command.record = [=](VkCommandBuffer buffer, VkDescriptorPool) { .. };
//   getCommands().add(std::move(command));
//   getCommands().finish();            // records, submits, and waits
//
// Laws:
//   - `finish` submits the command buffer of earlier commands with equal
//     identities, if it still has one, and records no command. So an inference
//     on the same sizes and memory is recorded once.
//   - A barrier precedes a command only if it reads memory that was written
//     since the last barrier, or writes memory that was read or written since
//     then.
//   - After `finish` has returned true, the device is idle. If it fails before
//     the submission, the commands are kept for the next one.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_COMMANDS_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_COMMANDS_H

#include "Memory.h"
#include "Profile.h"
#include <array>
#include <functional>
#include <list>

namespace mlir::layout::vulkan {

struct Kernel;

/// A part of a buffer that the host can access.
struct Staged {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  char *address = nullptr;
};

/// The stages and memory accesses of commands.
constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT |
                                  VK_ACCESS_TRANSFER_WRITE_BIT,
                        kAccesses = kWrites | VK_ACCESS_SHADER_READ_BIT |
                                    VK_ACCESS_TRANSFER_READ_BIT;

/// The types of descriptors that kernels have.
constexpr VkDescriptorType kDescriptorTypes[] = {
    VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
    VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
    VK_DESCRIPTOR_TYPE_STORAGE_IMAGE};

struct Command {
  enum Kind : uint64_t { PrepareImage, Upload, Download, Copy, Launch };

  /// Its row in the profile; null if it has none.
  const char *name = nullptr;
  Work work;
  std::vector<Memory *> reads, writes;
  /// The kind, and numbers that determine what `record` records.
  std::vector<uint64_t> identity;
  /// The kernel of a launch, and its numbers of descriptors by type.
  const Kernel *kernel = nullptr;
  std::array<uint32_t, std::size(kDescriptorTypes)> descriptors = {};
  /// Records the command, with descriptor sets of the given pool. Reports an
  /// error and returns false on failure.
  std::function<bool(VkCommandBuffer, VkDescriptorPool)> record;
};

/// Member functions that return a bool report an error and return false on
/// failure.
class Commands {
public:
  void add(Command command) { pending.push_back(std::move(command)); }

  /// Returns staging memory of at least `bytes` bytes, which is valid until the
  /// next `finish` or `stage`. May finish earlier commands.
  bool stage(VkDeviceSize bytes, Staged &staged);
  /// Destroys `memory` when the commands that use it are done.
  void destroyLater(Memory *memory) { dying.push_back(memory); }

  /// Submits the commands and waits for them. Returns true if there are none.
  bool finish();
  /// Removes the launches of a kernel.
  void drop(const Kernel &kernel);

  void destroy(Session &session);

private:
  struct Staging {
    VkBuffer buffer;
    Place place;
    VkDeviceSize bytes, used;
  };
  struct Recording {
    std::vector<uint64_t> identity;
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    VkDescriptorPool descriptors = VK_NULL_HANDLE;
    std::vector<TimedCommand> timed;
  };

  bool makePool(Session &session);
  bool addStaging(Session &session, VkDeviceSize bytes);
  bool makeDescriptorPool(Session &session, Recording &recording);
  void order(const Command &command, VkCommandBuffer buffer);
  bool record(Session &session, Recording &recording);
  Recording *getRecording(Session &session);
  void free(Session &session, const Recording &recording);
  void reset(Session &session);

  VkCommandPool pool = VK_NULL_HANDLE;
  VkFence fence = VK_NULL_HANDLE;
  std::vector<Command> pending;
  std::list<Recording> recordings; // the last used one first
  uint64_t barriers = 1;           // before the next recorded command
  std::vector<Staging> staging;
  std::vector<Memory *> dying;
};

Commands &getCommands();
void destroyCommands(Session &session);

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_COMMANDS_H
