//===- Blocked.h - Blocked layouts with lettered axes -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notation of `#layout.blocked<"NCHW" to "NCHW16c">` (docs/spec.md, section
// 3.1): two strings over the same letters. An upper-case letter is an axis; a
// number and a lower-case letter are a block of it. Blocks are listed from
// major to minor, the axis is above all its blocks, and brackets fuse.
//
//     parseBlocked("NCHW", "NCHW16c"):
//       stored = { n, c floordiv 16, h, w, c mod 16 }
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_BLOCKED_H
#define LAYOUT_ALGEBRA_FAMILIES_BLOCKED_H

#include "layout/Algebra/LayoutMap.h"
#include "llvm/ADT/Twine.h"

namespace mlir::layout {

struct BlockedLayout {
  /// The required size of each logical dim, or 0 for any size. A dim that has
  /// no upper-case letter in the first string, e.g. `16c`, has a fixed size.
  llvm::SmallVector<int64_t> requiredSizes;
  /// The dims of the storage array, slowest first, as values of the logical
  /// dims.
  llvm::SmallVector<BoundedIndex> stored;

  unsigned getRank() const { return requiredSizes.size(); }
  LayoutMap getMap() const;
};

/// A callback to which a function reports an error at a 0-based column of one
/// of the two strings of `#layout.blocked`, before it fails: the stored form if
/// `inStored`, else the logical form.
using BlockedError = llvm::function_ref<void(bool inStored, size_t column,
                                             const llvm::Twine &message)>;

/// Parses the strings of `#layout.blocked<logical to stored>`. Reports the
/// first error and returns std::nullopt.
std::optional<BlockedLayout> parseBlocked(llvm::StringRef logical,
                                          llvm::StringRef stored,
                                          BlockedError error);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_FAMILIES_BLOCKED_H
