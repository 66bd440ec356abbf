//===- Vulkan.h - The Vulkan runtime of programs ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C functions that `convert-gpu-to-opencl-runtime=prefix=layoutVk` calls:
// one device of Vulkan 1.1, one queue, images and buffers, and kernels of
// `layout-vulkan-kernels-to-spirv`. layoutVkX does for Vulkan what layoutClX of
// OpenCL.h documents, with the same arguments and laws. The library does not
// depend on LLVM or OpenCL.
//
// Laws:
//   - Launches and copies are commands of one command buffer, which is recorded
//     unless an earlier run has recorded equal ones. A download, or a
//     constant or upload for which the staging memory is full, submits it and
//     waits.
//   - A barrier precedes a command that reads memory which was written since
//     the last barrier, or writes memory which was read or written since then.
//     The others move a new image to its layout, or show a download to the host.
//   - Buffers and images are parts of few blocks of device memory.
//   - All objects of the device are destroyed at exit, which also writes the
//     driver's data of new pipelines to the disk cache. Files that are damaged,
//     or of another device or driver, are not used.
//
// Environment:
//   LAYOUT_VULKAN_DEVICE      part of the name of the device
//   LAYOUT_VULKAN_CHECK       1: check all calls by the validation layer; a
//                             message of it is an error
//   LAYOUT_VULKAN_PROFILE     1: time kernels, print a table at exit
//   LAYOUT_VULKAN_CACHE       the directory of the driver's pipeline data;
//                             empty: no cache
//                             ($XDG_CACHE_HOME or ~/.cache, mlir-layout/vulkan)
//   LAYOUT_VULKAN_CACHE_BYTES the size limit of the cache in bytes (256 MiB)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_VULKAN_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_VULKAN_H

#include "layout/Targets/OpenCL/Runtime/OpenCL.h"

#ifdef __cplusplus
extern "C" {
#endif

void *layoutVkCreateBuffer(int64_t bytes);
/// Returns an image2d of at least `width` times `height` pixels. Other kinds
/// are errors, because no kernel for Vulkan takes them.
void *layoutVkCreateImage(int32_t kind, int32_t channel, int64_t width,
                          int64_t height, int64_t slices);
void layoutVkRelease(void *memory);

void layoutVkEnterScope(void);
void layoutVkLeaveScope(void);

void *layoutVkGetConstant(void **slot, int32_t kind, int32_t channel,
                          int64_t width, int64_t height, int64_t slices,
                          const void *host, int64_t bytes);

void layoutVkUpload(void *buffer, const void *host, int64_t bytes);
void layoutVkDownload(void *host, void *buffer, int64_t bytes);
void layoutVkCopy(void *to, void *from, int64_t bytes);

/// Returns the kernel `name` of a SPIR-V module; `source` is not used. `facts`
/// tells which arguments the kernel stores to.
void *layoutVkGetKernel(void **slot, const void *spirv, int64_t bytes,
                        const char *source, const char *name,
                        const LayoutClKernelMetadata *facts);
void layoutVkLaunch(void *kernel, const int64_t *grid, int32_t numValues,
                    const void *const *values, const int64_t *sizes);
void layoutVkRefuseSizes(const char *name);

const char *layoutVkTakeError(void);
void layoutVkSetErrorHandler(void (*handler)(const char *message));

/// Returns the name of the device in use and sets `*isGpu` to 1 for a GPU, else
/// 0. Returns null before the first use of a device.
const char *layoutVkGetUsedDevice(int32_t *isGpu);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_VULKAN_H
