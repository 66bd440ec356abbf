//===- WholeDigits.h - What a copy of digits moves --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decision weighs thousands of conversions and makes few. Between layouts
// whose axes are digits of dims, how much a conversion moves follows from
// numbers alone, without the plan of its boxes (DigitCopy.h).
//
//     1x64x56x56, row-major to NCHW16c:   200704 elements, runs of 1
//     1x64x56x56, NCHW16c to NHWC:        200704 elements, runs of 16
//     1x61x56x56, NCHW16c to NHW16c:      64 channels of each, runs of 16
//
// Law: where an answer is given, the plan reads and writes so many elements and
// has that common run.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_WHOLEDIGITS_H
#define LAYOUT_LIB_ANALYSIS_WHOLEDIGITS_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir {
namespace layout {

struct DigitMove {
  /// Read once and written once.
  int64_t elements;
  /// Of these, neighbors on both sides.
  int64_t run;
};

/// The copy between two layouts of tensors of this shape, whose padding may
/// hold anything. Nothing where a plan has to tell: sizes are dynamic, an axis
/// is no digit of one dim, or the digits of the two do not nest.
std::optional<DigitMove> findMoveOfDigits(const LayoutMap &from,
                                          const LayoutMap &to,
                                          llvm::ArrayRef<int64_t> shape);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ANALYSIS_WHOLEDIGITS_H
