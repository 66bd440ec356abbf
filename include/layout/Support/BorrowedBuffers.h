//===- BorrowedBuffers.h - Calls that retain no buffers ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_BORROWEDBUFFERS_H
#define LAYOUT_SUPPORT_BORROWEDBUFFERS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::layout {

/// The attribute of a call that neither retains nor frees its buffer operands,
/// so that their lifetimes may end right after the call.
inline constexpr llvm::StringLiteral kBorrowsAttrName = "layout.borrows";

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_BORROWEDBUFFERS_H
