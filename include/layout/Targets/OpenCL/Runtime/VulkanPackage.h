//===- VulkanPackage.h - Run a package of Vulkan kernels --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs what `layout-translate --layout-to-vulkan-package` writes, from C,
// without MLIR, LLVM and OpenCL, on the device and queue of Vulkan.h:
//
//   LayoutPackage *net = layoutVkLoadPackage("net");
//   layoutPackageSetInput(net, 0, photo, sizeof(photo));
//   layoutPackageRun(net);
//   layoutPackageCopyOutput(net, 0, scores, sizeof(scores));
//   layoutPackageDestroy(net);
//   const char *error = layoutVkTakeError();     // of the first that failed
//
// Law, besides those of Package.h: a run returns when its results are on the
// host.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_VULKANPACKAGE_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_VULKANPACKAGE_H

#include "layout/Targets/OpenCL/Runtime/Package.h"
#include "layout/Targets/OpenCL/Runtime/Vulkan.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Loads a package from `directory`. Returns null after an error.
LayoutPackage *layoutVkLoadPackage(const char *directory);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_VULKANPACKAGE_H
