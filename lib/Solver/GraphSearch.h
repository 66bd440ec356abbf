//===- GraphSearch.h - The whole solver, and where it searches --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph is reduced, and the components of what is left that are narrow are
// eliminated. A wide component gets a dual bound, which drops values and says
// which of the others are promising. The component with the values that are
// left is a graph again and solved in this way; where too few were dropped for
// that to help, one variable splits it in two, its most promising value and all
// others.
//
//     solve:  reduce, eliminate -> wide component
//     search: move costs, drop values -> solve what is left, or both halves
//
// Assignments come from rounding the dual bound and from solving the graph of
// the most promising values alone.
//
// Laws:
//  * lowerBound <= least cost of the graph, or upper <= lowerBound;
//  * an assignment is given only where it costs less than `upper`.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_GRAPHSEARCH_H
#define LAYOUT_LIB_SOLVER_GRAPHSEARCH_H

#include "BlockTree.h"
#include "CoreGraph.h"
#include "DualBound.h"
#include "ProofWriter.h"
#include <chrono>
#include <optional>

namespace mlir {
namespace layout {

class StarBound;

class GraphSearch {
public:
  GraphSearch(const FactorGraph &graph, const SolveOptions &options);

  struct Answer {
    Cost lowerBound = 0;
    Cost cost = kInfiniteCost;
    std::vector<unsigned> assignment;
  };
  Answer run();
  /// Why the bound holds, where the options ask for it.
  std::string takeProof() { return proof ? proof->take() : std::string(); }

  const SolveStatistics &getStatistics() const { return statistics; }
  const std::vector<unsigned> &getOpenVariables() const {
    return openVariables;
  }

private:
  using Values = std::vector<llvm::SmallVector<unsigned, 6>>;

  /// What is looked for: an assignment that costs less. All costs are known to
  /// leave this rest when divided by `step`.
  struct Goal {
    Cost upper = kInfiniteCost;
    Cost step = 1, rest = 0;

    /// The least cost that is possible above a bound.
    Cost roundUp(Cost bound) const;
    bool isMissedBy(Cost bound) const { return roundUp(bound) >= upper; }
  };
  struct Parts {
    CoreGraph narrow; // all that are, together
    std::vector<unsigned> order;
    std::vector<CoreGraph> wide;
  };

  Answer solve(const FactorGraph &graph, Goal goal, unsigned depth);
  Parts split(const CoreGraph &core, int64_t tableSize) const;
  std::optional<Answer> eliminate(const CoreGraph &part,
                                  llvm::ArrayRef<unsigned> order,
                                  const TableStore &store);
  struct Node;
  Answer search(const CoreGraph &core, const TableStore &store, Goal goal,
                unsigned depth);
  Answer searchComponent(const CoreGraph &part, const TableStore &store,
                         Goal goal, unsigned depth, bool isOnly);
  Answer searchWhole(const CoreGraph &part, const TableStore &store, Goal goal);
  Answer solveBlock(const FactorGraph &graph, const Block &block,
                    unsigned valueOfParent);
  Answer searchBlocks(const CoreGraph &core, const TableStore &store,
                      llvm::ArrayRef<Block> blocks);
  void searchByStars(Node &node);
  void improveByStars(Node &node, StarBound &stars);
  void improveBound(Node &node);
  void improveAssignment(Node &node);
  void improveByForests(Node &node);
  void finish(Node &node);
  void branch(Node &node, const Values &values);
  Answer solveRest(const Node &node, const Values &values);
  /// Whether what is done now is part of the proof.
  bool proves() const { return proof && !isQuick; }
  bool isOutOfTime() const;
  bool isOver() const {
    return statistics.numNodes >= limits.numNodes ||
           statistics.work >= limits.work || isOutOfTime();
  }
  struct Limits {
    int64_t numNodes, work;
    double seconds;
  };
  void shareLimits(const Limits &most, size_t numParts);

  const FactorGraph &graph;
  const SolveOptions &options;
  std::chrono::steady_clock::time_point start;
  SolveStatistics statistics;
  std::vector<unsigned> openVariables;
  std::optional<ProofWriter> proof; // where it is wanted
  /// What the component at hand may take of the options' limits.
  Limits limits;
  int64_t maxTableSize;
  int64_t numHeld = 0; // entries of the graphs that are open in one another
  /// What is wide is left alone: for looking at promising values.
  bool isQuick = false;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_GRAPHSEARCH_H
