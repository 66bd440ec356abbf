//===- Rules.h - Rules that others choose layouts by ------------*- C++ -*-===//
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
// let the others follow:
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
//
// Law: the answer has a configuration for every node, and says nothing of cost.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_BENCHMARKS_BASELINES_RULES_H
#define LAYOUT_BENCHMARKS_BASELINES_RULES_H

#include "layout/Analysis/Candidates.h"

namespace mlir {
namespace layout {

enum class Rule { forward, priority, rank, majority, bidirectional, greedy };

/// The configuration of each node.
std::vector<unsigned> chooseByRule(Rule rule, const Program &program,
                                   ArrayRef<Candidates> candidates,
                                   CostModel &costs);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_BENCHMARKS_BASELINES_RULES_H
