//===- OpenCL.h - The OpenCL runtime of programs ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C functions that `convert-gpu-to-opencl-runtime` calls: one device, one
// in-order queue, images and buffers, kernels from SPIR-V or OpenCL C. The
// library does not depend on LLVM, so that object code can be linked with it.
//
//   void *in = layoutClCreateImage(LayoutClImage2D, LayoutClFloat, 6, 10, 1);
//   void *k = layoutClGetKernel(&slot, spirv, bytes, source, "copy", &facts);
//   int64_t grid[6] = {3, 5, 1, 2, 2, 1};       // work-groups, their sizes
//   const void *values[2] = {in, out};
//   int64_t sizes[2] = {0, 0};                  // 0: a memory object
//   layoutClLaunch(k, grid, 2, values, sizes);
//
// Laws:
//   - The device is chosen at the first call: the first GPU, else the first
//     device, whose name or platform contains $LAYOUT_OPENCL_DEVICE if it is
//     set.
//   - Only uploads and downloads block. Host memory may change when they
//     return.
//   - The first call that fails passes its message to the handler. All later
//     calls do nothing (and return null) until the error is taken. No call
//     crashes because an earlier one failed.
//   - An object is released after the commands that use it.
//
// Environment:
//   LAYOUT_OPENCL_DEVICE      part of the name of the device or its platform
//   LAYOUT_OPENCL_PROFILE     1: time kernels, print a table at exit
//   LAYOUT_OPENCL_TUNE        1: measure several work-group sizes at the first
//                             launch of a kernel on a grid, and keep the best
//   LAYOUT_OPENCL_SOURCE      1: build all kernels from OpenCL C, 0: all from
//                             SPIR-V; unset: from OpenCL C if the program has
//                             it and the device does not accept its SPIR-V
//   LAYOUT_OPENCL_TRANSLATOR  the tool that translates SPIR-V to SPIR for
//                             devices without SPIR-V (llvm-spirv-15)
//   LAYOUT_OPENCL_CACHE       the directory of built and translated kernels;
//                             empty: no cache
//                             ($XDG_CACHE_HOME or ~/.cache, mlir-layout/opencl)
//   LAYOUT_OPENCL_CACHE_BYTES the size limit of the cache in bytes (256 MiB)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCL_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCL_H

#include <stdint.h>

/// The prefix of a kernel's function name in OpenCL C.
#define LAYOUT_CL_SOURCE_PREFIX "kernel_"

