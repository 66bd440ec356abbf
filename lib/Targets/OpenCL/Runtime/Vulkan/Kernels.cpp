//===- Kernels.cpp - Pipelines and launches of kernels --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Commands.h"
#include "layout/Targets/OpenCL/Runtime/PushConstants.h"
#include <cstring>
#include <list>

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

static std::list<Kernel> &getKernels() {
  static auto *kernels = new std::list<Kernel>;
  return *kernels;
}

static void destroyKernel(Session &session, const Kernel &kernel) {
  for (auto &[size, pipeline] : kernel.pipelines)
    vkDestroyPipeline(session.device, pipeline, nullptr);
  vkDestroyPipelineLayout(session.device, kernel.layout, nullptr);
  vkDestroyDescriptorSetLayout(session.device, kernel.descriptors, nullptr);
}

void vulkan::destroyKernels(Session &session) {
  for (const Kernel &kernel : getKernels())
    destroyKernel(session, kernel);
  getKernels().clear();
  destroyModules(session);
}

void vulkan::releaseKernel(void *kernel) {
  Lock lock(getError().mutex);
  getKernels().remove_if([&](const Kernel &each) {
    if (&each != kernel)
      return false;
    if (!getCommands().finish())
      getCommands().drop(each);
    destroyKernel(*Session::getOpened(), each);
    return true;
  });
}

void *layoutVkGetKernel(void **slot, const void *spirv, int64_t bytes,
                        const char *, const char *name,
                        const LayoutClKernelMetadata *facts) {
  Lock lock(getError().mutex);
  if (*slot)
    return *slot;
  Session *session = Session::get();
  if (!session)
    return nullptr;
  Module *module = getModule(
      *session, std::string(static_cast<const char *>(spirv), bytes), name);
  if (!module)
    return nullptr;
  static uint64_t made = 0;
  LayoutClKernelMetadata unknown = LAYOUT_CL_UNKNOWN_FACTS;
  getKernels().push_back({name, module, facts ? *facts : unknown, made++});
  return *slot = &getKernels().back();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
/// The arguments of a launch.
struct Arguments {
  struct Bound {
    uint32_t binding;
    VkDescriptorType type;
    Memory *memory;
  };
  std::vector<Bound> memory;
  std::vector<Memory *> reads, writes;
  std::vector<char> scalars; // the push constants

  uint32_t count(VkDescriptorType type) const {
    return std::count_if(memory.begin(), memory.end(),
                         [&](const Bound &each) { return each.type == type; });
  }
};
} // namespace

static Arguments getArguments(const Kernel &kernel, int32_t numValues,
                              const void *const *values, const int64_t *sizes) {
  Arguments arguments;
  for (int32_t i = 0; i < numValues; ++i) {
    if (sizes[i]) {
      uint32_t end = arguments.scalars.size();
      uint32_t offset = placePushConstant(sizes[i], end);
      arguments.scalars.resize(end, 0);
      std::memcpy(arguments.scalars.data() + offset, values[i], sizes[i]);
      continue;
    }
    auto *memory = static_cast<Memory *>(const_cast<void *>(values[i]));
    bool isWritten = kernel.facts.writes >> i & 1;
    // A buffer may be read, too, which does not add to a barrier before it.
    (isWritten ? arguments.writes : arguments.reads).push_back(memory);
    VkDescriptorType type =
        !memory->shape.isImage() ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
        : isWritten              ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                                 : VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    arguments.memory.push_back({uint32_t(i), type, memory});
  }
  return arguments;
}

