//===- Package.h - Run a package of kernels ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of packages for OpenCL and for Vulkan, in C. OpenCLPackage.h and
// VulkanPackage.h have those that load a package:
//
//   layoutPackageSetInput(net, 0, photo, sizeof(photo));
//   layoutPackageRun(net);
//   layoutPackageCopyOutput(net, 0, scores, sizeof(scores));
//   layoutPackageDestroy(net);
//
// Laws:
//   - Errors are those of the runtime that loaded the package: after an error
//     all calls do nothing until the error is taken. A null package, the result
//     of a failed load, is not an error.
//   - Loading a package checks that its files, numbers and sizes are
//     consistent. Its kernels are code and are trusted as such.
//   - Loading builds the kernels and uploads the constants, which are kept
//     until the package is destroyed. Runs reuse the memory of earlier runs.
//   - A package is used by one thread at a time; different packages may be used
//     by different threads.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_PACKAGE_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_PACKAGE_H

#include "layout/Targets/OpenCL/Runtime/OpenCL.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LayoutPackage LayoutPackage;

/// A dense row-major tensor, an input or output of the program.
typedef struct LayoutPackageTensor {
  const char *name;    // empty if unnamed, as outputs are
  const char *element; // "f32", "i8", ..
  int32_t rank;
  const int64_t *sizes;
  int64_t bytes;
} LayoutPackageTensor;

int32_t layoutPackageCountInputs(const LayoutPackage *package);
int32_t layoutPackageCountOutputs(const LayoutPackage *package);
/// Return the input or output `number`, valid as long as the package. If there
/// is no such number, returns null.
const LayoutPackageTensor *layoutPackageGetInput(const LayoutPackage *package,
                                                 int32_t number);
const LayoutPackageTensor *layoutPackageGetOutput(const LayoutPackage *package,
                                                  int32_t number);

/// Copies `bytes` bytes of `data` to input `number`, for all following runs.
/// Reports an error and keeps the former data if there is no such input or it
/// has another size.
void layoutPackageSetInput(LayoutPackage *package, int32_t number,
                           const void *data, int64_t bytes);
/// Queues a run of the program and returns without waiting for it. Reports an
/// error, without a run, if an input has never been set.
void layoutPackageRun(LayoutPackage *package);
/// Waits until all runs are done.
void layoutPackageWait(LayoutPackage *package);
/// Waits for all runs and copies output `number` to `data`. Reports an error
/// and leaves `data` unchanged if there is no such output, if it does not have
/// `bytes` bytes, or if there was no run or the last one failed.
void layoutPackageCopyOutput(LayoutPackage *package, int32_t number, void *data,
                             int64_t bytes);

/// Waits for all runs and frees the package, which may be null.
void layoutPackageDestroy(LayoutPackage *package);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_PACKAGE_H
