//===- IncrementalChainSolver.h - Incremental solver of chains --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves many factor graphs, each a sequence of repeating steps, e.g. the ops
// of a network. A step adds variables and factors over them and variables of
// previous steps, and lists the variables that are complete: they get no
// further factors and can be eliminated. Variables are numbered relative to the
// step, so that equal steps have equal descriptions.
//
//   IncrementalChainSolver solver;
//   TableId pair = solver.addTable({7, 1, 0, 0});
//   unsigned first = solver.addKind({{2}, {}, {}});
//   // a variable, and a factor over it and the previous one, now complete
//   unsigned next = solver.addKind({{2}, {{{-1, 0}, pair}}, {-1}});
//   unsigned last = solver.addKind({{2}, {{{-1, 0}, pair}}, {-1, 0}});
//   auto solution = solver.solve({first, next, next, last});
//
// The variables that are not complete after a step, with the tables between
// them, form a state. States, kinds of steps and the transitions between states
// are cached across graphs: a step that was seen before in the same state costs
// one table lookup.
//
// Laws:
//  * The answer is an optimal assignment that depends on the steps only, not on
//    the cache.
//  * There is no answer if a state would be wide or if few steps repeat;
//    FactorGraph.h solves such graphs.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_INCREMENTALCHAINSOLVER_H
#define LAYOUT_SOLVER_INCREMENTALCHAINSOLVER_H

#include "layout/Solver/FactorGraph.h"
#include <optional>

namespace mlir::layout {

class IncrementalChainSolver {
public:
  /// Creates a solver with the `maxTableSize` of SolveOptions.
  explicit IncrementalChainSolver(
      int64_t maxTableSize = SolveOptions().maxTableSize);
  ~IncrementalChainSolver();

  /// Returns the id of a table, like FactorGraph::addTable.
  TableId addTable(llvm::ArrayRef<Cost> entries);

  struct Factor {
    /// One or two variables: 0, 1, .. are those that the step adds, and -1 is
    /// the last one before them.
    llvm::SmallVector<int, 2> variables;
    TableId table;
  };
  struct Kind {
    llvm::SmallVector<unsigned, 2> domains; // of the added variables
    llvm::SmallVector<Factor, 4> factors;
    llvm::SmallVector<int, 4> complete;
  };
  /// Returns the number of a kind of step. Equal kinds have equal numbers.
  unsigned addKind(const Kind &kind);

  /// An optimal assignment, in the order in which variables are added. Valid
  /// until the next call.
  struct Result {
    Cost cost = 0;
    llvm::ArrayRef<unsigned> assignment;
  };
  std::optional<Result> solve(llvm::ArrayRef<unsigned> kinds);

private:
  struct Memory;
  std::unique_ptr<Memory> memory;
};

} // namespace mlir::layout

#endif // LAYOUT_SOLVER_INCREMENTALCHAINSOLVER_H
