//===- Cpp.h - Modules as C++ -----------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TOOLS_LAYOUT_TRANSLATE_CPP_H
#define LAYOUT_TOOLS_LAYOUT_TRANSLATE_CPP_H

#include "mlir/Support/LLVM.h"
#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace mlir::layout {

/// Returns a module of `emitc` ops as C++, made by upstream's emitter. Errors
/// go to standard error.
FailureOr<std::string> writeCpp(std::unique_ptr<llvm::MemoryBuffer> source);

/// Writes a function of npu ops as a package
/// (layout/Targets/NPU/NPUToEmitC/Package.h): a directory with its C++,
/// constants and arguments. `checks` declares the tensors of the program to the
/// simulator. `isStrict` rejects ops that are not OKKernel functions. Errors go
/// to standard error.
LogicalResult writeNpuPackage(std::unique_ptr<llvm::MemoryBuffer> source,
                              StringRef function, StringRef directory,
                              bool checks, bool isStrict);

} // namespace mlir::layout

#endif // LAYOUT_TOOLS_LAYOUT_TRANSLATE_CPP_H
