//===- BorrowedBuffers.h - Calls that keep no buffer ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_BORROWEDBUFFERS_H
#define LAYOUT_SUPPORT_BORROWEDBUFFERS_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
namespace layout {

/// A call with this attribute neither keeps nor frees the buffers that it is
/// given: their lives may end behind it.
inline constexpr llvm::StringLiteral kBorrowsAttrName = "layout.borrows";

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_BORROWEDBUFFERS_H
