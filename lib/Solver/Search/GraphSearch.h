//===- GraphSearch.h - Branch and bound over factor graphs ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reduces a graph and eliminates the narrow components of the core. A wide
// component gets a dual bound, which drops values and ranks the others. The
// component with the remaining values is a graph again and is solved
// recursively. If too few values were dropped, a variable splits it in two: its
// most promising value, and all others.
//
//     solve:  reduce, eliminate -> wide component
//     search: move costs, drop values -> solve the rest, or both halves
//
// Assignments come from rounding the dual bound and from solving the graph of
// the most promising values.
//
// Laws:
//  * lowerBound <= least cost of the graph, or upper <= lowerBound.
//  * An assignment is returned only if it costs less than `upper`.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SEARCH_GRAPHSEARCH_H
#define LAYOUT_LIB_SOLVER_SEARCH_GRAPHSEARCH_H

#include "Bounds/DualBound.h"
#include "Bounds/ProofWriter.h"
#include "CoreGraph.h"
#include <chrono>
#include <optional>

namespace mlir::layout {

class SharedCopyBound;

class GraphSearch {
public:
  GraphSearch(const FactorGraph &graph, const SolveOptions &options);

  struct Result {
    Cost lowerBound = 0;
    Cost cost = kInfiniteCost;
    std::vector<unsigned> assignment;
  };
  Result run();
  /// Moves the proof of the bound out of this object. Returns an empty text if
  /// none is requested.
  std::string takeProof() { return proof ? proof->take() : std::string(); }

  const SolveStatistics &getStatistics() const { return statistics; }
  const std::vector<unsigned> &getOpenVariables() const {
    return openVariables;
  }

private:
  using Values = std::vector<llvm::SmallVector<unsigned, 6>>;

  /// The target of a search: an assignment that costs less than `upper`. All
  /// costs are congruent to `rest` modulo `step`.
  struct Goal {
    Cost upper = kInfiniteCost;
    Cost step = 1, rest = 0;

    /// Returns the least cost >= `bound` that is congruent to `rest` modulo
    /// `step`, or `bound` itself near kInfiniteCost.
    Cost roundUp(Cost bound) const;
    bool isMissedBy(Cost bound) const { return roundUp(bound) >= upper; }
  };
  struct Parts {
    CoreGraph narrow; // all narrow components together
    std::vector<unsigned> order;
    std::vector<CoreGraph> wide;
  };

  Result solve(const FactorGraph &graph, Goal goal, unsigned depth);
  Parts split(const CoreGraph &core, int64_t tableSize) const;
  std::optional<Result> eliminate(const CoreGraph &part,
                                  llvm::ArrayRef<unsigned> order,
                                  const TableStore &store);
  struct Node;
  Result search(const CoreGraph &core, const TableStore &store, Goal goal,
                unsigned depth);
  Result searchComponent(const CoreGraph &part, const TableStore &store,
                         Goal goal, unsigned depth, bool isOnly);
  Result searchWhole(const CoreGraph &part, const TableStore &store, Goal goal);
  void searchBySharedCopies(Node &node);
  void improveBySharedCopies(Node &node, SharedCopyBound &copies);
  void improveBound(Node &node);
  void improveAssignment(Node &node);
  void finish(Node &node);
  void branch(Node &node, const Values &values);
  Result solveRest(const Node &node, const Values &values);
  /// Returns true if the next steps of the search are written to the proof: a
  /// proof is requested, and the search is not only for assignments
  /// (`isQuick`).
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
  std::optional<ProofWriter> proof; // if requested
  /// The limits of the search of the current component: totals of `statistics`,
  /// and seconds since `start`, at which it ends.
  Limits limits;
  int64_t maxTableSize;
  int64_t numHeld = 0; // entries of all nested graphs
  /// True while graphs with few values per variable are solved to find
  /// assignments. They add no steps to the proof, and get no assignment if a
  /// component is too wide for elimination.
  bool isQuick = false;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_SEARCH_GRAPHSEARCH_H
