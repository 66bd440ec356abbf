//===- BuildId.h - Which build of this library runs -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one build has kept on disk is of no use to another.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_BUILDID_H
#define LAYOUT_LIB_RUNTIME_BUILDID_H

#include <string>

namespace mlir {
namespace layout {

/// The hash that the linker wrote into the program or library that has this
/// code; empty where it wrote none.
std::string getBuildId();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_RUNTIME_BUILDID_H
