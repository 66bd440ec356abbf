//===- Compare.h - Numerical difference of two arrays -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   max abs difference  max |a - b|
//   max relative        max |a - b| / max |a|       (one scale for the array)
//
// Elements that compare equal, including equal infinities, differ by 0. A NaN
// on either side, or an infinity on one side only, makes both numbers NaN or
// infinite, so that no threshold accepts them. Two empty arrays differ by 0.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_COMPARE_H
#define LAYOUT_RUNTIME_COMPARE_H

namespace mlir::layout {
class Array;

struct Difference {
  double maxAbs = 0;
  double maxRel = 0;

  /// Returns true if the relative difference is at most `limit`; false for NaN.
  bool isWithin(double limit) const { return maxRel <= limit; }
};

/// Returns the largest absolute difference of an element of `a` and the same
/// element of `b`, and its ratio to the largest finite absolute value in `a`.
/// Both are NaN if an element is NaN. The ratio is 0 if no element differs, and
/// otherwise infinite if that value is 0. The arrays must have equal shapes and
/// element kinds.
Difference compare(const Array &a, const Array &b);

} // namespace mlir::layout

#endif // LAYOUT_RUNTIME_COMPARE_H
