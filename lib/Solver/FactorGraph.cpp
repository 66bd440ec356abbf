//===- FactorGraph.cpp - Exact minimization of sums of tables -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solving goes in three steps, each on what the one before has left: reductions
// of variables with few neighbors, elimination in buckets, and a search in
// those components where a bucket had to be cut. Each has a header that says
// what holds of it.
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/FactorGraph.h"
#include "BranchAndBound.h"
#include "EliminationOrder.h"
#include "GraphReduction.h"
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

static Cost narrow(WideCost cost) {
  if (cost >= kInfiniteWideCost)
    return kInfiniteCost;
  return cost >= kInfiniteCost ? kInfiniteCost - 1 : Cost(cost);
}

/// No table may be larger than all together.
static int64_t getMaxTableSize(const SolveOptions &options) {
  return std::min(options.maxTableSize, options.maxTotalSize);
}

/// The largest part of `maxTableSize` with which all tables together stay below
/// `maxTotalSize`.
static int64_t getFittingTableSize(const CoreGraph &core,
                                   ArrayRef<unsigned> order,
                                   TableAlgebra &algebra,
                                   const SolveOptions &options) {
  int64_t size = getMaxTableSize(options);
  while (size > 1 && BucketElimination::getTotalSize(
                         core, order, algebra, size) > options.maxTotalSize)
    size /= 4;
  return size;
}

/// Solves a core. Adds its lower bound to that of the solution and sets its
/// variables in `assignment`; returns whether all of them have a value.
static bool solveCore(const CoreGraph &original, const TableStore &base,
                      const SolveOptions &options, Solution &solution,
                      std::vector<unsigned> &assignment) {
  using Result = BucketElimination::Result;
  std::vector<unsigned> order = getEliminationOrder(original);
  CoreGraph core = original;
  auto algebra = std::make_unique<TableAlgebra>(base);
  auto elimination = std::make_unique<BucketElimination>(
      core, order, *algebra, getMaxTableSize(options), options.maxTotalSize);
  Result result = elimination->run();
  if (result == Result::TooLarge) {
    // Equally coarse everywhere beats exact in the beginning and blind in the
    // end.
    core = original;
    algebra = std::make_unique<TableAlgebra>(base);
    elimination = std::make_unique<BucketElimination>(
        core, order, *algebra,
        getFittingTableSize(core, order, *algebra, options), kInfiniteCost);
    result = elimination->run();
  }
  if (result == Result::NothingAllowed) {
    solution.lowerBound = kInfiniteCost;
    return false;
  }
  std::vector<unsigned> values(core.getNumVariables(), 0);
  if (!options.initial.empty())
    for (unsigned v = 0; v < values.size(); ++v)
      values[v] = options.initial[core.getOriginal(v)];
  elimination->substituteBack(values);

  std::vector<std::vector<Bucket>> relaxed(elimination->getNumComponents());
  unsigned numRelaxed = 0;
  for (unsigned c = 0; c < relaxed.size(); ++c)
    numRelaxed += elimination->isComponentRelaxed(c);
  WideCost bound = 0;
  for (size_t b = 0; b < elimination->getNumBuckets(); ++b) {
    Bucket bucket = elimination->getBucket(b);
    unsigned component = elimination->getComponent(bucket.variable);
    if (elimination->isComponentRelaxed(component))
      relaxed[component].push_back(bucket);
    else
      bound += bucket.constant;
  }

  solution.statistics.numRelaxedComponents = numRelaxed;
  LDBG() << relaxed.size() << " components, " << numRelaxed
         << " of them too wide to be eliminated";

  // Every component gets its part of the steps that others have left.
  int64_t steps = options.maxNodes;
  bool isComplete = true;
  std::vector<unsigned> scratch(values.size(), 0);
  for (std::vector<Bucket> &buckets : relaxed) {
    if (buckets.empty())
      continue;
    BranchAndBound search(core, original.getNumFactors(), algebra->store,
                          std::move(buckets), scratch);
    steps -= search.run(values, !options.initial.empty(), steps / numRelaxed--);
    isComplete &= search.getCost() < kInfiniteWideCost;
    bound = std::min(bound + search.getLowerBound(), kInfiniteWideCost);
  }
  solution.statistics.numNodes = options.maxNodes - steps;
  solution.lowerBound = addCosts(solution.lowerBound, narrow(bound));
  for (unsigned v = 0; v < values.size(); ++v)
    assignment[core.getOriginal(v)] = values[v];
  return isComplete;
}

Solution FactorGraph::solve(const SolveOptions &options) const {
  assert(
      (options.initial.empty() || options.initial.size() == domains.size()) &&
      "one value per variable");
  TableAlgebra algebra(*tables);
  GraphReduction reduction(*this, algebra, getMaxTableSize(options));
  reduction.run();

  Solution solution;
  solution.lowerBound = reduction.getConstant();
  LDBG() << domains.size() << " variables, " << factors.size()
         << " factors: reduction gives a bound of " << solution.lowerBound;
  std::vector<unsigned> assignment(domains.size(), 0);
  bool isComplete = false;
  if (solution.lowerBound != kInfiniteCost) {
    CoreGraph core = reduction.getCore();
    solution.statistics.numCoreVariables = core.getNumVariables();
    LDBG() << core.getNumVariables()
           << " variables have three neighbors or more";
    isComplete = solveCore(core, algebra.store, options, solution, assignment);
  }
  if (isComplete) {
    reduction.substituteBack(assignment);
    solution.cost = evaluate(assignment);
    solution.assignment = std::move(assignment);
  }
  solution.exact = solution.lowerBound == solution.cost;
  LDBG() << "cost " << solution.cost << ", at least " << solution.lowerBound;
  return solution;
}
