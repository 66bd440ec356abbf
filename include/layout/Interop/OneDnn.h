//===- OneDnn.h - Format tags and blocking descriptors ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN names a layout in two ways. A tag, `aBcd16b`, has the dims slowest
// first, in upper case where a part of them stands below, and then the parts:
// 16 indices of b are the fastest. Parts of one dim stand from major to minor.
// Letters are a, b, .. in the order of the dims, or the names that oneDNN
// gives them (nchw, oihw, goihw, ..). A blocking descriptor has the stride of
// each dim above its parts in numbers, and holds for shapes up to its padded
// dims; `size` is the number of elements of the storage where that is not the
// one that oneDNN computes, the most that one dim spans alone:
//
//     aBcd8b on 2x17x5x4, (1, 16, 4, 3) at 952:
//       strides=[480,160,32,8] blks=[8] idxs=[1] padded=[2,24,5,4]
//
// Laws: a tag holds for every size of its dims; importing an exported text
// gives the same map on the shape.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_ONEDNN_H
#define LAYOUT_INTEROP_ONEDNN_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

struct OneDnnLayout {
  /// `size` indices of a dim, below all that is not named by a later block.
  struct Block {
    unsigned dim = 0;
    int64_t size = 1;
  };
  /// The part of a descriptor that a tag leaves to the shape.
  struct Numbers {
    llvm::SmallVector<int64_t> strides; // of the dims above their blocks
    llvm::SmallVector<int64_t> padded;
    int64_t size = 0; // of the storage, in elements
  };

  static constexpr unsigned kMaxTagRank = 12; // a to l

  unsigned rank = 0;
  llvm::SmallVector<Block> blocks;   // slowest first
  llvm::SmallVector<unsigned> order; // of a tag: the dims, slowest first
  std::optional<Numbers> numbers;    // of a descriptor

  std::optional<LayoutMap> getMap(Sizes shape, Refusal error) const;
  llvm::SmallVector<int64_t> getStatedShape() const;
  std::string str() const;

  /// The product of the blocks of each dim; nothing where one leaves int64.
  std::optional<llvm::SmallVector<int64_t>> getBlockSizes() const;
  /// The size that oneDNN computes for `numbers`; nothing past int64.
  std::optional<int64_t> computeSize() const;
};

std::optional<OneDnnLayout> parseOneDnn(llvm::StringRef text, TextError error);

/// The text for `map` on `sizes`, a tag where there is one, or why there is
/// none.
std::optional<std::string> exportOneDnn(const LayoutMap &map, Sizes sizes,
                                        Refusal error = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTEROP_ONEDNN_H
