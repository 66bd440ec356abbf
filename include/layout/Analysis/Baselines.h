//===- Baselines.h - Layouts as other compilers choose them -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What compilers do instead of minimizing, after their published descriptions,
// over the same candidates as the solver, so that its results can be compared
// with theirs. All of them start from ops that insist on a layout (anchors:
// nodes with a need of their own, and those with a single configuration) and
// let the others follow, but for the last one, which changes nothing:
//
//   forward         an op takes the layout of its first operand (TVM's
//                   ConvertLayout)
//   priority        constraints spread from anchors to both sides, breadth
//                   first; the first to arrive holds (XLA's layout assignment)
//   rank            from all as typed, in one pass an op changes if that lowers
//                   the ranks of the converted tensors, summed (ONNX Runtime's
//                   transpose optimizer)
//   majority        an op takes the layout that most of its tensors have at
//                   their other ends (OpenVINO's layout optimization)
//   bidirectional   forward, then backward: an op gives its result the layout
//                   that all consumers want
//   greedy          each op says what it is stored in without looking at the
//                   others, images where it can and linear memory for views,
//                   and each of its operands that comes otherwise is converted
//                   for it alone (MACE's insertion of buffer transforms)
//   as typed        every op keeps its types
//
// Law: every node has one of its candidates, and the lower bound stays, as it
// is of the program.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_BASELINES_H
#define LAYOUT_ANALYSIS_BASELINES_H

#include "layout/Analysis/Assignment.h"

namespace mlir {
namespace layout {

enum class Baseline {
  forward,
  priority,
  rank,
  majority,
  bidirectional,
  greedy,
  asTyped
};

/// Replaces the decision by that of a rule, with its conversions and costs.
void setBaseline(LayoutAssignment &assignment, Baseline rule, CostModel &costs);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_BASELINES_H
