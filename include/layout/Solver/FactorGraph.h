//===- FactorGraph.h - Exact minimization of sums of tables -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A problem is a number of variables, each with the values 0 .. domain - 1, and
// a cost that is a sum of factors, each a table over a few of the variables. An
// assignment gives every variable a value; `solve` finds one of least cost. The
// field calls this a cost function network, weighted constraint satisfaction,
// or MAP inference in a graphical model.
//
// A node that comes in two layouts and prefers the first by 5, and an edge to
// another node that costs 7, 1, 0 or 0:
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
// Shapes: a table has one entry per combination of values of the variables that
// it is used with, in the order of the scope, the last variable fastest, so
// addFactor({a, b}, t) takes t[value of a * domain of b + value of b]. A factor
// over no variable has one entry, which is a constant.
//
// Units: costs are integers >= 0 in whatever unit the caller counts.
// kInfiniteCost forbids; finite sums that an int64 cannot represent stop at
// kInfiniteCost - 1 (Cost.h).
//
// Errors: that no assignment is allowed is an answer, not an error: its cost is
// kInfiniteCost and its assignment is empty. A table of the wrong size, a
// negative cost, an unknown variable and an `initial` of the wrong length are
// mistakes of the caller, which assertions find and release builds do not. A
// table of 2^32 entries or a graph of 2^31 tables ends the program with a
// message. Problems that come from elsewhere are read by Wcsp.h, which checks
// all of it.
//
// Laws:
//  * lowerBound <= least cost <= cost, and exact iff the two ends meet;
//  * the result depends on nothing but the calls that built the graph, unless
//    time runs out; of equally good values, elimination takes the lowest;
//  * equal tables are one table, and what is known of a combination of tables
//    is not computed again: a program that repeats itself costs little more
//    than reading it;
//  * variables with at most two neighbors are eliminated first, in linear
//    time; what is left goes one variable at a time, narrowest first. Where a
//    table would exceed `maxTableSize`, costs are moved between factors until
//    a lower bound is close to the least cost, values that cost too much are
//    dropped, and what is left is solved in the same way, or searched;
//  * whatever limit ends the search, the assignment is allowed and the bound
//    holds; `openVariables` says where the two do not meet.
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

namespace mlir {
namespace layout {

struct SolveOptions {
  /// Entries of the largest table that elimination may build.
  int64_t maxTableSize = int64_t(1) << 20;
  /// Entries of all tables together that one elimination may compute for the
  /// part of the graph that the reductions leave; what needs more is searched.
  int64_t maxTotalSize = int64_t(1) << 26;
  /// Nodes of the search where elimination is too wide.
  int64_t maxNodes = int64_t(1) << 18;
  /// Entries of tables that such nodes may look at, which is what they take
  /// their time for: a few seconds for each 2^30.
  int64_t maxWork = int64_t(1) << 31;
  /// Seconds after which the search ends, infinity for none: the one option
  /// whose effect depends on the machine.
  double maxSeconds = std::numeric_limits<double>::infinity();
  /// A known assignment: the answer is no worse. May be empty.
  llvm::ArrayRef<unsigned> initial;
  /// Whether a proof of the bound is wanted, which is kept as text.
  bool certify = false;
};

/// What solving took.
struct SolveStatistics {
  /// Variables that the reductions left for elimination.
  unsigned numCoreVariables = 0;
  /// Parts of the graph, not connected to each other, that are too wide to be
  /// eliminated.
  unsigned numWideComponents = 0;
  /// Nodes of the search in these, and entries that bounds looked at.
  int64_t numNodes = 0, work = 0;
};

struct Solution {
  /// The value of each variable, by number. Empty if none was found; with
  /// `exact`, none exists.
  std::vector<unsigned> assignment;
  Cost cost = kInfiniteCost;
  Cost lowerBound = 0;
  bool exact = false;
  /// The variables of the wide components whose costs and bounds differ.
  std::vector<unsigned> openVariables;
  /// Steps that a checker may repeat to find `lowerBound`, where `certify` asks
  /// for them; docs/solver.md has their language.
  std::string proof;
  SolveStatistics statistics;
};

/// A table that a graph knows. A type of its own, so that `{3}` is a table of
/// one entry and no number of a table.
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
  unsigned addVariable(unsigned domainSize);

  /// The one table with these entries, all >= 0. Its shape comes from the
  /// variables that it is used with: row-major with the last variable fastest.
  TableId addTable(llvm::ArrayRef<Cost> entries);

  /// Adds a term of the cost. Of a variable that stands in several places, the
  /// term has the entries in which they agree.
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

  /// The factors in the order of the calls, as a range with a size.
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

  /// The cost of a whole assignment.
  Cost evaluate(llvm::ArrayRef<unsigned> assignment) const;

  /// The sum of the largest finite costs of all factors: no assignment that is
  /// allowed costs more.
  Cost getMostCost() const;

  Solution solve(const SolveOptions &options = {}) const;

private:
  TableId getDiagonal(llvm::ArrayRef<unsigned> variables,
                      llvm::ArrayRef<unsigned> distinct, TableId table);

  struct Record {
    unsigned scopeEnd; // in `scopes`; it begins where the one before ends
    TableId table;
  };
  std::unique_ptr<TableStore> tables;
  // Vectors that grow by realloc, which moves large ones without copying them.
  llvm::SmallVector<unsigned, 0> domains;
  llvm::SmallVector<unsigned, 0>
      scopes; // the variables of all factors in a row
  llvm::SmallVector<Record, 0> factors;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SOLVER_FACTORGRAPH_H
