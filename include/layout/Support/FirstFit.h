//===- FirstFit.h - The lowest free place -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First fit: a block of memory goes to the lowest place at which it shares no
// byte with blocks that already have one.
//
//     others at [0, 4) and [6, 8), 2 bytes: place 4; aligned to 8 bytes: 8
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_FIRSTFIT_H
#define LAYOUT_SUPPORT_FIRSTFIT_H

#include <cstdint>
#include <optional>

namespace mlir {
namespace layout {

/// The lowest place from `least` on that `fit` allows and no other block takes.
/// `fit(least)` is the lowest allowed place from `least` on. `getPast(other,
/// place)` is nothing where a block at `place` shares no byte with `other`,
/// else the lowest place past `place` at which that may be so. Fastest where
/// `others` are sorted by place.
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

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_FIRSTFIT_H