static bool checkArguments(const Session &session, const Kernel &kernel,
                           const Arguments &arguments) {
  const VkPhysicalDeviceLimits &limits = session.limits;
  auto within = [&](size_t count, size_t most, const char *what) {
    if (count <= most)
      return true;
    getError().report("launching the kernel '" + kernel.name +
                      "' failed: it has " + std::to_string(count) + " " + what +
                      ", and " + session.name + " supports " +
                      std::to_string(most) + "; split the op");
    return false;
  };
  return within(arguments.count(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER),
                limits.maxPerStageDescriptorStorageBuffers, "buffers") &&
         within(arguments.count(VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER),
                std::min(limits.maxPerStageDescriptorSampledImages,
                         limits.maxPerStageDescriptorSamplers),
                "images that it reads") &&
         within(arguments.count(VK_DESCRIPTOR_TYPE_STORAGE_IMAGE),
                limits.maxPerStageDescriptorStorageImages,
                "images that it stores to") &&
         within(arguments.memory.size(), limits.maxPerStageResources,
                "buffers and images") &&
         within(arguments.scalars.size(), limits.maxPushConstantsSize,
                "bytes of scalar arguments");
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

static bool makeLayout(Session &session, Kernel &kernel,
                       const Arguments &arguments) {
  std::string what = "building the kernel '" + kernel.name + "'";
  std::vector<VkDescriptorSetLayoutBinding> bindings;
  for (const Arguments::Bound &each : arguments.memory)
    bindings.push_back(
        {each.binding, each.type, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
  VkDescriptorSetLayoutCreateInfo set = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = bindings.size();
  set.pBindings = bindings.data();
  if (!check(vkCreateDescriptorSetLayout(session.device, &set, nullptr,
                                         &kernel.descriptors),
             "vkCreateDescriptorSetLayout", what))
    return false;
  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               uint32_t(arguments.scalars.size())};
  VkPipelineLayoutCreateInfo info = {
      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = 1;
  info.pSetLayouts = &kernel.descriptors;
  info.pushConstantRangeCount = range.size ? 1 : 0;
  info.pPushConstantRanges = &range;
  return check(
      vkCreatePipelineLayout(session.device, &info, nullptr, &kernel.layout),
      "vkCreatePipelineLayout", what);
}

/// Returns the pipeline of a kernel for a work-group size, or null after an
/// error.
static VkPipeline getPipeline(Session &session, Kernel &kernel,
                              const Sizes &local) {
  VkPipeline &pipeline = kernel.pipelines[local];
  if (pipeline)
    return pipeline;
  uint32_t sides[3] = {uint32_t(local[0]), uint32_t(local[1]),
                       uint32_t(local[2])};
  const VkSpecializationMapEntry entries[] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
  VkSpecializationInfo constants = {3, entries, sizeof(sides), sides};
  VkComputePipelineCreateInfo info = {
      VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = kernel.module->module;
  info.stage.pName = kernel.name.c_str();
  info.stage.pSpecializationInfo = &constants;
  info.layout = kernel.layout;
  kernel.module->hasNewPipelines = true;
  check(vkCreateComputePipelines(session.device, kernel.module->cache, 1, &info,
                                 nullptr, &pipeline),
        "vkCreateComputePipelines",
        "building the kernel '" + kernel.name + "'");
  return pipeline;
}

/// Returns a descriptor set with the arguments, or null after an error.
static VkDescriptorSet makeDescriptors(const Session &session,
                                       const Kernel &kernel,
                                       VkDescriptorPool pool,
                                       const Arguments &arguments) {
  VkDescriptorSetAllocateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &kernel.descriptors;
  VkDescriptorSet set = VK_NULL_HANDLE;
  if (!check(vkAllocateDescriptorSets(session.device, &info, &set),
             "vkAllocateDescriptorSets", "launching a kernel"))
    return VK_NULL_HANDLE;
  std::vector<VkDescriptorBufferInfo> buffers(arguments.memory.size());
  std::vector<VkDescriptorImageInfo> images(arguments.memory.size());
  std::vector<VkWriteDescriptorSet> writes;
  for (size_t i = 0; i < arguments.memory.size(); ++i) {
    const auto &[binding, type, memory] = arguments.memory[i];
    bool isInteger = memory->shape.format != VK_FORMAT_R32G32B32A32_SFLOAT &&
                     memory->shape.format != VK_FORMAT_R16G16B16A16_SFLOAT;
    buffers[i] = {memory->buffer, 0, VK_WHOLE_SIZE};
    images[i] = {session.getSampler(isInteger), memory->view,
                 VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    write.dstSet = set;
    write.dstBinding = binding;
    write.descriptorCount = 1;
    write.descriptorType = type;
    write.pBufferInfo = &buffers[i];
    write.pImageInfo = &images[i];
    writes.push_back(write);
  }
  vkUpdateDescriptorSets(session.device, writes.size(), writes.data(), 0,
                         nullptr);
  return set;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The largest number of dispatches for one launch.
static constexpr double kMostDispatches = 4096;

/// Records dispatches of groups[0..2] work-groups, within the device's limits.
static void dispatch(const Session &session, VkCommandBuffer buffer,
                     const Sizes &groups) {
  const uint32_t *most = session.limits.maxComputeWorkGroupCount;
  for (size_t z = 0; z < groups[2]; z += most[2])
    for (size_t y = 0; y < groups[1]; y += most[1])
      for (size_t x = 0; x < groups[0]; x += most[0])
        vkCmdDispatchBase(buffer, x, y, z,
                          std::min<size_t>(groups[0] - x, most[0]),
                          std::min<size_t>(groups[1] - y, most[1]),
                          std::min<size_t>(groups[2] - z, most[2]));
}

/// Sets the numbers and the size of work-groups within the device's limits, and
/// returns true. Reports an error and returns false if there are none.
static bool chooseGroups(const Session &session, const Kernel &kernel,
                         const int64_t *grid, Sizes &groups, Sizes &local) {
  for (int d = 0; d < 3; ++d) {
    groups[d] = grid[d];
    local[d] = grid[d + 3];
  }
  const uint32_t *most = session.limits.maxComputeWorkGroupCount;
  double dispatches = 1;
  for (int d = 0; d < 3; ++d)
    dispatches *= double(groups[d]) / most[d] + 1;
  if (dispatches > kMostDispatches) {
    getError().report("launching the kernel '" + kernel.name +
                      "' failed: its grid of " + getText(groups) +
                      " work-groups is beyond the limits of " + session.name +
                      "; use smaller tensors");
    return false;
  }
  GroupLimits limits = session.getGroupLimits();
  if (kernel.facts.any_groups) {
    Sizes fitted = limits.fit(local);
    for (int d = 0; d < 3; ++d)
      groups[d] *= local[d] / fitted[d];
    local = fitted;
  }
  if (limits.allow(local))
    return true;
  getError().report("launching the kernel '" + kernel.name +
                    "' failed: its work-groups of " + getText(local) +
                    " work-items are beyond the limits of " + session.name +
                    "; compile for a target with fewer group_items");
  return false;
}

/// Returns the identity of a launch (Commands.h).
static std::vector<uint64_t> identify(const Kernel &kernel, const Sizes &groups,
                                      const Sizes &local,
                                      const Arguments &arguments) {
  std::vector<uint64_t> identity = {Command::Launch, kernel.number};
  identity.insert(identity.end(), groups.begin(), groups.end());
  identity.insert(identity.end(), local.begin(), local.end());
  for (const Arguments::Bound &each : arguments.memory)
    identity.push_back(each.memory->number);
  size_t words = identity.size(), bytes = arguments.scalars.size();
  identity.resize(words + (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  if (bytes)
    std::memcpy(&identity[words], arguments.scalars.data(), bytes);
  return identity;
}

void layoutVkLaunch(void *handle, const int64_t *grid, int32_t numValues,
                    const void *const *values, const int64_t *sizes) {
  Lock lock(getError().mutex);
  Session *session = Session::get();
  if (!session || !handle)
    return;
  auto &kernel = *static_cast<Kernel *>(handle);
  if (!checkGrid(grid, kernel.name, getError()))
    return;
  Sizes groups, local;
  if (!chooseGroups(*session, kernel, grid, groups, local) ||
      std::find(groups.begin(), groups.end(), 0u) != groups.end())
    return;
  Arguments arguments = getArguments(kernel, numValues, values, sizes);
  if (!kernel.layout && (!checkArguments(*session, kernel, arguments) ||
                         !makeLayout(*session, kernel, arguments)))
    return;
  VkPipeline pipeline = getPipeline(*session, kernel, local);
  if (!pipeline)
    return;
  Command command;
  command.name = kernel.name.c_str();
  command.work = countWork(kernel.facts, grid);
  command.kernel = &kernel;
  for (size_t i = 0; i < std::size(kDescriptorTypes); ++i)
    command.descriptors[i] = arguments.count(kDescriptorTypes[i]);
  command.reads = std::move(arguments.reads);
  command.writes = std::move(arguments.writes);
  command.identity = identify(kernel, groups, local, arguments);
  command.record = [=, &kernel, arguments = std::move(arguments)](
                       VkCommandBuffer buffer, VkDescriptorPool pool) {
    VkDescriptorSet set = makeDescriptors(*session, kernel, pool, arguments);
    if (!set)
      return false;
    vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                            kernel.layout, 0, 1, &set, 0, nullptr);
    if (!arguments.scalars.empty())
      vkCmdPushConstants(buffer, kernel.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                         arguments.scalars.size(), arguments.scalars.data());
    dispatch(*session, buffer, groups);
    return true;
  };
  getCommands().add(std::move(command));
}

void layoutVkRefuseSizes(const char *name) {
  getError().report("launching the kernel '" + std::string(name) +
                    "' failed: " + kRefusedSizes);
}
