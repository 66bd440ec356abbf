//===- WholeDigits.h - What a copy of digits moves --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decision weighs thousands of conversions and makes few. How much one of
// them moves on a static shape follows from numbers alone: the plan of its
// boxes (DigitCopy.h) without its expressions. What depends on one layout only
// is read once.
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

#ifndef LAYOUT_LIB_TARGETS_CPU_WHOLEDIGITS_H
#define LAYOUT_LIB_TARGETS_CPU_WHOLEDIGITS_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir {
namespace layout {

/// The axes of a layout on a shape, as numbers.
struct StoredDigits {
  /// Positions lo * i + .., i < end / lo, of a dim, and what a step of i is.
  struct Term {
    unsigned dim;
    int64_t lo, end; // 0: to the size of the dim
    int64_t stride;
  };
  struct Axis {
    llvm::SmallVector<Term, 1> terms;
    /// The dims of digits that are not those of one dim, as bits.
    uint64_t mixedDims = 0;
    int64_t mixedStride = 0; // the largest
    bool hasConstant = false;
    bool isSwizzled = false;
    int64_t extent = 0;
  };
  llvm::SmallVector<Axis, 0> axes; // one for each layout of a type
  int64_t size = 0;                // of storage

  /// Where every position of storage is an element of its own: the digits with
  /// more than one value, fastest first. The stride of each follows.
  struct Dense {
    struct Digit {
      unsigned dim;
      int64_t lo, extent;
    };
    llvm::SmallVector<Digit, 8> digits;
    /// Where dims are cut, without their ends.
    llvm::SmallVector<std::pair<unsigned, int64_t>, 4> cuts;
  };
  std::optional<Dense> dense;

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

#endif // LAYOUT_LIB_TARGETS_CPU_WHOLEDIGITS_H
