//===- ForestLocalSearch.h - Local search over forests ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Improves an assignment by local search. Variables whose mutual factors form a
// forest are optimized together in linear time, while all others are fixed:
//
//     a - b - c      with b fixed, a and c are free, with all variables that
//      \_____/       hang on them; with a fixed, b and c are
//
// Sets are solved one after the other, each as large as a random order of the
// variables allows: nearly half of a sparse graph changes at once. The order of
// values is random too, so that ties may break differently.
//
//     ForestLocalSearch descent(core, store, shared, values);
//     const FactorGraph &graph = descent.makeNext(assignment);
//     descent.takeOver(graph.solve().assignment, assignment);
//
// Laws:
//  * An optimal solution of the graph never makes the assignment worse.
//  * The sequence of sets is a function of the core only.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SEARCH_FORESTLOCALSEARCH_H
#define LAYOUT_LIB_SOLVER_SEARCH_FORESTLOCALSEARCH_H

#include "Bounds/SetupCosts.h"
#include <random>

namespace mlir::layout {

class ForestLocalSearch {
public:
  /// Creates a search in which each variable v has one of values[v].
  ForestLocalSearch(const CoreGraph &core, const TableStore &store,
                    const SetupCosts &shared,
                    std::vector<llvm::SmallVector<unsigned, 6>> values);

  /// Chooses the next set of free variables, and returns the graph of their
  /// costs if all other variables keep their values in `assignment`.
  const FactorGraph &makeNext(llvm::ArrayRef<unsigned> assignment);
  /// Copies a solution of the graph that `makeNext` returned to the free
  /// variables of `assignment`. Then sets each setup variable, which represents
  /// a copy of a tensor, to on if a consumer requires it, and to off otherwise.
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
  const SetupCosts &shared;
  std::vector<llvm::SmallVector<unsigned, 6>> values;
  std::mt19937 random;
  std::vector<unsigned> order; // of the variables that may be free
  std::vector<State> state;    // per variable, like the next two
  std::vector<unsigned> trees; // union-find parent in its tree
  std::vector<unsigned> index; // in `graph`
  FactorGraph graph;
  std::vector<unsigned> added; // per variable of `graph`
  std::vector<Cost> entries;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_SEARCH_FORESTLOCALSEARCH_H
