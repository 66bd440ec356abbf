//===- SequenceSolver.h - Factor graphs that come step by step --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves factor graphs again and again of which each is a sequence of steps
// that repeat, as the ops of a network. A step adds variables, and factors over
// them and over variables of steps before; it says which of these have all of
// their factors now, and so can be eliminated. Variables are named by how far
// back they are, so that steps that do the same are equal.
//
//   SequenceSolver solver;
//   TableId pair = solver.addTable({7, 1, 0, 0});
//   unsigned first = solver.addKind({{2}, {}, {}});
//   // a variable, a factor over it and the one before, which is then complete
//   unsigned next = solver.addKind({{2}, {{{-1, 0}, pair}}, {-1}});
//   unsigned last = solver.addKind({{2}, {{{-1, 0}, pair}}, {-1, 0}});
//   auto solution = solver.solve({first, next, next, last});
//
// What variables are open after a step, with the tables between them, is a
// state. States, kinds of steps and what a kind makes of a state are remembered
// from graph to graph: a step that was met before in the same state takes one
// look into a table.
//
// Laws:
//  * the answer is a least assignment, and depends on the steps alone, not on
//    what is remembered;
//  * there is none where a state would be wide, or few steps repeat:
//    FactorGraph.h solves such graphs.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_SEQUENCESOLVER_H
#define LAYOUT_SOLVER_SEQUENCESOLVER_H

#include "layout/Solver/FactorGraph.h"
#include <optional>

namespace mlir {
namespace layout {

class SequenceSolver {
public:
  /// `maxTableSize` is that of SolveOptions.
  explicit SequenceSolver(int64_t maxTableSize = SolveOptions().maxTableSize);
  ~SequenceSolver();

  /// As FactorGraph::addTable.
  TableId addTable(llvm::ArrayRef<Cost> entries);

  struct Factor {
    /// One or two: 0, 1, .. are those that the step adds, -1 is the last before
    /// them.
    llvm::SmallVector<int, 2> variables;
    TableId table;
  };
  struct Kind {
    llvm::SmallVector<unsigned, 2> domains; // of what is added
    llvm::SmallVector<Factor, 4> factors;
    llvm::SmallVector<int, 4> complete;
  };
  /// Equal kinds have one number.
  unsigned addKind(const Kind &kind);

  /// The least assignment, in the order in which variables are added; until the
  /// next call.
  struct Answer {
    Cost cost = 0;
    llvm::ArrayRef<unsigned> assignment;
  };
  std::optional<Answer> solve(llvm::ArrayRef<unsigned> kinds);

private:
  struct Memory;
  std::unique_ptr<Memory> memory;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SOLVER_SEQUENCESOLVER_H
