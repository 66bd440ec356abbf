//===- Cost.h - Saturating costs --------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cost is a nonnegative integer, or kInfiniteCost for a forbidden choice. The
// unit is up to the caller.
//
//     addCosts(3, 4)                           // 7
//     addCosts(3, kInfiniteCost)               // kInfiniteCost
//     scaleCost(kInfiniteCost / 2, 3)          // kInfiniteCost - 1
//
// Laws: addition is commutative and associative. A result is infinite only if
// an operand is infinite. A finite result that is too large to represent is
// kInfiniteCost - 1.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_COST_H
#define LAYOUT_SUPPORT_COST_H

#include <cstdint>
#include <limits>

namespace mlir::layout {

using Cost = int64_t;

/// The cost of a forbidden choice.
constexpr Cost kInfiniteCost = std::numeric_limits<int64_t>::max();

/// Adds the costs a, b >= 0. An infinite cost stays infinite; finite sums
/// saturate at kInfiniteCost - 1.
inline Cost addCosts(Cost a, Cost b) {
  if (a == kInfiniteCost || b == kInfiniteCost)
    return kInfiniteCost;
  return a > kInfiniteCost - 1 - b ? kInfiniteCost - 1 : a + b;
}

/// Multiplies a cost a >= 0 by b >= 0. An infinite cost stays infinite, even if
/// b is 0; finite products saturate at kInfiniteCost - 1.
inline Cost scaleCost(Cost a, int64_t b) {
  if (a == kInfiniteCost)
    return a;
  return b != 0 && a > (kInfiniteCost - 1) / b ? kInfiniteCost - 1 : a * b;
}

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_COST_H
