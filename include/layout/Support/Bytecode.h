//===- Bytecode.h - Alignment of bytecode files in memory -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_BYTECODE_H
#define LAYOUT_SUPPORT_BYTECODE_H

#include "llvm/Support/Alignment.h"

namespace mlir::layout {

/// The largest alignment in bytes that constants in bytecode may require: one
/// page, at which mapped files begin. Callers align the memory into which small
/// files are read to it, because upstream's reader rejects unaligned buffers.
inline constexpr llvm::Align kBytecodeAlignment = llvm::Align::Constant<4096>();

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_BYTECODE_H
