//===- FactorGraph.cpp - Exact minimization of sums of tables -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph data structure. GraphSearch.h solves it.
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/FactorGraph.h"
#include "Search/GraphSearch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "layout-solver"

using namespace mlir::layout;
using llvm::ArrayRef;

FactorGraph::FactorGraph() : tables(std::make_unique<TableStore>()) {}
FactorGraph::FactorGraph(FactorGraph &&) = default;
FactorGraph &FactorGraph::operator=(FactorGraph &&) = default;
FactorGraph::~FactorGraph() = default;

unsigned FactorGraph::addVariable(unsigned domainSize) {
  assert(domainSize >= 1 && "a variable needs a value");
  domains.push_back(domainSize);
  return domains.size() - 1;
}

TableId FactorGraph::addTable(ArrayRef<Cost> entries) {
  return tables->intern(entries);
}

void FactorGraph::addFactor(ArrayRef<unsigned> variables, TableId table) {
#ifndef NDEBUG
  size_t size = 1;
  for (unsigned variable : variables)
    size *= domains[variable];
  assert(size == (*tables)[table].size &&
         "one entry per combination of values");
#endif
  llvm::SmallVector<unsigned, 4> distinct;
  for (unsigned variable : variables)
    if (!llvm::is_contained(distinct, variable))
      distinct.push_back(variable);
  if (distinct.size() != variables.size())
    table = getDiagonal(variables, distinct, table);
  llvm::append_range(scopes, distinct);
  factors.push_back({unsigned(scopes.size()), table});
}

TableId FactorGraph::getDiagonal(ArrayRef<unsigned> variables,
                                 ArrayRef<unsigned> distinct, TableId table) {
  std::vector<size_t> steps(distinct.size(), 0);
  size_t step = 1;
  for (unsigned variable : llvm::reverse(variables)) {
    steps[llvm::find(distinct, variable) - distinct.begin()] += step;
    step *= domains[variable];
  }
  std::vector<Cost> all = getTable(table).vec(), diagonal;
  auto add = [&](auto &self, size_t next, size_t at) -> void {
    if (next == distinct.size())
      return diagonal.push_back(all[at]);
    for (unsigned v = 0; v < domains[distinct[next]]; ++v)
      self(self, next + 1, at + v * steps[next]);
  };
  add(add, 0, 0);
  return addTable(diagonal);
}

size_t FactorGraph::getNumTables() const { return tables->getNumTables(); }

ArrayRef<Cost> FactorGraph::getTable(TableId table) const {
  return (*tables)[table].get();
}

Cost FactorGraph::evaluate(ArrayRef<unsigned> assignment) const {
  assert(assignment.size() == domains.size() && "one value per variable");
  Cost sum = 0;
  for (Factor factor : getFactors()) {
    size_t entry = 0;
    for (unsigned variable : factor.variables)
      entry = entry * domains[variable] + assignment[variable];
    sum = addCosts(sum, (*tables)[factor.table].entries[entry]);
  }
  return sum;
}

Cost FactorGraph::getMostCost() const {
  Cost most = 0;
  for (Factor factor : getFactors()) {
    Cost largest = 0;
    for (Cost entry : getTable(factor.table))
      if (entry != kInfiniteCost)
        largest = std::max(largest, entry);
    most = addCosts(most, largest);
  }
  return most;
}

Solution FactorGraph::solve(const SolveOptions &options) const {
  assert(
      (options.initial.empty() || options.initial.size() == domains.size()) &&
      "one value per variable");
  GraphSearch search(*this, options);
  GraphSearch::Result answer = search.run();
  Solution solution;
  solution.assignment = std::move(answer.assignment);
  solution.cost = answer.cost;
  solution.lowerBound = answer.lowerBound;
  solution.exact = solution.lowerBound == solution.cost;
  solution.openVariables = search.getOpenVariables();
  solution.proof = search.takeProof();
  solution.statistics = search.getStatistics();
  LDBG() << domains.size() << " variables, " << factors.size()
         << " factors: cost " << solution.cost << ", at least "
         << solution.lowerBound;
  return solution;
}

#undef DEBUG_TYPE
