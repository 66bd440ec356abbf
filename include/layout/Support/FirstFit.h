//===- FirstFit.h - First-fit placement of blocks ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First fit: a block of memory is placed at the lowest address at which it
// overlaps no block that is already placed.
//
//     others at [0, 4) and [6, 8), 2 bytes: place 4; aligned to 8 bytes: 8
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_FIRSTFIT_H
#define LAYOUT_SUPPORT_FIRSTFIT_H

#include <cstdint>
#include <optional>

namespace mlir::layout {

/// Finds the lowest address >= `least` that `fit` allows and at which no block
/// of `others` overlaps. `fit(least)` returns the lowest allowed address >=
/// `least`. `getPast(other, place)` returns std::nullopt if a block at `place`
/// is disjoint from `other`, else the lowest address > `place` at which it may
/// be disjoint. Fastest if `others` are sorted by address.
template <typename Others, typename Fit, typename GetPast>
int64_t findFirstFit(int64_t least, const Others &others, const Fit &fit,
                     const GetPast &getPast) {
  int64_t place = fit(least);
  for (bool isFree = false; !isFree;) {
    isFree = true;
    for (const auto &other : others)
      while (std::optional<int64_t> past = getPast(other, place)) {
        place = fit(*past);
        isFree = false;
      }
  }
  return place;
}

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_FIRSTFIT_H
