//===- ForestDescent.h - Better assignments by solving forests --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variables between which factors form a forest are solved together, in linear
// time, where all others keep their values:
//
//     a - b - c      with b fixed, a and c are free, and so is whatever hangs
//      \_____/       on them; with a fixed, b and c are
//
// One set after the other is solved, each as large as the order in which
// variables are tried makes it: near half of a sparse graph changes at once.
// Values are offered in an order that changes as well, so that of equally good
// assignments the next one may be another.
//
//     ForestDescent descent(core, store, shared, values);
//     const FactorGraph &graph = descent.makeNext(assignment);
//     descent.takeOver(graph.solve().assignment, assignment);
//
// Laws:
//  * with a best assignment of the graph, what is taken over costs no more than
//    what was there;
//  * the sets depend on the core alone.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_FORESTDESCENT_H
#define LAYOUT_LIB_SOLVER_FORESTDESCENT_H

#include "SharedCosts.h"
#include <random>

namespace mlir {
namespace layout {

class ForestDescent {
public:
  /// `values` are those that a variable may take.
  ForestDescent(const CoreGraph &core, const TableStore &store,
                const SharedCosts &shared,
                std::vector<llvm::SmallVector<unsigned, 6>> values);

  /// The graph of the next set, around the values of an assignment.
  const FactorGraph &makeNext(llvm::ArrayRef<unsigned> assignment);
  /// Sets the variables of that graph as one of its assignments says.
  void takeOver(llvm::ArrayRef<unsigned> solution,
                std::vector<unsigned> &assignment) const;

private:
  enum class State : char { Fixed, Free };

  template <typename T> void shuffle(T &list);
  unsigned findTree(unsigned variable);
  void freeIfPossible(unsigned variable);
  void addVariable(unsigned variable);
  void addFactor(unsigned factor, llvm::ArrayRef<unsigned> assignment);

  const CoreGraph &core;
  const TableStore &store;
  const SharedCosts &shared;
  std::vector<llvm::SmallVector<unsigned, 6>> values;
  std::mt19937 random;
  std::vector<unsigned> order; // of those that may be free
  std::vector<State> state;    // per variable, as what follows
  std::vector<unsigned> trees; // towards the root of its tree
  std::vector<unsigned> index; // in `graph`
  FactorGraph graph;
  std::vector<unsigned> added; // per variable of `graph`
  std::vector<Cost> entries;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_FORESTDESCENT_H
