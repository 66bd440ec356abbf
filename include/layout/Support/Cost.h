//===- Cost.h - Costs that stop below infinity ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cost is an integer that is not negative, or kInfiniteCost for what is
// forbidden. Whoever counts chooses the unit.
//
//     addCosts(3, 4)                           // 7
//     addCosts(3, kInfiniteCost)               // kInfiniteCost
//     scaleCost(kInfiniteCost / 2, 3)          // kInfiniteCost - 1
//
// Laws: addition is commutative and associative; a result is infinite only
// where an operand is, and a finite one too large to represent is
// kInfiniteCost - 1.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_COST_H
#define LAYOUT_SUPPORT_COST_H

#include <cstdint>
#include <limits>

namespace mlir {
namespace layout {

using Cost = int64_t;

/// The cost of what is forbidden.
constexpr Cost kInfiniteCost = std::numeric_limits<int64_t>::max();

/// a + b for costs >= 0; finite sums stop below kInfiniteCost.
inline Cost addCosts(Cost a, Cost b) {
  if (a == kInfiniteCost || b == kInfiniteCost)
    return kInfiniteCost;
  return a > kInfiniteCost - 1 - b ? kInfiniteCost - 1 : a + b;
}

/// a * b for a, b >= 0, stopping below kInfiniteCost.
inline Cost scaleCost(Cost a, int64_t b) {
  if (a == kInfiniteCost)
    return a;
  return b != 0 && a > (kInfiniteCost - 1) / b ? kInfiniteCost - 1 : a * b;
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_COST_H
