//===- Modules.cpp - Shader modules and pipeline caches -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"
#include "../Common/DiskCache.h"
#include <cstring>

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

/// Modules by their words.
static std::map<std::string, Module> &getModules() {
  static auto *modules = new std::map<std::string, Module>;
  return *modules;
}

static const DiskCache &getCache() {
  static const auto *cache =
      new DiskCache("LAYOUT_VULKAN_CACHE", "vulkan", getError());
  return *cache;
}

static constexpr const char *kSuffix = ".pipelines";

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static constexpr uint32_t kMagic = 0x07230203, kHeaderWords = 5;
static constexpr uint32_t kOpEntryPoint = 15, kOpCapability = 17,
                          kOpFunctionEnd = 56;

/// Returns true if the words are complete instructions, the last one ends a
/// function, and one is the entry point of `kernel`.
static bool isComplete(const uint32_t *words, size_t count,
                       const std::string &kernel) {
  if (count < kHeaderWords || words[0] != kMagic)
    return false;
  uint32_t op = 0;
  bool hasKernel = false;
  for (size_t at = kHeaderWords, size; at < count; at += size) {
    size = words[at] >> 16;
    op = words[at] & 0xffff;
    if (!size || size > count - at)
      return false;
    constexpr size_t nameAt = 3; // after the execution model and the function
    const auto *name = reinterpret_cast<const char *>(words + at + nameAt);
    if (op == kOpEntryPoint && size > nameAt)
      hasKernel |=
          kernel ==
          std::string(name, strnlen(name, (size - nameAt) * sizeof(*words)));
  }
  return hasKernel && op == kOpFunctionEnd;
}

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
  for (size_t at = kHeaderWords;
       at + 1 < count && (words[at] & 0xffff) == kOpCapability; at += 2)
    for (const Capability &each : kCapabilities)
      if (words[at + 1] == each.number && !(session.features.*each.feature)) {
        getError().report("the kernel '" + kernel +
                          "' cannot be built: a kernel of its module needs " +
                          each.name + ", which " + session.name +
                          " does not have; " + each.wayOut);
        return false;
      }
  return true;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Returns a pipeline cache with the data on disk for this device and module,
/// or an empty one if the disk has no such data. Returns null without a disk
/// cache.
static VkPipelineCache makeCache(const Session &session,
                                 const std::string &words) {
  VkPipelineCache cache = VK_NULL_HANDLE;
  if (!getCache().isOn())
    return cache;
  std::string data;
  if (!getCache().find(kSuffix, session.key + words, data))
    data.clear();
  VkPipelineCacheCreateInfo info = {
      VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  // Pipelines are made without a cache if this fails.
  vkCreatePipelineCache(session.device, &info, nullptr, &cache);
  return cache;
}

static void keepCache(const Session &session, const std::string &words,
                      const Module &module) {
  size_t bytes = 0;
  if (!module.cache || !module.hasNewPipelines ||
      vkGetPipelineCacheData(session.device, module.cache, &bytes, nullptr) !=
          VK_SUCCESS)
    return;
  std::string data(bytes, '\0');
  if (vkGetPipelineCacheData(session.device, module.cache, &bytes,
                             data.data()) != VK_SUCCESS)
    return;
  data.resize(bytes);
  getCache().keep(kSuffix, session.key + words, data);
}

Module *vulkan::getModule(Session &session, const std::string &words,
                          const std::string &kernel) {
  std::string what = "building the kernel '" + kernel + "'";
  // Aligned, as the words of a file need not be.
  std::vector<uint32_t> code(words.size() / sizeof(uint32_t));
  std::memcpy(code.data(), words.data(), code.size() * sizeof(uint32_t));
  if (words.size() % sizeof(uint32_t) ||
      !isComplete(code.data(), code.size(), kernel)) {
    getError().report(what + " failed: its SPIR-V is incomplete or has no such "
                             "kernel; compile the program again");
    return nullptr;
  }
  auto known = getModules().find(words);
  if (known != getModules().end())
    return &known->second;
  if (!checkCapabilities(session, code.data(), code.size(), kernel))
    return nullptr;
  VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  info.codeSize = words.size();
  info.pCode = code.data();
  Module module;
  if (!check(
          vkCreateShaderModule(session.device, &info, nullptr, &module.module),
          "vkCreateShaderModule", what))
    return nullptr;
  module.cache = makeCache(session, words);
  return &getModules().insert({words, module}).first->second;
}

void vulkan::destroyModules(Session &session) {
  for (const auto &[words, module] : getModules()) {
    keepCache(session, words, module);
    vkDestroyPipelineCache(session.device, module.cache, nullptr);
    vkDestroyShaderModule(session.device, module.module, nullptr);
  }
  getModules().clear();
}
