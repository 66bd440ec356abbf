//===- BuildId.h - The build id of this library -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distinguishes builds, because cached programs are valid for one build only.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_BUILDID_H
#define LAYOUT_LIB_RUNTIME_BUILDID_H

#include <string>

namespace mlir::layout {

/// Returns the build id that the linker wrote into the binary that contains
/// this code, as raw bytes, or an empty string if there is none.
std::string getBuildId();

} // namespace mlir::layout

#endif // LAYOUT_LIB_RUNTIME_BUILDID_H
