//===- Blocked.h - Layouts of lettered axes ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notation of `#layout.blocked<"NCHW" to "NCHW16c">` (docs/spec.md,
// section 3.1): two strings over the same letters. Upper case is an axis; a
// number and a lower-case letter a part of it; parts of one letter stand from
// major to minor, the axis itself above them all; brackets fuse.
//
//     parseBlocked("NCHW", "NCHW16c"):
//       stored = { n, c floordiv 16, h, w, c mod 16 }
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_BLOCKED_H
#define LAYOUT_ALGEBRA_FAMILIES_BLOCKED_H

#include "layout/Algebra/LayoutMap.h"
#include "llvm/ADT/Twine.h"

namespace mlir {
namespace layout {

struct BlockedLayout {
  /// For each logical dim the size it must have, 0 for any: a part in the
  /// first string has as many indices as its factor says.
  llvm::SmallVector<int64_t> requiredSizes;
  /// The stored dims, slowest first.
  llvm::SmallVector<Sized> stored;

  unsigned getRank() const { return requiredSizes.size(); }
  LayoutMap getMap() const;
};

/// Where the fault is: a 0-based column of the first or the second string.
using BlockedError = llvm::function_ref<void(bool inStored, size_t column,
                                             const llvm::Twine &message)>;

/// Reads the two strings; reports the first fault and returns nothing.
std::optional<BlockedLayout> parseBlocked(llvm::StringRef logical,
                                          llvm::StringRef stored,
                                          BlockedError error);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_FAMILIES_BLOCKED_H
