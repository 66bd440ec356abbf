//===- Files.h - Files and environment variables ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole files and environment variables, for the runtimes of OpenCL and Vulkan.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_FILES_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_FILES_H

#include <string>
#include <string_view>

namespace mlir::layout {

/// Returns the value of an environment variable, or "" if it is not set.
std::string getVariable(const std::string &name);
/// Returns true if the environment variable is set, and neither "" nor "0".
bool isSetupVariableOn(const char *name);

bool readFile(const std::string &path, std::string &text);
/// Creates and writes a new file. The Xs of `path` are replaced by a unique
/// name. Returns false on failure.
bool writeNewFile(std::string &path, std::string_view text);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_FILES_H
