//===- Compare.h - How far apart two results are ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   max abs difference  max |a - b|
//   max relative        max |a - b| / max |a|       (one scale for the array)
//
// Elements that compare equal, equal infinities included, differ by 0. A NaN on
// either side, and an infinity on one side only, make both figures NaN or
// infinite, so that no threshold is ever met by them. Two arrays without
// elements differ by 0.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_COMPARE_H
#define LAYOUT_RUNTIME_COMPARE_H

namespace mlir {
namespace layout {
class Array;

struct Difference {
  double maxAbs = 0;
  double maxRel = 0;

  /// False for NaN.
  bool isWithin(double limit) const { return maxRel <= limit; }
};

/// The difference of two arrays of the same shape and element kind.
Difference compare(const Array &a, const Array &b);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_RUNTIME_COMPARE_H
