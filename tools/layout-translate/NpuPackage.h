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

/// Writes a function of npu ops as a package
/// (layout/Targets/NPU/NPUToEmitC/Package.h): a directory with its C++,
/// constants and arguments. `checks` declares the tensors of the program to the
/// simulator. `isStrict` rejects ops that are not OKKernel functions. Errors go
/// to standard error.
LogicalResult writeNpuPackage(std::unique_ptr<llvm::MemoryBuffer> source,
                              StringRef function, StringRef directory,
                              bool checks, bool isStrict);

} // namespace mlir::layout

#endif // LAYOUT_TOOLS_LAYOUT_TRANSLATE_NPUPACKAGE_H
