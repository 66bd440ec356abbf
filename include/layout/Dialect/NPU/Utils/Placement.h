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
// Laws:
//  * blocks with a place keep it; the others get one that their rule allows;
//  * lowerBound <= peak, and no two blocks overlap in both.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_PLACEMENT_H
#define LAYOUT_DIALECT_NPU_UTILS_PLACEMENT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <functional>
#include <optional>
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
};

struct Placement {
  std::vector<int64_t> places; // one for each block
  int64_t peak = 0;
  int64_t lowerBound = 0;
  int64_t lowerBoundAt = 0; // a time at which as many bytes live
};

/// Nothing where a block has no place below its limit in any order tried.
std::optional<Placement> placeBlocks(const std::vector<PlacedBlock> &blocks);

/// The bound alone.
Placement boundBlocks(const std::vector<PlacedBlock> &blocks);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_UTILS_PLACEMENT_H
