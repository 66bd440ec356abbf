//===- Placement.h - Live ranges in one memory ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dynamic storage allocation: blocks with a live range and a size go to places
// of one memory so that no two that live at the same time share bytes.
//
//     sizes 4, 2, 2, live [0, 2), [0, 1), [1, 2): peak 6 at places 0, 4, 4
//
// The bytes that live at one time are a bound from below on the peak. Several
// orders are tried, each block at its lowest free place, until one meets the
// bound; then the best one is kept. Few blocks are tried in every order.
//
// A block takes all bytes from its place on, in every core, or just those that
// it owns: then another one may lie in its holes, and the bound is that of the
// core in which most lives.
//
//     sizes 8, 4, the first owns [0, 4) alone: peak 8 at places 0, 4
//
// Laws:
//  * blocks with a place keep it; the others get one that their rule allows;
//  * lowerBound <= peak, no two blocks that live at one time share bytes, and
//    the peak is that of whole blocks, holes included.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_PLACEMENT_H
#define LAYOUT_DIALECT_NPU_UTILS_PLACEMENT_H

#include "layout/Dialect/NPU/Utils/OwnedBytes.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>
#include <memory>
#include <vector>

namespace mlir {
namespace npu {

struct PlacedBlock {
  int64_t begin = 0, end = 1; // lives from `begin` to before `end`
  int64_t size = 0;
  std::optional<int64_t> place; // fixed, or given by `placeBlocks`
  /// The lowest place from `least` on that is allowed.
  std::function<int64_t(int64_t least)> fit = [](int64_t least) {
    return least;
  };
  /// Places do not reach this far, the size included.
  std::optional<int64_t> limit;
  /// Of [0, size) what it owns; without it, all of that in every core.
  std::shared_ptr<const OwnedBytes> owned;
};

struct Placement {
  std::vector<int64_t> places; // one for each block
  int64_t peak = 0;
  int64_t lowerBound = 0;
  int64_t lowerBoundAt = 0; // a time at which as many bytes live
};

/// Nothing where a block has no place below its limit in any order tried. With
/// `anyWillDo` the first placement is taken, whatever its peak.
std::optional<Placement> placeBlocks(const std::vector<PlacedBlock> &blocks,
                                     bool anyWillDo = false);

/// The bound alone.
Placement boundBlocks(const std::vector<PlacedBlock> &blocks);

/// For each block the others that live at a time at which it does.
std::vector<std::vector<size_t>>
findNeighbors(const std::vector<PlacedBlock> &blocks);

/// The lowest place of `block` from `least` on that is free of `others`, which
/// have places; it may be beyond the limit.
int64_t findFreePlace(const std::vector<PlacedBlock> &blocks, size_t block,
                      int64_t least, llvm::ArrayRef<size_t> others,
                      const std::vector<int64_t> &places);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_UTILS_PLACEMENT_H
