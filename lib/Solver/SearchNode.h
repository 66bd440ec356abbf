//===- SearchNode.h - A wide component and what is known of it --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A node of the search: a component, its dual bound, and the best assignment so
// far.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SEARCHNODE_H
#define LAYOUT_LIB_SOLVER_SEARCHNODE_H

#include "BoundProof.h"
#include "GraphSearch.h"

namespace mlir {
namespace layout {

struct GraphSearch::Node {
  Node(const CoreGraph &core, const TableStore &store, Goal goal,
       unsigned depth, ProofWriter *writer)
      : core(core), store(store), goal(goal), depth(depth), dual(core, store),
        proof(dual, writer) {}

  Cost evaluate(llvm::ArrayRef<unsigned> values) const;
  void takeIfBetter(llvm::ArrayRef<unsigned> values);
  bool isClosed() const { return goal.isMissedBy(answer.lowerBound); }
  /// Takes over a bound.
  void raiseBound(Cost bound) {
    answer.lowerBound =
        std::max(answer.lowerBound, std::min(goal.upper, goal.roundUp(bound)));
  }
  /// Takes over the dual bound and drops what is too expensive under it.
  void tighten();
  /// The values that raise the bound by at most `limit`; nothing where some
  /// variable has none.
  std::optional<Values> getValues(Cost limit) const;

  const CoreGraph &core;
  const TableStore &store;
  Goal goal;
  unsigned depth;
  DualBound dual;
  BoundProof proof;
  Answer answer;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_SEARCHNODE_H