#ifdef __cplusplus
extern "C" {
#endif

enum LayoutClKind {
  LayoutClImage2D = 1,
  LayoutClImage2DArray = 2,
  LayoutClImage3D = 3
};

/// The data type of the four CL_RGBA channels.
enum LayoutClChannel {
  LayoutClFloat = 0,
  LayoutClHalf = 1,
  LayoutClSigned8 = 2,
  LayoutClSigned16 = 3,
  LayoutClSigned32 = 4
};

/// Returns a buffer of at least `bytes` bytes with undefined contents, or null
/// after an error.
void *layoutClCreateBuffer(int64_t bytes);

/// Returns an image of at least `width` times `height` pixels with undefined
/// contents, or null after an error. `kind` is a LayoutClKind, `channel` a
/// LayoutClChannel; `slices` is the number of array layers or the depth. The
/// error of a too large image names the device's limit.
void *layoutClCreateImage(int32_t kind, int32_t channel, int64_t width,
                          int64_t height, int64_t slices);

/// Releases a buffer or image, which may be null, to a pool that serves later
/// allocations which fit. The pool holds at most twice the largest number of
/// bytes that were in use at one time.
void layoutClRelease(void *memory);

/// Frees all objects that were released to the pool and not reused.
void layoutClReleaseWaiting(void);

/// Begins and ends a scope: the second call releases all memory that this
/// thread allocated in the scope and did not release. Scopes may nest. They
/// serve memory whose last use is unknown to the compiler, e.g. loop-carried
/// values.
void layoutClEnterScope(void);
void layoutClLeaveScope(void);

/// Returns the memory object of a program constant, cached in `*slot`, which is
/// null before the first call. The object is a buffer if `kind` is 0, else an
/// image. It holds `bytes` bytes of `host`, rows of pixels without gaps. No
/// scope releases it. If it is not cached, returns null after an error.
void *layoutClGetConstant(void **slot, int32_t kind, int32_t channel,
                          int64_t width, int64_t height, int64_t slices,
                          const void *host, int64_t bytes);

void layoutClUpload(void *buffer, const void *host, int64_t bytes);
void layoutClDownload(void *host, void *buffer, int64_t bytes);
/// Copies `bytes` bytes between two buffers of the device. The copy is queued,
/// and the call returns without waiting for it.
void layoutClCopy(void *to, void *from, int64_t bytes);

/// The properties of a kernel that are known when it is compiled.
typedef struct LayoutClKernelMetadata {
  /// The number of operations on elements that one work-item executes if
  /// `any_groups` is 1, else one work-group; -1 if unknown.
  int64_t operations;
  /// The number of bytes that one work-item reads and writes if `any_groups` is
  /// 1, else one work-group; -1 if unknown.
  int64_t bytes;
  /// The numbers of work-items along x, y and z that compute; -1 along a
  /// dimension in which all may. Other work-items access no memory.
  int64_t items[3];
  /// 1 if the results do not depend on the work-group size, so that the runtime
  /// may choose it. 0 if they do, or if that is unknown.
  int64_t any_groups;
  /// 1 if the kernel does not write memory that it reads, so that it may run
  /// several times for a measurement. 0 if it does, or if that is unknown.
  int64_t may_repeat;
  /// Bit i is 1 if the kernel may store to argument i, for i < 63.
  int64_t writes;
} LayoutClKernelMetadata;

/// The initializer of a LayoutClKernelMetadata in which nothing is known.
#define LAYOUT_CL_UNKNOWN_FACTS {-1, -1, {-1, -1, -1}, 0, 0, -1}

/// Returns the kernel `name` of a SPIR-V module of `bytes` bytes, or, if that
/// is used instead, the function `kernel_<name>` of its OpenCL C `source`.
/// `source` and `facts` may be null. The kernel is cached in `*slot`, which is
/// null before the first call. If it is not cached, returns null after an
/// error. Equal modules are built once.
void *layoutClGetKernel(void **slot, const void *spirv, int64_t bytes,
                        const char *source, const char *name,
                        const LayoutClKernelMetadata *facts);

/// Queues a launch of grid[0..2] work-groups of grid[3..5] work-items each;
/// without work-groups, does nothing. `values[i]` is a memory object if
/// sizes[i] is 0, otherwise it points to sizes[i] bytes. If `any_groups` of the
/// kernel is 1, the runtime may replace the work-group size by one that was
/// measured to be faster, or by a smaller one that the device supports.
void layoutClLaunch(void *kernel, const int64_t *grid, int32_t numValues,
                    const void *const *values, const int64_t *sizes);

/// Reports an error in place of a launch of the kernel `name`, whose 32-bit
/// indices are too small for the sizes.
void layoutClRefuseSizes(const char *name);

/// Returns and clears the pending error message, or returns null without one.
/// The text is valid until the next failure.
const char *layoutClTakeError(void);

/// Sets the function that is called with the message of each error that becomes
/// the pending one. The default prints to stderr; null disables it.
void layoutClSetErrorHandler(void (*handler)(const char *message));

/// Enables or disables timing of kernels. If it is disabled at the first use of
/// the device, no kernel of the process is timed.
void layoutClSetProfiling(int32_t on);

/// Enables or disables tuning: the first launch of a kernel on a grid measures
/// several work-group sizes, if `any_groups` and `may_repeat` are 1 and no
/// measured size is cached. The best is kept in the disk cache, if that is on.
void layoutClSetTuning(int32_t on);

/// Prints the launches and times of each kernel and of transfers to stderr,
/// with bytes and operations per second if known.
void layoutClPrintProfile(void);

/// Returns the name of the device, which is chosen if it has not been used yet,
/// or null after an error.
const char *layoutClGetDeviceName(void);

/// Returns the name of the device in use and sets `*isGpu` to 1 for a GPU, else
/// 0. Returns null before the first use of a device.
const char *layoutClGetUsedDevice(int32_t *isGpu);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCL_H
