//===- AddressPlacement.h - Dynamic storage allocation ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves dynamic storage allocation: places blocks with a live range and a size
// in one memory so that no two that are live at the same time overlap.
//
//     sizes 4, 2, 2, live [0, 2), [0, 1), [1, 2): peak 6 at places 0, 4, 4
//
// The live bytes at any time are a lower bound on the peak. Blocks are placed
// first fit in several orders until the peak meets the bound; otherwise the
// best placement is used. All orders of a few blocks are tried.
//
// A block owns all its bytes in every core, or only the given pieces. In the
// latter case other blocks may be placed in its holes, and the bound is that of
// the core with the most live bytes.
//
//     sizes 8, 4, the first owns [0, 4) alone: peak 8 at places 0, 4
//
// Laws:
//  * blocks with a fixed place keep it; others get a place that `fit` allows;
//  * lowerBound <= peak, no two simultaneously live blocks share bytes, and the
//    peak is that of whole blocks, holes included.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_ADDRESSPLACEMENT_H
#define LAYOUT_DIALECT_NPU_UTILS_ADDRESSPLACEMENT_H

#include "layout/Dialect/NPU/Utils/OwnedBytes.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>
#include <memory>
#include <vector>

namespace mlir::npu {

/// A block of bytes that is placed in one memory, with its live range in
/// numbered program points.
struct PlacedBlock {
  int64_t begin = 0, end = 1; // live in [begin, end)
  int64_t size = 0;
  std::optional<int64_t> place; // set if fixed
  /// Returns the lowest place, i.e. start byte, from `least` on that the block
  /// allows, e.g. an aligned one.
  std::function<int64_t(int64_t least)> fit = [](int64_t least) {
    return least;
  };
  /// An upper bound on place + size, if there is one.
  std::optional<int64_t> limit;
  /// The byte ranges of [0, size), per core, that the block owns; others may be
  /// placed between them. If it is a null pointer, the block owns [0, size) in
  /// every core.
  std::shared_ptr<const OwnedBytes> owned;
};

/// The places (start bytes) of blocks, the peak, i.e. the highest end of a
/// block, and a lower bound on the peak of every placement.
struct AddressPlacement {
  std::vector<int64_t> places; // one for each block
  int64_t peak = 0;
  int64_t lowerBound = 0;
  int64_t lowerBoundAt = 0; // a time with `lowerBound` live bytes
};

/// Places all blocks in several orders and returns the placement with the
/// lowest peak. Returns std::nullopt if in each of these orders a block has no
/// place below its limit. With `anyWillDo`, returns the first placement found,
/// regardless of its peak.
std::optional<AddressPlacement>
placeBlocks(const std::vector<PlacedBlock> &blocks, bool anyWillDo = false);

/// Returns a lower bound on the peak of all placements of `blocks`, and a time
/// at which the live blocks need so many bytes. Places no block, so the list of
/// places is empty.
AddressPlacement boundBlocks(const std::vector<PlacedBlock> &blocks);

/// Returns for each block the other blocks whose live range overlaps its own.
std::vector<std::vector<size_t>>
findNeighbors(const std::vector<PlacedBlock> &blocks);

/// Returns the lowest place from `least` on that `block` allows and at which it
/// shares no bytes with any block i of `others`, which is at `places[i]`.
/// Ignores the limit of `block`.
int64_t findFreePlace(const std::vector<PlacedBlock> &blocks, size_t block,
                      int64_t least, llvm::ArrayRef<size_t> others,
                      const std::vector<int64_t> &places);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_ADDRESSPLACEMENT_H
