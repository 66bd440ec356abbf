//===- NpuPackage.h - Packages of NPU programs ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TOOLS_LAYOUT_TRANSLATE_NPUPACKAGE_H
#define LAYOUT_TOOLS_LAYOUT_TRANSLATE_NPUPACKAGE_H

#include "mlir/Support/LLVM.h"
#include <memory>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace mlir::layout {

/// Writes a function of npu ops as a package: a directory with its C++,
/// constants and arguments. With `checks`, the C++ tells the simulator which
/// bytes tensors own and commands must move. Ops without a function of
/// OKKernel, the vendor's kernel API, are errors if `isStrict`, and otherwise
/// kernels that only the simulator runs. Prints an error to standard error and
/// returns failure if it cannot.
LogicalResult writeNpuPackage(std::unique_ptr<llvm::MemoryBuffer> source,
                              StringRef function, StringRef directory,
                              bool checks, bool isStrict);

} // namespace mlir::layout

#endif // LAYOUT_TOOLS_LAYOUT_TRANSLATE_NPUPACKAGE_H
