//===- SearchNode.h - A search node and its bounds --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search node: a component, its dual bound, and the best assignment found.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SEARCH_SEARCHNODE_H
#define LAYOUT_LIB_SOLVER_SEARCH_SEARCHNODE_H

#include "Bounds/BoundProof.h"
#include "Search/GraphSearch.h"

namespace mlir::layout {

struct GraphSearch::Node {
  Node(const CoreGraph &core, const TableStore &store, Goal goal,
       unsigned depth, ProofWriter *writer)
      : core(core), store(store), goal(goal), depth(depth), dual(core, store),
        proof(dual, writer) {}

  Cost evaluate(llvm::ArrayRef<unsigned> values) const;
  void takeIfBetter(llvm::ArrayRef<unsigned> values);
  bool isClosed() const { return goal.isMissedBy(answer.lowerBound); }
  /// Raises the lower bound of the node to `bound`, rounded up to a possible
  /// cost, or to the upper bound if that is less.
  void raiseBound(Cost bound) {
    answer.lowerBound =
        std::max(answer.lowerBound, std::min(goal.upper, goal.roundUp(bound)));
  }
  /// Raises the lower bound of the node to the dual bound, and drops the values
  /// with which the dual bound, rounded up to a possible cost, reaches the
  /// upper bound.
  void tighten();
  /// Returns, per variable, the values that raise the dual bound by at most
  /// `limit`, or std::nullopt if a variable has none. A setup variable, which
  /// represents a copy of a tensor, has the values that those of the other
  /// variables require.
  std::optional<Values> getValues(Cost limit) const;

  const CoreGraph &core;
  const TableStore &store;
  Goal goal;
  unsigned depth;
  DualBound dual;
  BoundProof proof;
  Result answer;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_SEARCH_SEARCHNODE_H
