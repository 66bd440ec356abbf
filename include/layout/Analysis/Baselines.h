//===- Baselines.h - Layout heuristics of other compilers -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heuristics of other compilers, as published, applied to the solver's
// candidates so that its results can be compared with theirs. All but the last
// one start from anchors, which are nodes with a preferred layout or with a
// single configuration, and let the other nodes follow:
//
//   forward         an op takes the layout of its first operand (TVM's
//                   ConvertLayout)
//   priority        constraints spread from anchors in both directions, breadth
//                   first; the first one is kept (XLA's layout assignment)
//   rank            from the given types, one pass changes an op if that lowers
//                   the sum of the ranks of converted tensors (ONNX Runtime's
//                   transpose optimizer)
//   majority        an op takes the layout that most of its tensors have at
//                   their other ends (OpenVINO's layout optimization)
//   bidirectional   forward, then backward: an op gives its result the layout
//                   that all consumers request
//   greedy          each op chooses its layout without looking at its neighbors
//                   (images if possible, linear memory for views), and each
//                   operand in another layout is converted for it alone (MACE's
//                   insertion of buffer transforms)
//   as typed        every op keeps its types
//
// Law: every node has one of its candidates. The lower bound of the assignment
// is kept, because it holds for every choice.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_BASELINES_H
#define LAYOUT_ANALYSIS_BASELINES_H

#include "layout/Analysis/Assignment.h"

namespace mlir::layout {

enum class Baseline {
  forward,
  priority,
  rank,
  majority,
  bidirectional,
  greedy,
  asTyped
};

/// Replaces the configurations of all nodes of `assignment` by those that the
/// baseline `rule` chooses, and computes its conversions and costs.
void setBaseline(LayoutAssignment &assignment, Baseline rule, CostModel &costs);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_BASELINES_H
