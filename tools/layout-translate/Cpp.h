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

/// Returns the module of `emitc` ops in `source` as C++, made by upstream's
/// emitter. If that fails, prints an error to standard error and returns
/// failure.
FailureOr<std::string> writeCpp(std::unique_ptr<llvm::MemoryBuffer> source);

} // namespace mlir::layout

#endif // LAYOUT_TOOLS_LAYOUT_TRANSLATE_CPP_H
