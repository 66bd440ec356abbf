/* Preloaded before libvulkan: changes results as the environment requests:
 *   NO_FORMAT=1     no format can be stored to
 *   MOST_PIXELS=8   the largest width and height of an image
 *   MOST_ITEMS=16   the largest number of work-items of a work-group
 *   MOST_GROUPS=2   the largest number of work-groups along x
 *   NO_FEATURES=1   the device has no optional features
 *   MOST_BYTES=N    no allocation of more bytes succeeds
 *   LOST=2          the device is lost at the second submission */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

static void *find_next(const char *name) { return dlsym(RTLD_NEXT, name); }

static unsigned long long read_number(const char *name) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : 0;
}

void vkGetPhysicalDeviceFormatProperties(VkPhysicalDevice device,
                                         VkFormat format,
                                         VkFormatProperties *properties) {
  PFN_vkGetPhysicalDeviceFormatProperties next =
      find_next("vkGetPhysicalDeviceFormatProperties");
  next(device, format, properties);
  if (read_number("NO_FORMAT"))
    properties->optimalTilingFeatures &= ~VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT;
}

void vkGetPhysicalDeviceProperties(VkPhysicalDevice device,
                                   VkPhysicalDeviceProperties *properties) {
  PFN_vkGetPhysicalDeviceProperties next =
      find_next("vkGetPhysicalDeviceProperties");
  unsigned long long pixels = read_number("MOST_PIXELS");
  unsigned long long items = read_number("MOST_ITEMS");
  unsigned long long groups = read_number("MOST_GROUPS");
  next(device, properties);
  if (pixels)
    properties->limits.maxImageDimension2D = pixels;
  if (items)
    properties->limits.maxComputeWorkGroupInvocations = items;
  if (groups)
    properties->limits.maxComputeWorkGroupCount[0] = groups;
}

void vkGetPhysicalDeviceFeatures2(VkPhysicalDevice device,
                                  VkPhysicalDeviceFeatures2 *features) {
  PFN_vkGetPhysicalDeviceFeatures2 next =
      find_next("vkGetPhysicalDeviceFeatures2");
  if (!read_number("NO_FEATURES"))
    next(device, features);
}

VkResult vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                          const VkAllocationCallbacks *callbacks,
                          VkDeviceMemory *memory) {
  PFN_vkAllocateMemory next = find_next("vkAllocateMemory");
  unsigned long long most = read_number("MOST_BYTES");
  if (most && info->allocationSize > most)
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return next(device, info, callbacks, memory);
}

VkResult vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *info,
                       VkFence fence) {
  static unsigned long long submissions = 0;
  PFN_vkQueueSubmit next = find_next("vkQueueSubmit");
  if (++submissions == read_number("LOST"))
    return VK_ERROR_DEVICE_LOST;
  return next(queue, count, info, fence);
}
