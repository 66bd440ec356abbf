//===- OpenCLPackage.h - Run a package of kernels ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs what `layout-translate --layout-to-opencl-package` writes, from C,
// without MLIR and LLVM, on the device and queue of OpenCL.h:
//
//   LayoutClPackage *net = layoutClLoadPackage("net");
//   layoutClSetInput(net, 0, photo, sizeof(photo));
//   layoutClRunPackage(net);
//   layoutClCopyOutput(net, 0, scores, sizeof(scores));
//   layoutClDestroyPackage(net);
//   const char *error = layoutClTakeError();     // of the first that failed
//
// Laws:
//   - Errors are those of OpenCL.h: after one all calls do nothing until it is
//     taken. A null package, which a failed load gives, is no other error.
//   - A package is checked when it is loaded: files, numbers and sizes fit one
//     another. Its kernels are code and are trusted as such.
//   - Kernels are built and constants sent to the device by the load, and kept
//     until the package is destroyed. Runs use the memory of others that ended.
//   - A run does not wait for the device: its commands are in the queue when it
//     returns. layoutClCopyOutput waits for the last run, layoutClSetInput
//     until runs before it have taken their inputs; other threads go on
//     meanwhile. An error of the device is reported by whoever waits.
//   - A package is used by one thread at a time; different ones by any.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPACKAGE_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPACKAGE_H

#include "layout/Targets/OpenCL/Runtime/OpenCL.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LayoutClPackage LayoutClPackage;

/// A dense tensor in rows, as the program takes or gives it.
typedef struct LayoutClTensor {
  const char *name;    // empty where it has none, as outputs
  const char *element; // "f32", "i8", ..
  int32_t rank;
  const int64_t *sizes;
  int64_t bytes;
} LayoutClTensor;

/// Null where an error is reported.
LayoutClPackage *layoutClLoadPackage(const char *directory);

int32_t layoutClCountInputs(const LayoutClPackage *package);
int32_t layoutClCountOutputs(const LayoutClPackage *package);
/// Null where there is none of this number. It lives as long as the package.
const LayoutClTensor *layoutClGetInput(const LayoutClPackage *package,
                                       int32_t number);
const LayoutClTensor *layoutClGetOutput(const LayoutClPackage *package,
                                        int32_t number);

/// Copies the data, for the next run and those after it.
void layoutClSetInput(LayoutClPackage *package, int32_t number,
                      const void *data, int64_t bytes);
/// Starts the program on the inputs, each of which was set.
void layoutClRunPackage(LayoutClPackage *package);
/// Returns when all runs are done.
void layoutClWaitPackage(LayoutClPackage *package);
/// Copies what the last run gave, when it is done.
void layoutClCopyOutput(LayoutClPackage *package, int32_t number, void *data,
                        int64_t bytes);

/// Waits for runs that are not done.
void layoutClDestroyPackage(LayoutClPackage *package);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPACKAGE_H
