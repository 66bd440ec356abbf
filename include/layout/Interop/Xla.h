//===- Xla.h - Tiled layouts as XLA writes them -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `{1,0:T(8,128)(2,1)}`: the dims from the fastest to the slowest, and tiles.
// Written slowest first the dims are a sequence. A tile acts on the last ones,
// each with its own factor: a dim becomes its quotient, in its place, and its
// remainder, at the end of the sequence, in the order of the dims. The next
// tile acts on the sequence that this leaves. A `*` fuses a dim with the next
// faster one before that. Storage is row-major over the last sequence.
//
//     {1,0:T(2,2)} on 3x5:  (d0 floordiv 2, d1 floordiv 2, d0 mod 2, d1 mod 2)
//                           of 2x3x2x2; (2, 3) is at 17 of 24
//
// A tile longer than the sequence sees dims of size 1 before it.
//
// Laws: the size of every dim may be unknown; importing an exported text gives
// the same map on the shape; a text that import reads and export writes again
// is written the same way every time.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_XLA_H
#define LAYOUT_INTEROP_XLA_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

struct XlaLayout {
  using Tile = llvm::SmallVector<int64_t, 4>;
  /// The entry `*` of a tile.
  static constexpr int64_t kFuse = -1;

  llvm::SmallVector<unsigned> minorToMajor;
  llvm::SmallVector<Tile> tiles;

  std::optional<LayoutMap> getMap(Sizes shape, Refusal error) const;
  llvm::SmallVector<int64_t> getStatedShape() const;
  std::string str() const;
};

std::optional<XlaLayout> parseXla(llvm::StringRef text, TextError error);

/// The text for `map` on `sizes`, or why there is none.
std::optional<std::string> exportXla(const LayoutMap &map, Sizes sizes,
                                     Refusal error = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTEROP_XLA_H
