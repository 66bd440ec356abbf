//===- ConversionSummary.h - A conversion in numbers ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a `layout.convert` between two types takes, for those who ask and do not
// compile: the plan that is priced and lowered
// (ConversionPlan.h), and what follows from it.
//
//   1x61x7x7xf32 from row-major to NCHW16c, padding zero
//     relayout by copy, 11,956 bytes read, 12,544 written, 588 of them padding;
//     2989 runs of 4 bytes
//
// Laws: nothing is moved, and the cost is 0, iff the way is None; all sizes are
// bytes of the shape, dynamic dims counting as the target's assumed size.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONVERSIONSUMMARY_H
#define LAYOUT_ANALYSIS_CONVERSIONSUMMARY_H

#include "layout/Analysis/ConversionPlan.h"

namespace mlir {
namespace layout {

struct ConversionSummary {
  ConversionPlan plan;
  /// Of padding whose value the result's type states.
  int64_t paddingBytes = 0;
  /// How often `plan.runBytes` are moved.
  int64_t runs = 0;
  Cost cost = 0;
  /// How it is carried out, on one line.
  std::string how;

  /// Both types have one shape and element type, and verified layouts.
  static ConversionSummary get(RankedTensorType from, RankedTensorType to,
                               TargetInterface target);

  /// The same of a plan that is known, to the type `to`.
  static ConversionSummary get(const ConversionPlan &plan, RankedTensorType to,
                               TargetInterface target);
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_CONVERSIONSUMMARY_H
