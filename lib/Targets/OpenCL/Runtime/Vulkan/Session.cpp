//===- Session.cpp - Find the Vulkan device and open it -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Checks.h"
#include "Commands.h"
#include "Kernels.h"
#include "Memory.h"
#include "Profile.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

PendingError &vulkan::getError() {
  static auto *error = new PendingError([](const char *message) {
    std::fprintf(stderr, "layout-vulkan: error: %s\n", message);
  });
  return *error;
}

static std::string getCodeName(VkResult code) {
  switch (code) {
#define CODE(name)                                                             \
  case name:                                                                   \
    return #name;
    CODE(VK_ERROR_OUT_OF_HOST_MEMORY)
    CODE(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    CODE(VK_ERROR_INITIALIZATION_FAILED)
    CODE(VK_ERROR_DEVICE_LOST)
    CODE(VK_ERROR_MEMORY_MAP_FAILED)
    CODE(VK_ERROR_LAYER_NOT_PRESENT)
    CODE(VK_ERROR_EXTENSION_NOT_PRESENT)
    CODE(VK_ERROR_FEATURE_NOT_PRESENT)
    CODE(VK_ERROR_INCOMPATIBLE_DRIVER)
    CODE(VK_ERROR_TOO_MANY_OBJECTS)
    CODE(VK_ERROR_FORMAT_NOT_SUPPORTED)
    CODE(VK_ERROR_FRAGMENTED_POOL)
    CODE(VK_ERROR_OUT_OF_POOL_MEMORY)
    CODE(VK_ERROR_INVALID_SHADER_NV)
#undef CODE
  default:
    return "Vulkan error " + std::to_string(code);
  }
}

bool vulkan::check(VkResult code, const char *call, const std::string &what) {
  if (code == VK_SUCCESS)
    return true;
  getError().report(what + " failed: " + call + " returned " +
                    getCodeName(code));
  return false;
}

const char *layoutVkTakeError() { return getError().take(); }

void layoutVkSetErrorHandler(void (*handler)(const char *)) {
  getError().setHandler(handler);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

namespace {
struct Found {
  VkPhysicalDevice device;
  uint32_t family; // with compute
  bool hasTimes;
  VkPhysicalDeviceProperties properties;
  bool isGpu;
};
} // namespace

/// Returns the devices of Vulkan 1.1 with a queue for kernels, GPUs first.
static std::vector<Found> listDevices(VkInstance instance) {
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance, &count, nullptr);
  std::vector<VkPhysicalDevice> devices(count);
  vkEnumeratePhysicalDevices(instance, &count, devices.data());
  std::vector<Found> found;
  for (VkPhysicalDevice device : devices) {
    Found each = {device, 0, false, {}, false};
    vkGetPhysicalDeviceProperties(device, &each.properties);
    each.isGpu = each.properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint32_t families = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(device, &families, nullptr);
    std::vector<VkQueueFamilyProperties> list(families);
    vkGetPhysicalDeviceQueueFamilyProperties(device, &families, list.data());
    auto family =
        std::find_if(list.begin(), list.end(), [](const auto &properties) {
          return (properties.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
        });
    if (family == list.end() || each.properties.apiVersion < VK_API_VERSION_1_1)
      continue;
    each.family = family - list.begin();
    each.hasTimes = family->timestampValidBits != 0;
    found.push_back(each);
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const Found &each) { return each.isGpu; });
  return found;
}

static std::string getKey(const VkPhysicalDeviceProperties &properties) {
  std::string key = properties.deviceName;
  for (uint32_t number : {properties.vendorID, properties.deviceID,
                          properties.driverVersion, properties.apiVersion})
    key += "\n" + std::to_string(number);
  key += "\n";
  for (uint8_t byte : properties.pipelineCacheUUID)
    key += std::to_string(byte) + " ";
  return key + "\n";
}

bool Session::findDevice() {
  std::vector<Found> found = listDevices(instance);
  if (found.empty()) {
    std::string message =
        "no device of Vulkan 1.1 was found; install the Vulkan driver of a "
        "device, such as mesa-vulkan-drivers for CPUs";
    if (const char *drivers = std::getenv("VK_ICD_FILENAMES"))
      message += std::string(", or correct VK_ICD_FILENAMES, which is '") +
                 drivers + "'";
    getError().report(message);
    return false;
  }
  const char *wanted = std::getenv("LAYOUT_VULKAN_DEVICE");
  for (const Found &each : found)
    if (!wanted || std::strstr(each.properties.deviceName, wanted)) {
      physical = each.device;
      family = each.family;
      hasTimes = each.hasTimes;
      name = each.properties.deviceName;
      key = getKey(each.properties);
      isGpu = each.isGpu;
      limits = each.properties.limits;
      return true;
    }
  std::string message =
      std::string(
          "no Vulkan device has a name that contains LAYOUT_VULKAN_DEVICE, '") +
      wanted + "'; devices are";
  for (const Found &each : found)
    message += std::string(" '") + each.properties.deviceName + "'";
  getError().report(message);
  return false;
}

/// Returns the names of those of `wanted` that the device supports.
static std::vector<const char *>
findExtensions(VkPhysicalDevice device, std::vector<const char *> wanted) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> known(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, known.data());
  auto isUnknown = [&](const char *name) {
    return std::none_of(known.begin(), known.end(), [&](const auto &each) {
      return !std::strcmp(each.extensionName, name);
    });
  };
  wanted.erase(std::remove_if(wanted.begin(), wanted.end(), isUnknown),
               wanted.end());
  return wanted;
}

