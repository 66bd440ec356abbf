//===- Checks.cpp - Checks of the calls of Vulkan -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include <cstdlib>
#include <cstring>

using namespace mlir::layout;
using namespace mlir::layout::vulkan;

static bool isExiting = false, hasFailed = false;

static VkDebugUtilsMessengerEXT &getMessenger() {
  static VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  return messenger;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL onMessage(
    VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
    const VkDebugUtilsMessengerCallbackDataEXT *data, void *) {
  std::string text = std::string("a check of Vulkan failed: ") + data->pMessage;
  if (isExiting) {
    std::fprintf(stderr, "layout-vulkan: error: %s\n", text.c_str());
    hasFailed = true;
  } else {
    getError().report(text);
  }
  return VK_FALSE;
}

VkResult vulkan::makeInstance(const VkApplicationInfo &application,
                              VkInstance &instance) {
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  const char *on = std::getenv("LAYOUT_VULKAN_CHECK");
  if (!on || !*on || !std::strcmp(on, "0"))
    return vkCreateInstance(&info, nullptr, &instance);
  const char *layer = "VK_LAYER_KHRONOS_validation";
  const char *extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                              VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  const VkValidationFeatureEnableEXT enabled =
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkValidationFeaturesEXT checks = {VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  checks.enabledValidationFeatureCount = 1;
  checks.pEnabledValidationFeatures = &enabled;
  // Covers the calls that create and destroy the instance, too.
  VkDebugUtilsMessengerCreateInfoEXT messenger = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  messenger.pNext = &checks;
  messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                              VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                          VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messenger.pfnUserCallback = onMessage;
  info.pNext = &messenger;
  info.enabledLayerCount = 1;
  info.ppEnabledLayerNames = &layer;
  info.enabledExtensionCount = 2;
  info.ppEnabledExtensionNames = extensions;
  VkResult code = vkCreateInstance(&info, nullptr, &instance);
  if (code != VK_SUCCESS)
    return code;
  auto make = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT"));
  messenger.pNext = nullptr;
  return make(instance, &messenger, nullptr, &getMessenger());
}

void vulkan::startOfExit() { isExiting = true; }

void vulkan::destroyInstance(VkInstance instance) {
  auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
      vkGetInstanceProcAddr(instance, "vkDestroyDebugUtilsMessengerEXT"));
  if (getMessenger())
    destroy(instance, getMessenger(), nullptr);
  getMessenger() = VK_NULL_HANDLE;
  vkDestroyInstance(instance, nullptr);
  if (hasFailed)
    std::_Exit(EXIT_FAILURE);
}
