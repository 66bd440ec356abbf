/* Preloaded before libvulkan: changes results as the environment requests:
 *   NO_FORMAT=1     no format can be stored to
 *   MOST_PIXELS=8   the largest width and height of an image
 *   MOST_ITEMS=16   the largest number of work-items of a work-group
 *   MOST_GROUPS=2   the largest number of work-groups along x
 *   NO_FEATURES=1   the device has no optional features
 *   NO_INT64=1      the device has no 64-bit integers
 *   MOST_BYTES=N    no allocation of more bytes succeeds
 *   LOST=2          the device is lost at the second submission
 *   FAIL=vkX AT=3   the third call of vkX returns the number CODE
 *   OTHER_DRIVER=1  pipeline caches are those of another driver
 *   SHOW_CACHES=1   print the bytes that pipeline caches start with
 *   SHOW_COUNTS=1   print the numbers of recordings and submissions at exit */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

static void *find_next(const char *name) { return dlsym(RTLD_NEXT, name); }

static unsigned long long read_number(const char *name) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : 0;
}

/* Returns 1 if this call of a function must fail. */
static int must_fail(const char *name) {
  static unsigned long long calls = 0;
  const char *failing = getenv("FAIL");
  return failing && !strcmp(failing, name) && ++calls == read_number("AT");
}

static VkResult read_code(void) { return (VkResult)atoi(getenv("CODE")); }

#define FAILING(name, parameters, arguments)                                   \
  VkResult name parameters {                                                   \
    PFN_##name next = find_next(#name);                                        \
    return must_fail(#name) ? read_code() : next arguments;                    \
  }

/* A function that makes an object of a device. */
#define CREATING(type, Type)                                                   \
  FAILING(vkCreate##type,                                                      \
          (VkDevice device, const Vk##type##CreateInfo *info,                  \
           const VkAllocationCallbacks *callbacks, Vk##Type *made),            \
          (device, info, callbacks, made))

CREATING(Buffer, Buffer)
CREATING(Image, Image)
CREATING(ImageView, ImageView)
CREATING(Sampler, Sampler)
CREATING(ShaderModule, ShaderModule)
CREATING(DescriptorSetLayout, DescriptorSetLayout)
CREATING(PipelineLayout, PipelineLayout)
CREATING(CommandPool, CommandPool)
CREATING(DescriptorPool, DescriptorPool)
CREATING(Fence, Fence)
CREATING(QueryPool, QueryPool)
FAILING(vkCreateDevice,
        (VkPhysicalDevice device, const VkDeviceCreateInfo *info,
         const VkAllocationCallbacks *callbacks, VkDevice *made),
        (device, info, callbacks, made))
FAILING(vkCreateComputePipelines,
        (VkDevice device, VkPipelineCache cache, uint32_t count,
         const VkComputePipelineCreateInfo *info,
         const VkAllocationCallbacks *callbacks, VkPipeline *made),
        (device, cache, count, info, callbacks, made))
FAILING(vkAllocateCommandBuffers,
        (VkDevice device, const VkCommandBufferAllocateInfo *info,
         VkCommandBuffer *made),
        (device, info, made))
FAILING(vkAllocateDescriptorSets,
        (VkDevice device, const VkDescriptorSetAllocateInfo *info,
         VkDescriptorSet *made),
        (device, info, made))
FAILING(vkBindBufferMemory,
        (VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
         VkDeviceSize offset),
        (device, buffer, memory, offset))
FAILING(vkBindImageMemory,
        (VkDevice device, VkImage image, VkDeviceMemory memory,
         VkDeviceSize offset),
        (device, image, memory, offset))
FAILING(vkMapMemory,
        (VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
         VkDeviceSize bytes, VkMemoryMapFlags flags, void **address),
        (device, memory, offset, bytes, flags, address))
FAILING(vkBeginCommandBuffer,
        (VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info),
        (buffer, info))
FAILING(vkResetFences, (VkDevice device, uint32_t count, const VkFence *fences),
        (device, count, fences))
FAILING(vkWaitForFences,
        (VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all,
         uint64_t timeout),
        (device, count, fences, all, timeout))

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
  if (read_number("OTHER_DRIVER"))
    properties->pipelineCacheUUID[0] ^= 1;
}

void vkGetPhysicalDeviceFeatures2(VkPhysicalDevice device,
                                  VkPhysicalDeviceFeatures2 *features) {
  PFN_vkGetPhysicalDeviceFeatures2 next =
      find_next("vkGetPhysicalDeviceFeatures2");
  if (!read_number("NO_FEATURES"))
    next(device, features);
  if (read_number("NO_INT64"))
    features->features.shaderInt64 = VK_FALSE;
}

VkResult vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                          const VkAllocationCallbacks *callbacks,
                          VkDeviceMemory *memory) {
  PFN_vkAllocateMemory next = find_next("vkAllocateMemory");
  unsigned long long most = read_number("MOST_BYTES");
  if (must_fail("vkAllocateMemory"))
    return read_code();
  if (most && info->allocationSize > most)
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return next(device, info, callbacks, memory);
}

static unsigned long long recordings = 0, submissions = 0;

__attribute__((destructor)) static void show_counts(void) {
  if (read_number("SHOW_COUNTS"))
    fprintf(stderr, "%llu recordings, %llu submissions\n", recordings,
            submissions);
}

/* The layer of checks has no symbol in this process, so these are the calls of
 * the runtime. */
VkResult vkEndCommandBuffer(VkCommandBuffer buffer) {
  PFN_vkEndCommandBuffer next = find_next("vkEndCommandBuffer");
  ++recordings;
  return must_fail("vkEndCommandBuffer") ? read_code() : next(buffer);
}

VkResult vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *info,
                       VkFence fence) {
  PFN_vkQueueSubmit next = find_next("vkQueueSubmit");
  if (++submissions == read_number("LOST"))
    return VK_ERROR_DEVICE_LOST;
  return next(queue, count, info, fence);
}

VkResult vkCreatePipelineCache(VkDevice device,
                               const VkPipelineCacheCreateInfo *info,
                               const VkAllocationCallbacks *callbacks,
                               VkPipelineCache *cache) {
  PFN_vkCreatePipelineCache next = find_next("vkCreatePipelineCache");
  if (read_number("SHOW_CACHES"))
    fprintf(stderr, "a cache with %s\n",
            info->initialDataSize ? "data" : "nothing");
  return must_fail("vkCreatePipelineCache")
             ? read_code()
             : next(device, info, callbacks, cache);
}