bool Session::makeDevice() {
  VkPhysicalDeviceFeatures2 known = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, nullptr, {}};
  VkPhysicalDevice16BitStorageFeatures storage16 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDevice8BitStorageFeatures storage8 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features narrow = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  known.pNext = &storage16;
  void **last = &storage16.pNext;
  std::vector<const char *> extensions =
      findExtensions(physical, {VK_KHR_8BIT_STORAGE_EXTENSION_NAME,
                                VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME});
  for (const char *extension : extensions) {
    if (!std::strcmp(extension, VK_KHR_8BIT_STORAGE_EXTENSION_NAME)) {
      *last = &storage8;
      last = &storage8.pNext;
    } else {
      *last = &narrow;
      last = &narrow.pNext;
    }
  }
  vkGetPhysicalDeviceFeatures2(physical, &known);
  features.int64 = known.features.shaderInt64;
  features.int16 = known.features.shaderInt16;
  features.float64 = known.features.shaderFloat64;
  features.storage16 = storage16.storageBuffer16BitAccess;
  features.storage8 = storage8.storageBuffer8BitAccess;
  features.int8 = narrow.shaderInt8;
  features.float16 = narrow.shaderFloat16;

  // Only features that kernels use are enabled.
  VkPhysicalDeviceFeatures core = {};
  core.shaderInt64 = features.int64;
  core.shaderInt16 = features.int16;
  core.shaderFloat64 = features.float64;
  known.features = core;
  storage16.storagePushConstant16 = storage16.storageInputOutput16 =
      storage16.uniformAndStorageBuffer16BitAccess = VK_FALSE;
  storage8.storagePushConstant8 = storage8.uniformAndStorageBuffer8BitAccess =
      VK_FALSE;
  float priority = 1;
  VkDeviceQueueCreateInfo queues = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queues.queueFamilyIndex = family;
  queues.queueCount = 1;
  queues.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &known;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queues;
  info.enabledExtensionCount = extensions.size();
  info.ppEnabledExtensionNames = extensions.data();
  if (!check(vkCreateDevice(physical, &info, nullptr, &device),
             "vkCreateDevice", "opening " + name))
    return false;
  vkGetDeviceQueue(device, family, 0, &queue);
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  VkPhysicalDeviceMaintenance3Properties most = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &most, {}};
  vkGetPhysicalDeviceProperties2(physical, &properties);
  mostBytes = most.maxMemoryAllocationSize;
  return true;
}

bool Session::makeSampler(bool isInteger) {
  VkSamplerCreateInfo info = {VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  info.magFilter = info.minFilter = VK_FILTER_NEAREST;
  info.mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
  info.addressModeU = info.addressModeV = info.addressModeW =
      VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
  info.borderColor = isInteger ? VK_BORDER_COLOR_INT_TRANSPARENT_BLACK
                               : VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
  info.unnormalizedCoordinates = VK_TRUE;
  return check(vkCreateSampler(device, &info, nullptr, &samplers[isInteger]),
               "vkCreateSampler", "opening " + name);
}

bool Session::supports(VkFormat format) const {
  VkFormatProperties properties = {};
  vkGetPhysicalDeviceFormatProperties(physical, format, &properties);
  VkFormatFeatureFlags needed = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT |
                                VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT |
                                VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
  return (properties.optimalTilingFeatures & needed) == needed;
}

GroupLimits Session::getGroupLimits() const {
  GroupLimits result;
  result.items = limits.maxComputeWorkGroupInvocations;
  for (int d = 0; d < 3; ++d)
    result.sides[d] = limits.maxComputeWorkGroupSize[d];
  return result;
}

//===----------------------------------------------------------------------===//
// The session
//===----------------------------------------------------------------------===//

static Session *opened = nullptr;

bool Session::open() {
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_1;
  VkResult code = makeInstance(application, instance);
  if (!check(code, "vkCreateInstance", "opening Vulkan"))
    return false;
  return findDevice() && makeDevice() && makeSampler(false) &&
         makeSampler(true);
}

void Session::close() {
  if (device) {
    vkDeviceWaitIdle(device);
    finishProfile(*this);
    destroyKernels(*this);
    destroyCommands(*this);
    destroyMemory(*this);
    for (VkSampler sampler : samplers)
      vkDestroySampler(device, sampler, nullptr);
    vkDestroyDevice(device, nullptr);
  }
  if (instance)
    destroyInstance(instance);
}

Session *Session::get() {
  if (getError().isPending())
    return nullptr;
  if (opened)
    return opened;
  // Failure is not cached: each program reports a missing device.
  auto *candidate = new Session;
  if (candidate->open()) {
    opened = candidate;
    // The driver is loaded now, so its own handlers run after this one.
    std::atexit([] {
      Lock lock(getError().mutex);
      startOfExit();
      opened->close();
      delete opened;
      opened = nullptr;
    });
  } else {
    candidate->close();
    delete candidate;
  }
  return opened;
}

Session *Session::getOpened() { return opened; }

const char *layoutVkGetUsedDevice(int32_t *isGpu) {
  Lock lock(getError().mutex);
  if (!opened)
    return nullptr;
  *isGpu = opened->isGpu;
  return opened->name.c_str();
}
