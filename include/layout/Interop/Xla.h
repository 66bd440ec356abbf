//===- Xla.h - XLA tiled layouts --------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `{1,0:T(8,128)(2,1)}`: the dims from minor to major, followed by tiles. The
// tiles transform the sequence of dims, slowest first. A tile applies to the
// last dims, one factor each. A dim is replaced by its quotient; its remainder
// is appended to the sequence, in the order of the dims. The next tile applies
// to the resulting sequence. A `*` first fuses a dim with the next faster one.
// Storage is row-major over the final sequence.
//
//     {1,0:T(2,2)} on 3x5:  (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)
//                           of 2x3x2x2; (2, 3) is at 17 of 24
//
// If a tile is longer than the sequence, unit dims are prepended.
//
// Laws: every size may be dynamic. Importing an exported text gives an equal
// map on the shape. Exporting is deterministic, so that a text stabilizes after
// one import and export.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_XLA_H
#define LAYOUT_INTEROP_XLA_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

struct XlaLayout {
  using Tile = llvm::SmallVector<int64_t, 4>;
  /// The entry `*` of a tile, which fuses a dim with the next faster one.
  static constexpr int64_t kFuse = -1;

  llvm::SmallVector<unsigned> minorToMajor;
  llvm::SmallVector<Tile> tiles;

  std::optional<LayoutMap> getMap(Sizes shape, FailureReason error) const;
  llvm::SmallVector<int64_t> getStatedShape() const;
  std::string str() const;
};

std::optional<XlaLayout> parseXla(llvm::StringRef text, TextError error);

/// Returns the text of `map` on a shape of `sizes` in XLA's notation. If no
/// tiled layout denotes it, reports why to `error` and returns std::nullopt.
std::optional<std::string> exportXla(const LayoutMap &map, Sizes sizes,
                                     FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_INTEROP_XLA_H
