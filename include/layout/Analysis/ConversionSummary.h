//===- ConversionSummary.h - Statistics of a conversion ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost and the sizes of a `layout.convert` between two types, without
// compiling it: the plan that is priced and lowered (ConversionPlan.h), and
// what follows from it.
//
//   1x61x7x7xf32 from row-major to NCHW16c, padding zero
//     relayout by copy, 11,956 bytes read, 12,544 written, 588 of them padding;
//     2989 runs of 4 bytes
//
// Laws: no byte moves, and the cost is 0, iff the way is None. All sizes are in
// bytes; dynamic dims count as the target's assumed size.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONVERSIONSUMMARY_H
#define LAYOUT_ANALYSIS_CONVERSIONSUMMARY_H

#include "layout/Analysis/ConversionPlan.h"

namespace mlir::layout {

struct ConversionSummary {
  ConversionPlan plan;
  /// The bytes of padding in the result if its type states their value and the
  /// conversion touches any byte, or else 0.
  int64_t paddingBytes = 0;
  /// The number of segments of `plan.runBytes` bytes that are moved, or 0 if
  /// the plan touches no byte.
  int64_t runs = 0;
  Cost cost = 0;
  /// The steps of the conversion, on one line.
  std::string how;

  /// Computes the plan, the cost and the sizes in bytes of a conversion between
  /// types that are equal except for their layouts. The layouts must be
  /// verified.
  static ConversionSummary get(RankedTensorType from, RankedTensorType to,
                               TargetInterface target);

  /// Computes the cost and the sizes in bytes of the conversion to type `to` by
  /// `plan`.
  static ConversionSummary get(const ConversionPlan &plan, RankedTensorType to,
                               TargetInterface target);
};

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_CONVERSIONSUMMARY_H
