//===- StaticCopyCost.h - What a copy of digits moves -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decision weighs thousands of conversions and makes few. How much one of
// them moves on a static shape is told by the same steps that plan it
// (DigitRefinement.h, DigitBoxes.h), taken over numbers in place of size
// expressions. What depends on one layout only is read once.
//
//     1x64x56x56, row-major to NCHW16c:   200704 elements, runs of 1
//     1x64x56x56, NCHW16c to NHWC:        200704 elements, runs of 16
//     1x61x56x56, NCHW16c to NHW16c:      64 channels of each, runs of 16
//     1x64x56x56, NCHW8c to NCHW12c:      gathered
//
// Law: where an answer is given, the plan reads and writes so many elements and
// has that common run; there is no plan where the answer is that elements are
// gathered.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_STATICCOPYCOST_H
#define LAYOUT_LIB_TARGETS_CPU_STATICCOPYCOST_H

#include "layout/Algebra/LayoutMap.h"
#include "llvm/Support/MathExtras.h"

namespace mlir {
namespace layout {

/// What a SizeExpr is on a static shape. Products stay at the largest number.
class Number {
public:
  Number(int64_t value = 0) : value(value) {}

  Number operator*(Number other) const {
    int64_t product;
    return llvm::MulOverflow(value, other.value, product) ? INT64_MAX : product;
  }
  Number ceilDiv(int64_t divisor) const {
    return int64_t(llvm::divideCeil(value, divisor));
  }
  bool operator==(Number other) const { return value == other.value; }
  bool operator!=(Number other) const { return value != other.value; }
  bool isZero() const { return value == 0; }
  bool isConstantEqual(int64_t other) const { return value == other; }
  bool isProvablyAtLeast(Number other) const { return value >= other.value; }
  std::optional<int64_t> getConstant() const { return value; }
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t>) const {
    return value;
  }

private:
  int64_t value;
};

/// What an IndexExpr is on a static shape.
struct NumberedLinear {
  /// floor(dim / divisor) mod modulus, or a digit of several dims.
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
    Number stride;
  };

  NumberedLinear(Number constant = 0) : constant(constant) {}
  void walkDims(llvm::function_ref<void(unsigned)> fn) const {
    for (const Term &term : terms)
      term.digit.walkDims(fn);
  }

  Number constant;
  llvm::SmallVector<Term, 2> terms;
};

/// The axes of a layout on a shape, as numbers.
struct StoredDigits {
  struct Axis {
    NumberedLinear value;
    Number extent;
  };
  llvm::SmallVector<Axis, 0> axes; // one for each layout of a type
  int64_t size = 0;                // of storage

  /// Nothing where a number is not known, or too large to be multiplied without
  /// care.
  static std::optional<StoredDigits> read(const LayoutMap &map,
                                          llvm::ArrayRef<int64_t> shape);
};

struct DigitMove {
  int64_t read, written;
  /// Of these, neighbors on both sides.
  int64_t run;
  bool isGathered = false;
};

/// The copy between two layouts of tensors of this shape, whose padding may
/// hold anything and whose elements can be padded with. Nothing where a plan
/// has to tell.
std::optional<DigitMove> findMoveOfDigits(const StoredDigits &from,
                                          const StoredDigits &to,
                                          llvm::ArrayRef<int64_t> shape);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_STATICCOPYCOST_H
