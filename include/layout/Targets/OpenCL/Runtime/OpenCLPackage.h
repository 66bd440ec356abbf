//===- OpenCLPackage.h - Run a package of OpenCL kernels --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs what `layout-translate --layout-to-opencl-package` writes, from C,
// without MLIR and LLVM, on the device and queue of OpenCL.h:
//
//   LayoutPackage *net = layoutClLoadPackage("net");
//   layoutPackageSetInput(net, 0, photo, sizeof(photo));
//   layoutPackageRun(net);
//   layoutPackageCopyOutput(net, 0, scores, sizeof(scores));
//   layoutPackageDestroy(net);
//   const char *error = layoutClTakeError();     // of the first that failed
//
// Laws, besides those of Package.h:
//   - A run does not wait for the device: it returns when its commands are in
//     the queue. layoutPackageCopyOutput waits for the last run, layoutPackageSetInput
//     waits until earlier runs have uploaded their inputs; other threads are
//     not blocked. An error of the device is reported by the waiting call.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPACKAGE_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPACKAGE_H

#include "layout/Targets/OpenCL/Runtime/Package.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Loads a package from `directory`. Returns null after an error.
LayoutPackage *layoutClLoadPackage(const char *directory);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPACKAGE_H
