//===- Bytecode.h - Where files of bytecode are read to ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_BYTECODE_H
#define LAYOUT_SUPPORT_BYTECODE_H

#include "llvm/Support/Alignment.h"

namespace mlir {
namespace layout {

/// What constants of bytecode may ask for: the alignment of a page. Files that
/// are mapped have it; small ones are read, and upstream's reader refuses what
/// is not aligned.
inline constexpr llvm::Align kBytecodeAlignment = llvm::Align::Constant<4096>();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_BYTECODE_H
