//===- FactorGraph.h - Exact minimization of sums of tables -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A problem is a number of variables, each with the values 0 .. domain - 1, and
// a cost that is a sum of factors, each a table over a few of the variables. An
// assignment has a value for every variable; `solve` finds one of least cost.
// The field calls this a cost function network, weighted constraint
// satisfaction, or MAP inference in a graphical model.
//
// A node with two layouts that prefers the first by 5, and an edge to another
// node that costs 7, 1, 0 or 0:
//
//     FactorGraph graph;
//     unsigned a = graph.addVariable(2), b = graph.addVariable(2);
//     TableId pair = graph.addTable({7, 1, 0, 0}); // last variable fastest
//     graph.addFactor({a}, {0, 5});
//     graph.addFactor({a, b}, pair);
//     Solution solution = graph.solve();
//     solution.cost                                // 1
//     solution.assignment                          // {0, 1}
//     solution.exact                               // true: nothing is cheaper
//
// Shapes: a table has one entry per combination of values of its scope, with
// the last variable fastest: addFactor({a, b}, t) reads t[value of a * domain
// of b + value of b]. A factor over no variable has one entry, a constant.
//
// Units: costs are integers >= 0 in any unit of the caller. kInfiniteCost
// forbids; finite sums that exceed int64 saturate at kInfiniteCost - 1
// (Cost.h).
//
// Errors: if no assignment is allowed, the cost is kInfiniteCost and the
// assignment is empty; this is not an error. A table of the wrong size, a
// negative cost, an unknown variable and an `initial` of the wrong length are
// asserted, and unchecked in release builds. A table with 2^32 entries or a
// graph with 2^31 tables is a fatal error. Wcsp.h reads problems from untrusted
// text and checks all of this.
//
// Laws:
//  * lowerBound <= least cost <= cost, and `exact` iff lowerBound == cost.
//  * The result depends only on the calls that built the graph, unless time
//    runs out. Elimination breaks ties by the lowest value.
//  * Equal tables are stored once, and operations on tables are memoized, so a
//    program with repeated parts costs little more than reading it.
//  * Variables with at most two neighbors are eliminated first, in linear time.
//    The rest is eliminated one variable at a time, the smallest table first.
//    If a table would exceed `maxTableSize`, costs are moved between factors
//    until a lower bound is close to the least cost, values that exceed the
//    bound are dropped, and the rest is solved in the same way, or searched.
//  * If a limit ends the search, the assignment is still allowed and the bound
//    still holds; `openVariables` lists the variables of the unproven
//    components.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_FACTORGRAPH_H
#define LAYOUT_SOLVER_FACTORGRAPH_H

#include "layout/Support/Cost.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace mlir::layout {

struct SolveOptions {
  /// The maximum number of entries of a table that elimination may build.
  /// Components of the graph that need tables of more than 2^16 entries first
  /// get a lower bound, which drops values. Those that still need larger tables
  /// than this limit are searched.
  int64_t maxTableSize = int64_t(1) << 20;
  /// The maximum number of table entries that one elimination may compute in
  /// total, after variables with at most two neighbors are eliminated. If there
  /// are more, the solver searches instead.
  int64_t maxTotalSize = int64_t(1) << 26;
  /// The maximum number of search nodes, summed over all connected components
  /// that are too wide to eliminate. The first node of each gets a lower bound
  /// even if limits are 0. A search that reaches the limit returns its best
  /// assignment and lower bound so far.
  int64_t maxNodes = int64_t(1) << 18;
  /// The maximum number of table entries that search nodes may visit, a measure
  /// of time: 2^30 entries take a few seconds. A search that reaches the limit
  /// returns its best assignment and lower bound so far.
  int64_t maxWork = int64_t(1) << 31;
  /// The time limit in seconds; infinity for no limit. A search that reaches it
  /// returns its best assignment and lower bound so far. It is the only option
  /// whose effect depends on the machine.
  double maxSeconds = std::numeric_limits<double>::infinity();
  /// The values of all variables of a known assignment, or an empty list. The
  /// answer costs at most as much.
  llvm::ArrayRef<unsigned> initial;
  /// True to record a proof of the lower bound, as text.
  bool certify = false;
};

/// Statistics of one call of `solve`.
struct SolveStatistics {
  /// The number of variables left after those with at most two neighbors were
  /// eliminated.
  unsigned numCoreVariables = 0;
  /// The number of connected components of the remaining variables that are
  /// searched, because elimination would exceed limits of table sizes.
  unsigned numWideComponents = 0;
  /// The number of search nodes, and the number of table entries that the
  /// search visited, a measure of time that does not depend on the machine.
  int64_t numNodes = 0, work = 0;
};

