//===- Memory.cpp - Buffers, images, transfers ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "../Common/MemoryScopes.h"
#include "Commands.h"
#include <cstring>
#include <set>

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

static thread_local MemoryScopes scopes;

static std::set<Memory *> &getObjects() {
  static auto *objects = new std::set<Memory *>;
  return *objects;
}

ObjectPool<Memory *, MemoryShape> &vulkan::getPool() {
  static auto *pool = new ObjectPool<Memory *, MemoryShape>(
      [](Memory *memory) { getCommands().destroyLater(memory); });
  return *pool;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

namespace {
struct Channel {
  VkFormat format;
  const char *name;
  size_t bytes;
};
} // namespace

static Channel getChannel(int32_t channel) {
  switch (channel) {
  case LayoutClHalf:
    return {VK_FORMAT_R16G16B16A16_SFLOAT, "R16G16B16A16_SFLOAT", 2};
  case LayoutClSigned8:
    return {VK_FORMAT_R8G8B8A8_SINT, "R8G8B8A8_SINT", 1};
  case LayoutClSigned16:
    return {VK_FORMAT_R16G16B16A16_SINT, "R16G16B16A16_SINT", 2};
  case LayoutClSigned32:
    return {VK_FORMAT_R32G32B32A32_SINT, "R32G32B32A32_SINT", 4};
  default:
    return {VK_FORMAT_R32G32B32A32_SFLOAT, "R32G32B32A32_SFLOAT", 4};
  }
}

size_t MemoryShape::countBytes() const {
  size_t pixel = 1;
  for (int32_t channel = LayoutClFloat; channel <= LayoutClSigned32; ++channel)
    if (getChannel(channel).format == format)
      pixel = 4 * getChannel(channel).bytes;
  return width * height * pixel;
}

bool MemoryShape::fits(const MemoryShape &into) const {
  return format == into.format && width <= into.width && height <= into.height;
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

void vulkan::destroy(Session &session, Memory *memory) {
  vkDestroyImageView(session.device, memory->view, nullptr);
  vkDestroyImage(session.device, memory->image, nullptr);
  vkDestroyBuffer(session.device, memory->buffer, nullptr);
  freePlace(memory->place);
  getObjects().erase(memory);
  delete memory;
}

void vulkan::destroyMemory(Session &session) {
  while (!getObjects().empty())
    destroy(session, *getObjects().begin());
  destroyBlocks(session);
}

static VkResult makeBuffer(Session &session, Memory &memory) {
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = memory.shape.width;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkResult code =
      vkCreateBuffer(session.device, &info, nullptr, &memory.buffer);
  if (code != VK_SUCCESS)
    return code;
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(session.device, memory.buffer, &needs);
  code = findPlace(session, needs, /*isImage=*/false,
                   VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, memory.place);
  if (code != VK_SUCCESS)
    return code;
  return vkBindBufferMemory(session.device, memory.buffer,
                            getMemory(memory.place), memory.place.offset);
}

static VkResult makeImage(Session &session, Memory &memory) {
  VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = memory.shape.format;
  info.extent = {static_cast<uint32_t>(memory.shape.width),
                 static_cast<uint32_t>(memory.shape.height), 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
               VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  VkResult code = vkCreateImage(session.device, &info, nullptr, &memory.image);
  if (code != VK_SUCCESS)
    return code;
  VkMemoryRequirements needs = {};
  vkGetImageMemoryRequirements(session.device, memory.image, &needs);
  code = findPlace(session, needs, /*isImage=*/true,
                   VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, memory.place);
  if (code == VK_SUCCESS)
    code = vkBindImageMemory(session.device, memory.image,
                             getMemory(memory.place), memory.place.offset);
  if (code != VK_SUCCESS)
    return code;
  VkImageViewCreateInfo view = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = memory.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = memory.shape.format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  return vkCreateImageView(session.device, &view, nullptr, &memory.view);
}

static VkResult makeObject(Session &session, const MemoryShape &shape,
                           Memory *&memory) {
  static uint64_t made = 0;
  memory = new Memory;
  memory->shape = shape;
  memory->number = made++;
  getObjects().insert(memory);
  VkResult code = shape.isImage() ? makeImage(session, *memory)
                                  : makeBuffer(session, *memory);
  if (code != VK_SUCCESS) {
    destroy(session, memory);
    memory = nullptr;
  }
  return code;
}

/// Moves a new image to the layout GENERAL.
static void prepareImage(const Memory &memory) {
  Command command;
  command.identity = {Command::PrepareImage, memory.number};
  command.record = [image = memory.image](VkCommandBuffer buffer,
                                          VkDescriptorPool) {
    VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.dstAccessMask = kAccesses;
    barrier.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
    barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex =
        VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, kStages, 0,
                         0, nullptr, 0, nullptr, 1, &barrier);
    return true;
  };
  getCommands().add(std::move(command));
}

/// Returns memory of the given shape from the pool, or a new object. If the
/// device is out of memory, tries again after the pool is emptied. On failure,
/// reports an error that names `what`, and returns null.
static Memory *getObject(Session &session, const MemoryShape &shape,
                         const std::string &what) {
  Memory *memory = getPool().take(shape);
  if (!memory) {
    VkResult code = makeObject(session, shape, memory);
    if ((code == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
         code == VK_ERROR_OUT_OF_HOST_MEMORY) &&
        getPool().releaseWaiting() && getCommands().finish())
      code = makeObject(session, shape, memory);
    if (!check(code, shape.isImage() ? "vkCreateImage" : "vkCreateBuffer",
               "allocating " + what))
      return nullptr;
    getPool().add(memory, shape);
    if (shape.isImage())
      prepareImage(*memory);
  }
  scopes.add(memory);
  return memory;
}

void *layoutVkCreateBuffer(int64_t bytes) {
  Lock lock(getError().mutex);
  Session *session = Session::get();
  if (!session)
    return nullptr;
  std::string what = "a buffer of " + std::to_string(bytes) + " bytes";
  if (bytes > int64_t(session->limits.maxStorageBufferRange)) {
    getError().report(what + " is beyond the limit of " + session->name + ", " +
                      std::to_string(session->limits.maxStorageBufferRange) +
                      " bytes; use smaller tensors");
    return nullptr;
  }
  // The buffer of an empty tensor is allocated because it may be passed on.
  return getObject(*session,
                   {VK_FORMAT_UNDEFINED, size_t(std::max<int64_t>(bytes, 4))},
                   what);
}

void *layoutVkCreateImage(int32_t kind, int32_t channelNumber, int64_t width,
                          int64_t height, int64_t) {
  Lock lock(getError().mutex);
  Session *session = Session::get();
  if (!session)
    return nullptr;
  Channel channel = getChannel(channelNumber);
  std::string what = "image2d of " + std::to_string(width) + " x " +
                     std::to_string(height) + " pixels of " + channel.name;
  int64_t most = session->limits.maxImageDimension2D;
  std::string error;
  if (kind != LayoutClImage2D)
    error = "images other than image2d are not supported by the Vulkan "
            "runtime; choose an image2d map, or a buffer";
  else if (width > most || height > most)
    error = what + " is beyond the limit of " + session->name + ", " +
            std::to_string(most) + " x " + std::to_string(most) +
            "; choose another image map, or a buffer, by the target's "
            "image2d_max_width and image2d_max_height";
  else if (!session->supports(channel.format))
    error = what + " cannot be allocated: " + session->name +
            " does not support this format in images that are sampled and "
            "stored to; use a buffer";
  if (!error.empty()) {
    getError().report(error);
    return nullptr;
  }
  // An image has at least one pixel, but a tensor may be empty.
  return getObject(*session,
                   {channel.format, size_t(std::max<int64_t>(width, 1)),
                    size_t(std::max<int64_t>(height, 1))},
                   "an " + what);
}

void layoutVkRelease(void *memory) {
  Lock lock(getError().mutex);
  // Memory is released even if an error is pending.
  if (!memory)
    return;
  scopes.remove(memory);
  getPool().giveBack(static_cast<Memory *>(memory));
}

void layoutVkEnterScope(void) { scopes.enter(); }

void layoutVkLeaveScope(void) {
  for (void *memory : scopes.leave())
    layoutVkRelease(memory);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Adds a copy of host memory to a buffer, or to the pixels of an image.
static void upload(Memory &memory, const void *host, int64_t bytes,
                   VkExtent3D pixels) {
  Commands &commands = getCommands();
  Staged staged;
  if (!bytes || !commands.stage(bytes, staged))
    return;
  std::memcpy(staged.address, host, bytes);
  Command command;
  command.name = "(upload)";
  command.work = {double(bytes)};
  command.writes = {&memory};
  command.identity = {Command::Upload, memory.number,   uint64_t(staged.buffer),
                      staged.offset,   uint64_t(bytes), pixels.width,
                      pixels.height};
  command.record = [=, &memory](VkCommandBuffer buffer, VkDescriptorPool) {
    if (memory.shape.isImage()) {
      VkBufferImageCopy copy = {};
      copy.bufferOffset = staged.offset;
      copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
      copy.imageExtent = pixels;
      vkCmdCopyBufferToImage(buffer, staged.buffer, memory.image,
                             VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
    } else {
      VkBufferCopy copy = {staged.offset, 0, VkDeviceSize(bytes)};
      vkCmdCopyBuffer(buffer, staged.buffer, memory.buffer, 1, &copy);
    }
    return true;
  };
  commands.add(std::move(command));
}

void layoutVkUpload(void *buffer, const void *host, int64_t bytes) {
  Lock lock(getError().mutex);
  if (Session::get() && buffer)
    upload(*static_cast<Memory *>(buffer), host, bytes, {});
}

/// Makes staging memory that commands wrote visible to the host.
static void showHost(VkCommandBuffer commands) {
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                       VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr,
                       0, nullptr);
}

void layoutVkDownload(void *host, void *buffer, int64_t bytes) {
  Lock lock(getError().mutex);
  if (!Session::get() || !buffer || !bytes)
    return;
  auto &memory = *static_cast<Memory *>(buffer);
  Commands &commands = getCommands();
  Staged staged;
  if (!commands.stage(bytes, staged))
    return;
  Command command;
  command.name = "(download)";
  command.work = {double(bytes)};
  command.reads = {&memory};
  command.identity = {Command::Download, memory.number, uint64_t(staged.buffer),
                      staged.offset, uint64_t(bytes)};
  command.record = [=, &memory](VkCommandBuffer recorded, VkDescriptorPool) {
    VkBufferCopy copy = {0, staged.offset, VkDeviceSize(bytes)};
    vkCmdCopyBuffer(recorded, memory.buffer, staged.buffer, 1, &copy);
    showHost(recorded);
    return true;
  };
  commands.add(std::move(command));
  if (commands.finish())
    std::memcpy(host, staged.address, bytes);
}

void layoutVkCopy(void *to, void *from, int64_t bytes) {
  Lock lock(getError().mutex);
  if (!Session::get() || !to || !from || !bytes)
    return;
  auto &source = *static_cast<Memory *>(from);
  auto &result = *static_cast<Memory *>(to);
  Command command;
  command.name = "(copy)";
  command.work = {double(bytes)};
  command.reads = {&source};
  command.writes = {&result};
  command.identity = {Command::Copy, source.number, result.number,
                      uint64_t(bytes)};
  command.record = [=, &source, &result](VkCommandBuffer commands,
                                         VkDescriptorPool) {
    VkBufferCopy copy = {0, 0, VkDeviceSize(bytes)};
    vkCmdCopyBuffer(commands, source.buffer, result.buffer, 1, &copy);
    return true;
  };
  getCommands().add(std::move(command));
}

void *layoutVkGetConstant(void **slot, int32_t kind, int32_t channel,
                          int64_t width, int64_t height, int64_t slices,
                          const void *host, int64_t bytes) {
  Lock lock(getError().mutex);
  if (*slot)
    return *slot;
  void *memory = kind
                     ? layoutVkCreateImage(kind, channel, width, height, slices)
                     : layoutVkCreateBuffer(bytes);
  if (!memory)
    return nullptr;
  upload(*static_cast<Memory *>(memory), host, bytes,
         {uint32_t(width), uint32_t(height), 1});
  if (getError().isPending()) {
    layoutVkRelease(memory);
    return nullptr;
  }
  // A constant outlives the scope in which it is first used.
  scopes.remove(memory);
  return *slot = memory;
}
