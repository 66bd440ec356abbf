//===- FloatRanges.h - Bounds of f32 values ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interval analysis of the elements of f32 tensors and of the values in bodies
// of linalg ops. Upstream's IntegerRangeAnalysis has integers only.
//
//     %r = max(max(%x, 0), 6)           [0, 6]
//     %d = %r - %t, %t in [-1, 1]       [-1, 7]
//     %s = %y - %m, %m = max over %y    [-inf, 0]
//
// Laws:
//  * a value that is not NaN is within its range, for any arguments of the
//    function. A range whose `low` is +0 excludes -0;
//  * bounds are computed in f32, whose rounding is monotonic.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_FLOATRANGES_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_FLOATRANGES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>

namespace mlir::layout {

struct FloatRange {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  /// Returns the range without values, which is the identity of `join`.
  static FloatRange none() {
    return {std::numeric_limits<float>::infinity(),
            -std::numeric_limits<float>::infinity()};
  }
  static FloatRange of(float value) { return {value, value}; }

  bool isEmpty() const { return low > high; }
  /// Returns true if -0 is not in the range.
  bool excludesMinusZero() const;
  /// Returns the smallest range that contains this range and `other`.
  FloatRange join(const FloatRange &other) const;
};

/// Computes and caches ranges of values. The IR must not change while it is
/// used.
class FloatRanges {
public:
  /// Returns the range of an f32 value, or of the elements of an f32 tensor.
  FloatRange get(Value value);

private:
  FloatRange compute(Value value);
  FloatRange ofArgument(BlockArgument argument);
  FloatRange ofResult(linalg::LinalgOp op, unsigned result);
  FloatRange ofReduction(linalg::LinalgOp op, unsigned result);
  FloatRange ofArith(Operation *op);
  FloatRange ofDifference(Operation *op, FloatRange a, FloatRange b);
  FloatRange ofProduct(Operation *op, FloatRange a, FloatRange b);

  llvm::DenseMap<Value, FloatRange> ranges;
  unsigned depth = 0;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_FLOATRANGES_H
