//===- FactorGraph.h - Exact minimization of sums of tables -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variables with small domains and a cost that is a sum of tables, each over a
// few variables. `solve` finds an assignment of least cost.
//
//     FactorGraph graph;
//     unsigned a = graph.addVariable(2), b = graph.addVariable(2);
//     graph.addFactor({a}, {0, 5});
//     graph.addFactor({a, b}, {7, 1, 0, 0}); // last variable fastest
//     graph.solve().cost                     // 1, with a = 0 and b = 1
//
// Laws:
//  * lowerBound <= least cost <= cost, and exact iff the two ends meet;
//  * the result depends on nothing but the calls that built the graph;
//  * tables are eliminated one variable at a time, narrowest first, in time
//    linear in the number of variables as long as the graph is narrow. Where a
//    table would exceed `maxTableSize`, its factors are minimized in groups,
//    which gives a lower bound, and a branch and bound of at most `maxNodes`
//    steps looks for the assignment under that bound.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_FACTORGRAPH_H
#define LAYOUT_ANALYSIS_FACTORGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <limits>
#include <vector>

namespace mlir {
namespace layout {

using Cost = int64_t;

/// The cost of what is forbidden.
constexpr Cost kInfiniteCost = std::numeric_limits<int64_t>::max();

/// a + b for costs >= 0; finite sums stop below kInfiniteCost.
inline Cost addCosts(Cost a, Cost b) {
  if (a == kInfiniteCost || b == kInfiniteCost)
    return kInfiniteCost;
  return a > kInfiniteCost - 1 - b ? kInfiniteCost - 1 : a + b;
}

/// a * b for a, b >= 0, stopping below kInfiniteCost.
inline Cost scaleCost(Cost a, int64_t b) {
  if (a == kInfiniteCost)
    return a;
  return b != 0 && a > (kInfiniteCost - 1) / b ? kInfiniteCost - 1 : a * b;
}

struct SolveOptions {
  /// Entries of the largest table that elimination may build.
  int64_t maxTableSize = int64_t(1) << 20;
  /// Steps of the search where elimination had to be relaxed.
  int64_t maxNodes = int64_t(1) << 18;
  /// A known assignment: where the search ends before it finds one, or finds
  /// none that is cheaper, this is the answer. May be empty.
  llvm::ArrayRef<unsigned> initial;
};

struct Solution {
  /// Empty if none was found; with `exact`, none exists.
  std::vector<unsigned> assignment;
  Cost cost = kInfiniteCost;
  Cost lowerBound = 0;
  bool exact = false;
};

class FactorGraph {
public:
  struct Factor {
    llvm::SmallVector<unsigned, 3> variables;
    std::vector<Cost> table;
  };

  /// Adds a variable with the values 0 .. domainSize - 1, domainSize >= 1.
  unsigned addVariable(unsigned domainSize);

  /// Adds a term of the cost. Variables are distinct; the table is row-major
  /// with the last variable fastest; costs are >= 0.
  void addFactor(llvm::ArrayRef<unsigned> variables, std::vector<Cost> table);

  unsigned getNumVariables() const { return domains.size(); }
  unsigned getDomainSize(unsigned variable) const { return domains[variable]; }
  llvm::ArrayRef<unsigned> getDomains() const { return domains; }
  llvm::ArrayRef<Factor> getFactors() const { return factors; }

  /// The cost of a whole assignment.
  Cost evaluate(llvm::ArrayRef<unsigned> assignment) const;

  Solution solve(const SolveOptions &options = {}) const;

private:
  std::vector<unsigned> domains;
  std::vector<Factor> factors;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_FACTORGRAPH_H