struct Solution {
  /// The value of each variable, by the number of the variable. Empty if no
  /// assignment was found. If `exact` is set as well, all assignments are
  /// forbidden.
  std::vector<unsigned> assignment;
  Cost cost = kInfiniteCost;
  Cost lowerBound = 0;
  bool exact = false;
  /// The variables of the components whose search ended at a limit, before its
  /// lower bound reached the cost of its best assignment. Empty if `exact` is
  /// set.
  std::vector<unsigned> openVariables;
  /// The steps by which a checker derives `lowerBound`, if
  /// `SolveOptions::certify` is set. docs/certificates.md defines their
  /// language.
  std::string proof;
  SolveStatistics statistics;
};

/// Identifies a table of a graph. A separate type, so that `{3}` is a table
/// with one entry and not a table id.
enum class TableId : unsigned {};

class TableStore;

class FactorGraph {
public:
  struct Factor {
    llvm::ArrayRef<unsigned> variables;
    TableId table;
  };

  FactorGraph();
  FactorGraph(FactorGraph &&);
  FactorGraph &operator=(FactorGraph &&);
  ~FactorGraph();

  /// Adds a variable with the values 0 .. domainSize - 1, domainSize >= 1.
  /// Returns the number of the variable; the first is 0.
  unsigned addVariable(unsigned domainSize);

  /// Stores a table with these entries, all >= 0, and returns its id; tables
  /// with equal entries share one id. The variables of a factor give its table
  /// the shape, row-major with the last variable fastest.
  TableId addTable(llvm::ArrayRef<Cost> entries);

  /// Adds a table of costs over `variables` to the graph. If a variable is
  /// repeated in `variables`, only the entries in which its values agree are
  /// used.
  void addFactor(llvm::ArrayRef<unsigned> variables, TableId table);
  void addFactor(llvm::ArrayRef<unsigned> variables,
                 llvm::ArrayRef<Cost> entries) {
    addFactor(variables, addTable(entries));
  }

  unsigned getNumVariables() const { return domains.size(); }
  unsigned getDomainSize(unsigned variable) const { return domains[variable]; }
  llvm::ArrayRef<unsigned> getDomains() const { return domains; }

  size_t getNumTables() const;
  llvm::ArrayRef<Cost> getTable(TableId table) const;
  const TableStore &getTables() const { return *tables; }

  size_t getNumFactors() const { return factors.size(); }
  Factor getFactor(size_t index) const {
    const Record &factor = factors[index];
    size_t begin = index ? factors[index - 1].scopeEnd : 0;
    return {llvm::ArrayRef(scopes).slice(begin, factor.scopeEnd - begin),
            factor.table};
  }

  /// The factors in the order of addFactor calls, as a sized range.
  class FactorRange {
  public:
    explicit FactorRange(const FactorGraph &graph) : graph(graph) {}
    size_t size() const { return graph.getNumFactors(); }
    bool empty() const { return size() == 0; }
    Factor operator[](size_t index) const { return graph.getFactor(index); }

  private:
    auto makeIterator(size_t index) const {
      return llvm::map_iterator(
          llvm::seq(index, size() + 1).begin(),
          [graph = &graph](size_t i) { return graph->getFactor(i); });
    }

  public:
    auto begin() const { return makeIterator(0); }
    auto end() const { return makeIterator(size()); }

  private:
    const FactorGraph &graph;
  };
  FactorRange getFactors() const { return FactorRange(*this); }

  /// Returns the cost of a complete assignment, kInfiniteCost if it is
  /// forbidden.
  Cost evaluate(llvm::ArrayRef<unsigned> assignment) const;

  /// Returns the sum of the largest finite entries of all factors, an upper
  /// bound of the cost of every allowed assignment.
  Cost getMostCost() const;

  Solution solve(const SolveOptions &options = {}) const;

private:
  TableId getDiagonal(llvm::ArrayRef<unsigned> variables,
                      llvm::ArrayRef<unsigned> distinct, TableId table);

  struct Record {
    unsigned scopeEnd; // in `scopes`; begins at the end of the previous
    TableId table;
  };
  std::unique_ptr<TableStore> tables;
  // Large SmallVectors grow by realloc, which moves pages without copying.
  llvm::SmallVector<unsigned, 0> domains;
  llvm::SmallVector<unsigned, 0>
      scopes; // the variables of all factors, concatenated
  llvm::SmallVector<Record, 0> factors;
};

} // namespace mlir::layout

#endif // LAYOUT_SOLVER_FACTORGRAPH_H
