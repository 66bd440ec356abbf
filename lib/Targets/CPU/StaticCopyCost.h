//===- StaticCopyCost.h - Elements that a copy of digits moves --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes how many elements a conversion moves on a static shape. The decision
// estimates thousands of conversions and inserts few, so this runs the steps of
// the planner (CommonRefinement.h, BoxDecomposition.h) on integers instead of
// size expressions. Each layout is read once.
//
//     1x64x56x56, row-major to NCHW16c:   200704 elements, segments of 1
//     1x64x56x56, NCHW16c to NHWC:        200704 elements, segments of 16
//     1x61x56x56, NCHW16c to NHW16c:      64 channels of each, segments of 16
//     1x64x56x56, NCHW8c to NCHW12c:      gathered
//
// Law: a result that is not gathered agrees with the CopyPlan on the elements
// that are read and written, and on the common contiguous segment. A gathered
// conversion has no CopyPlan.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_STATICCOPYCOST_H
#define LAYOUT_LIB_TARGETS_CPU_STATICCOPYCOST_H

#include "layout/Algebra/LayoutMap.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::layout {

/// A size expression (`SizeExpr`) evaluated on a static shape, i.e. an integer.
/// Products saturate at INT64_MAX.
class SaturatedInt {
public:
  SaturatedInt(int64_t value = 0) : value(value) {}

  SaturatedInt operator*(SaturatedInt other) const {
    int64_t product;
    return llvm::MulOverflow(value, other.value, product) ? INT64_MAX : product;
  }
  SaturatedInt ceilDiv(int64_t divisor) const {
    return int64_t(llvm::divideCeil(value, divisor));
  }
  bool operator==(SaturatedInt other) const { return value == other.value; }
  bool operator!=(SaturatedInt other) const { return value != other.value; }
  bool isZero() const { return value == 0; }
  bool isConstantEqual(int64_t other) const { return value == other; }
  bool isProvablyAtLeast(SaturatedInt other) const {
    return value >= other.value;
  }
  std::optional<int64_t> getConstant() const { return value; }
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t>) const {
    return value;
  }

private:
  int64_t value;
};

/// An index expression (`IndexExpr`) evaluated on a static shape: the sum of
/// digits times strides, and a constant.
struct StaticIndexExpr {
  /// The digit floor(dim / divisor) mod modulus of one dim, without mod if the
  /// modulus is 0. Or a digit of several dims, those whose bits are set in
  /// `mixedDims`.
  struct Digit {
    unsigned dim = 0;
    uint64_t mixedDims = 0; // as bits
    bool isSwizzled = false;
    int64_t divisor = 1, modulus = 0;

    bool isDim() const { return mixedDims == 0; }
    bool isWholeSource() const { return divisor == 1 && modulus == 0; }
    void walkDims(llvm::function_ref<void(unsigned)> fn) const {
      if (isDim())
        return fn(dim);
      for (uint64_t left = mixedDims; left; left &= left - 1)
        fn(llvm::countr_zero(left));
    }
  };
  struct Term {
    Digit digit;
    SaturatedInt stride;
  };

  StaticIndexExpr(SaturatedInt constant = 0) : constant(constant) {}
  void walkDims(llvm::function_ref<void(unsigned)> fn) const {
    for (const Term &term : terms)
      term.digit.walkDims(fn);
  }

  SaturatedInt constant;
  llvm::SmallVector<Term, 2> terms;
};

/// The stored axes of a layout on a static shape, and the size of the storage.
struct StaticStorage {
  struct Axis {
    StaticIndexExpr value;
    SaturatedInt extent;
  };
  llvm::SmallVector<Axis, 0>
      axes;         // no inline elements: one per layout and type
  int64_t size = 0; // of the storage, in elements

  /// Evaluates the stored axes of `map` on `shape`. Returns std::nullopt if the
  /// space is not `buffer`, the map has replicas, a size is dynamic, 0 or above
  /// 2^24, or a stride is not positive. Also returns std::nullopt for more than
  /// 64 dims or a storage of more than 2^48 elements.
  static std::optional<StaticStorage> read(const LayoutMap &map,
                                           llvm::ArrayRef<int64_t> shape);
};

struct StaticCopyCount {
  int64_t read, written;
  /// The length in elements of the contiguous segments that source and result
  /// have in common.
  int64_t run;
  bool isGathered = false;
};

/// Returns how many elements a copy from storage `from` to storage `to` of a
/// tensor of `shape` reads and writes. Returns std::nullopt if the caller has
/// to make a CopyPlan, e.g. for some swizzled axes. Assumes that the result
/// states no padding, and that its element type has a zero.
std::optional<StaticCopyCount> countStaticCopy(const StaticStorage &from,
                                               const StaticStorage &to,
                                               llvm::ArrayRef<int64_t> shape);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_STATICCOPYCOST_H
