//===- Checks.h - Checks of the calls of Vulkan -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With LAYOUT_VULKAN_CHECK=1, the validation layer checks all calls of the
// runtime, the order of memory accesses included. Each message of it is an
// error of the program; one at exit, e.g. about an object that is not
// destroyed, makes the process exit with status 1.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_CHECKS_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_CHECKS_H

#include "Session.h"

namespace mlir::layout::vulkan {

/// Creates an instance for an application, with checks if they are on.
VkResult makeInstance(const VkApplicationInfo &application,
                      VkInstance &instance);

/// Destroys the instance. Ends the process if the checks found an error since
/// `startOfExit`.
void destroyInstance(VkInstance instance);

/// Declares that the program has ended, so that errors are no longer reported
/// to it.
void startOfExit();

} // namespace mlir::layout::vulkan

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_VULKAN_CHECKS_H
