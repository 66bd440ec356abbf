//===- Kernels.cpp - Pipelines and launches of kernels --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Commands.h"
#include <cstring>
#include <list>

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

static std::map<std::string, VkShaderModule> &getModules() {
  static auto *modules = new std::map<std::string, VkShaderModule>;
  return *modules;
}

static std::list<Kernel> &getKernels() {
  static auto *kernels = new std::list<Kernel>;
  return *kernels;
}

void vulkan::destroyKernels(Session &session) {
  for (Kernel &kernel : getKernels()) {
    for (auto &[size, pipeline] : kernel.pipelines)
      vkDestroyPipeline(session.device, pipeline, nullptr);
    vkDestroyPipelineLayout(session.device, kernel.layout, nullptr);
    vkDestroyDescriptorSetLayout(session.device, kernel.descriptors, nullptr);
  }
  for (auto &[words, module] : getModules())
    vkDestroyShaderModule(session.device, module, nullptr);
  getKernels().clear();
  getModules().clear();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
/// A capability of SPIR-V that not all devices support.
struct Capability {
  uint32_t number;
  bool Features::*feature;
  const char *name, *wayOut;
};
} // namespace

static constexpr Capability kCapabilities[] = {
    {9, &Features::float16, "shaderFloat16",
     "compile for a target without half_arithmetic"},
    {10, &Features::float64, "shaderFloat64", "compute in f32"},
    {11, &Features::int64, "shaderInt64",
     "compile for a target with address_bits = 32, and use no 64-bit data"},
    {22, &Features::int16, "shaderInt16", "compute in i32"},
    {39, &Features::int8, "shaderInt8", "compute in i32"},
    {4433, &Features::storage16, "storageBuffer16BitAccess",
     "store 16-bit data in images, or use 32-bit data"},
    {4448, &Features::storage8, "storageBuffer8BitAccess",
     "store 8-bit data in images, or use 32-bit data"}};

/// Reports an error and returns false if the module states a capability that
/// the device lacks.
static bool checkCapabilities(const Session &session, const uint32_t *words,
                              size_t count, const std::string &kernel) {
  constexpr uint32_t opCapability = 17, headerWords = 5;
  for (size_t at = headerWords;
       at + 1 < count && (words[at] & 0xffff) == opCapability; at += 2)
    for (const Capability &each : kCapabilities)
      if (words[at + 1] == each.number && !(session.features.*each.feature)) {
        getError().report("the kernel '" + kernel +
                          "' cannot be built: " + session.name + " has no " +
                          each.name + "; " + each.wayOut);
        return false;
      }
  return true;
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
  std::string words(static_cast<const char *>(spirv), bytes);
  auto known = getModules().find(words);
  if (known == getModules().end()) {
    auto *code = static_cast<const uint32_t *>(spirv);
    if (!checkCapabilities(*session, code, bytes / sizeof(uint32_t), name))
      return nullptr;
    VkShaderModuleCreateInfo info = {
        VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = bytes;
    info.pCode = code;
    VkShaderModule module = VK_NULL_HANDLE;
    if (!check(vkCreateShaderModule(session->device, &info, nullptr, &module),
               "vkCreateShaderModule",
               std::string("building the kernel '") + name + "'"))
      return nullptr;
    known = getModules().insert({std::move(words), module}).first;
  }
  LayoutClKernelMetadata unknown = LAYOUT_CL_UNKNOWN_FACTS;
  getKernels().push_back({name, known->second, facts ? *facts : unknown});
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

/// The scalars are at the offsets that `layout-vulkan-kernels-to-spirv`
/// documents.
static Arguments getArguments(const Kernel &kernel, int32_t numValues,
                              const void *const *values, const int64_t *sizes) {
  Arguments arguments;
  for (int32_t i = 0; i < numValues; ++i) {
    if (sizes[i]) {
      size_t bytes = sizes[i] <= 4 ? 4 : 8;
      size_t offset = (arguments.scalars.size() + bytes - 1) / bytes * bytes;
      arguments.scalars.resize(offset + bytes, 0);
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
  info.stage.module = kernel.module;
  info.stage.pName = kernel.name.c_str();
  info.stage.pSpecializationInfo = &constants;
  info.layout = kernel.layout;
  check(vkCreateComputePipelines(session.device, VK_NULL_HANDLE, 1, &info,
                                 nullptr, &pipeline),
        "vkCreateComputePipelines",
        "building the kernel '" + kernel.name + "'");
  return pipeline;
}

static void writeDescriptors(const Session &session, VkDescriptorSet set,
                             const Arguments &arguments) {
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
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

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
  Commands &commands = getCommands();
  VkDescriptorSet set = VK_NULL_HANDLE;
  if (!pipeline || !commands.makeDescriptors(kernel.descriptors, set) ||
      !commands.prepare(arguments.reads, arguments.writes))
    return;
  writeDescriptors(*session, set, arguments);
  VkCommandBuffer buffer = commands.get();
  vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout,
                          0, 1, &set, 0, nullptr);
  if (!arguments.scalars.empty())
    vkCmdPushConstants(buffer, kernel.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       arguments.scalars.size(), arguments.scalars.data());
  dispatch(*session, buffer, groups);
}

void layoutVkRefuseSizes(const char *name) {
  getError().report("launching the kernel '" + std::string(name) +
                    "' failed: " + kRefusedSizes);
}
