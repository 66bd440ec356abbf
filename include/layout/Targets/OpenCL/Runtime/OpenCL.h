//===- OpenCL.h - What a compiled program asks of OpenCL --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C functions that `convert-gpu-to-opencl-runtime` calls: one device, one
// queue that runs commands in order, images and buffers in it, kernels from
// SPIR-V or OpenCL C. The library needs no LLVM, so that object code can be
// linked with it.
//
//   void *in = layoutClCreateImage(LayoutClImage2D, LayoutClFloat, 6, 10, 1);
//   void *k = layoutClGetKernel(&slot, spirv, bytes, source, "copy", &facts);
//   int64_t grid[6] = {3, 5, 1, 2, 2, 1};       // groups, items of a group
//   const void *values[2] = {in, out};
//   int64_t sizes[2] = {0, 0};                  // 0: a memory object
//   layoutClLaunch(k, grid, 2, values, sizes);
//
// Laws:
//   - The device is looked up at the first call: a GPU before others, or the
//     first one whose name or platform holds $LAYOUT_OPENCL_DEVICE.
//   - Only uploads and downloads wait. Host memory is free to change when they
//     return.
//   - The first call that fails gives its message to the handler and is kept;
//     all calls after it do nothing (and return null) until the error is taken.
//     No call crashes because an earlier one failed.
//   - An object is released after the commands that use it.
//
// Environment:
//   LAYOUT_OPENCL_DEVICE      part of the name of the device or its platform
//   LAYOUT_OPENCL_PROFILE     1: time kernels, print a table at exit
//   LAYOUT_OPENCL_TUNE        1: measure groups of several sizes at the first
//                             launch of a kernel on a grid, and keep the best
//   LAYOUT_OPENCL_SOURCE      1: build all kernels from OpenCL C, 0: all from
//                             SPIR-V; without it those from OpenCL C that have
//                             some, where the device takes no SPIR-V
//   LAYOUT_OPENCL_TRANSLATOR  SPIR-V to SPIR for SPIR-V on devices that take
//                             none (llvm-spirv-15)
//   LAYOUT_OPENCL_CACHE       where built and translated kernels are kept;
//                             empty: nowhere
//                             ($XDG_CACHE_HOME or ~/.cache, mlir-layout/opencl)
//   LAYOUT_OPENCL_CACHE_BYTES what is kept there at most (256 MiB)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCL_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCL_H

#include <stdint.h>

/// What the function of a kernel in OpenCL C has before the kernel's name.
#define LAYOUT_CL_SOURCE_PREFIX "kernel_"

#ifdef __cplusplus
extern "C" {
#endif

enum LayoutClKind {
  LayoutClImage2D = 1,
  LayoutClImage2DArray = 2,
  LayoutClImage3D = 3
};

/// The four channels of a pixel, CL_RGBA.
enum LayoutClChannel {
  LayoutClFloat = 0,
  LayoutClHalf = 1,
  LayoutClSigned8 = 2,
  LayoutClSigned16 = 3,
  LayoutClSigned32 = 4
};

/// A buffer of so many bytes. Contents are undefined, as those of images.
void *layoutClCreateBuffer(int64_t bytes);

/// An image; `slices` counts the layers of an array or the depth. One that the
/// device cannot hold is an error that names the limit.
void *layoutClCreateImage(int32_t kind, int32_t channel, int64_t width,
                          int64_t height, int64_t slices);

/// What is released waits for the next tensor that fits into it, at most twice
/// of what was in use at one time.
void layoutClRelease(void *memory);

/// Gives what waits back to the driver.
void layoutClReleaseWaiting(void);

/// Between these two calls of one thread, whatever the thread allocates and
/// does not release is released by the second one; pairs may nest. For memory
/// whose last use no compiler sees, such as what loops carry.
void layoutClEnterScope(void);
void layoutClLeaveScope(void);

/// The object that holds a constant of the program, kept in `*slot`, which is
/// null before the first call: a buffer where `kind` is 0, else an image, with
/// `bytes` of `host` in it, rows of pixels without gaps. It is never released.
void *layoutClGetConstant(void **slot, int32_t kind, int32_t channel,
                          int64_t width, int64_t height, int64_t slices,
                          const void *host, int64_t bytes);

void layoutClUpload(void *buffer, const void *host, int64_t bytes);
void layoutClDownload(void *host, void *buffer, int64_t bytes);
/// Buffer to buffer.
void layoutClCopy(void *to, void *from, int64_t bytes);

/// What a compiler knows of a kernel. Numbers are those of an item, or of a
/// group where the kernel is not for any groups; -1 where they are not known.
typedef struct LayoutClKernelFacts {
  int64_t operations; // on elements
  int64_t bytes;      // read and written
  int64_t items[3];   // of a grid, so many compute along x, y and z; -1: all
  int64_t any_groups; // 1: it knows the place of an item in the whole grid
                      // alone, and groups of any size run the same items
  int64_t may_repeat; // 1: it writes nothing that it reads
} LayoutClKernelFacts;

/// Of a kernel of which nothing is known.
#define LAYOUT_CL_UNKNOWN_FACTS {-1, -1, {-1, -1, -1}, 0, 0}

/// The kernel `name` of a SPIR-V module, or the function `kernel_<name>` of its
/// OpenCL C `source`, which may be null, as may be what is known of it. The
/// result is kept in `*slot`, which is null before the first call; equal
/// modules are built once.
void *layoutClGetKernel(void **slot, const void *spirv, int64_t bytes,
                        const char *source, const char *name,
                        const LayoutClKernelFacts *facts);

/// Runs groups[0..2] = grid[0..2] of grid[3..5] items each. Where `sizes` is 0
/// the value is a memory object, otherwise it points at so many bytes. A kernel
/// for any groups runs in those that were measured to be the best, or in
/// smaller ones where the device has none of so many items.
void layoutClLaunch(void *kernel, const int64_t *grid, int32_t numValues,
                    const void *const *values, const int64_t *sizes);

/// Fails in place of a launch whose sizes are too large for the kernel `name`,
/// which has indices of 32 bits.
void layoutClRefuseSizes(const char *name);

/// The message of the first failed call since the last take, or null. The text
/// lives until the next failure.
const char *layoutClTakeError(void);

/// Gets every kept message; the default prints it to stderr. Null: nothing.
void layoutClSetErrorHandler(void (*handler)(const char *message));

/// Whether kernels are timed from now on. Call it before the first other call
/// to time all of them.
void layoutClSetProfiling(int32_t on);

/// Whether groups of several sizes are measured at the first launch of a kernel
/// on a grid. The best is kept with built kernels, for all processes.
void layoutClSetTuning(int32_t on);

/// Prints launches and times of each kernel, and of transfers, to stderr, with
/// the bytes and operations in a second where they are known.
void layoutClPrintProfile(void);

/// The name of the device, or null (and an error) where there is none.
const char *layoutClGetDeviceName(void);

/// The name of the device that something ran on, and whether it is a GPU; null
/// before the first run.
const char *layoutClGetUsedDevice(int32_t *isGpu);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCL_H
