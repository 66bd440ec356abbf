//===- OneDnn.h - oneDNN tags and descriptors -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN describes a layout by a tag or by a blocking descriptor. The tag
// `aBcd16b` lists the dims slowest first, blocked dims in upper case, and then
// the blocks, so that 16 indices of b are fastest. Blocks of one dim are listed
// from major to minor. The letters are a, b, .. in the order of the dims, or
// the names of oneDNN (nchw, oihw, goihw, ..). A blocking descriptor has
// constant strides of the dims above their blocks, and is valid for shapes up
// to its padded dims. `size` is the number of elements of the storage. It is
// printed only if it differs from the default of oneDNN, the largest extent
// that one dim spans:
//
//     aBcd8b on 2x17x5x4, (1, 16, 4, 3) at 952:
//       strides=[480,160,32,8] blks=[8] idxs=[1] padded=[2,24,5,4]
//
// Laws: a tag is valid for every size of its dims. Importing an exported text
// gives an equal map on the shape.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_ONEDNN_H
#define LAYOUT_INTEROP_ONEDNN_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

struct OneDnnLayout {
  /// A block of `size` consecutive indices of a dim. In storage, it is slower
  /// than all later blocks.
  struct Block {
    unsigned dim = 0;
    int64_t size = 1;
  };
  /// The numbers of a blocking descriptor, which a tag does not have.
  struct Numbers {
    llvm::SmallVector<int64_t> strides; // of the dims above their blocks
    llvm::SmallVector<int64_t> padded;  // sizes of the dims
    int64_t size = 0;                   // of the storage, in elements
  };

  static constexpr unsigned kMaxTagRank = 12; // a to l

  unsigned rank = 0;
  llvm::SmallVector<Block> blocks;   // slowest first
  llvm::SmallVector<unsigned> order; // of a tag: the dims, slowest first
  std::optional<Numbers> numbers;    // of a descriptor

  std::optional<LayoutMap> getMap(Sizes shape, FailureReason error) const;
  llvm::SmallVector<int64_t> getStatedShape() const;
  std::string str() const;

  /// Returns for each dim the product of the sizes of its blocks, or
  /// std::nullopt on overflow.
  std::optional<llvm::SmallVector<int64_t>> getBlockSizes() const;
  /// Computes the size of the storage, in elements, that oneDNN assumes for the
  /// strides and padded dims of `numbers`, or std::nullopt on overflow.
  std::optional<int64_t> computeSize() const;
};

std::optional<OneDnnLayout> parseOneDnn(llvm::StringRef text, TextError error);

/// Returns the text of `map` on a shape of `sizes` as a tag if possible, else
/// as a blocking descriptor. If neither denotes it, reports why to `error` and
/// returns std::nullopt.
std::optional<std::string> exportOneDnn(const LayoutMap &map, Sizes sizes,
                                        FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_INTEROP_ONEDNN_H
