//===- FactorGraph.cpp - Exact minimization of sums of tables -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bucket elimination. The bucket of a variable holds the factors that mention
// it when its turn comes; minimizing the variable out of their sum gives a
// message, a factor over the variables that are left. Where the sum would be
// too large, the bucket is cut into groups that are minimized separately
// (mini-buckets): their messages are then a lower bound of the true one, and
// serve as the bound of a depth-first search in reverse order of elimination.
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/FactorGraph.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <deque>
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;
using Factor = FactorGraph::Factor;

unsigned FactorGraph::addVariable(unsigned domainSize) {
  assert(domainSize >= 1 && "a variable needs a value");
  domains.push_back(domainSize);
  return domains.size() - 1;
}

void FactorGraph::addFactor(ArrayRef<unsigned> variables,
                            std::vector<Cost> table) {
#ifndef NDEBUG
  size_t size = 1;
  for (unsigned variable : variables)
    size *= domains[variable];
  assert(size == table.size() && "one entry per combination of values");
#endif
  factors.push_back(
      {llvm::SmallVector<unsigned, 3>(variables), std::move(table)});
}

/// The entry of `factor` for the values that `assignment` holds.
static Cost lookUp(const Factor &factor, ArrayRef<unsigned> domains,
                   ArrayRef<unsigned> assignment) {
  size_t entry = 0;
  for (unsigned variable : factor.variables)
    entry = entry * domains[variable] + assignment[variable];
  return factor.table[entry];
}

Cost FactorGraph::evaluate(ArrayRef<unsigned> assignment) const {
  Cost sum = 0;
  for (const Factor &factor : factors)
    sum = addCosts(sum, lookUp(factor, domains, assignment));
  return sum;
}

namespace {
class Eliminator {
public:
  Eliminator(const FactorGraph &graph, const SolveOptions &options);

  Solution run();

private:
  struct Bucket {
    unsigned variable;
    llvm::SmallVector<unsigned, 4> factors;  // what was eliminated here
    llvm::SmallVector<unsigned, 2> messages; // what was sent on
  };

  void attach(unsigned factor);
  void connect(ArrayRef<unsigned> variables);
  void eliminate(unsigned variable);
  unsigned minimizeOut(unsigned variable, ArrayRef<unsigned> group);
  std::vector<unsigned> substituteBack() const;
  void search(Solution &solution) const;
  Cost getBucketCost(const Bucket &bucket, ArrayRef<unsigned> assignment) const;

  const FactorGraph &graph;
  const SolveOptions &options;
  ArrayRef<unsigned> domains;
  std::deque<Factor> owned; // messages
  std::vector<const Factor *> pool;
  std::vector<char> isDone; // factors that are in a bucket
  std::vector<llvm::SmallVector<unsigned, 4>> factorsOf;
  std::vector<llvm::SmallDenseSet<unsigned, 4>> neighbors;
  // Logarithm of the size of the table that eliminating a variable builds.
  std::vector<int64_t> logDomain, width;
  std::set<std::pair<int64_t, unsigned>> queue;
  std::vector<Bucket> buckets;
  Cost constant = 0;
  bool relaxed = false;
};
} // namespace

Eliminator::Eliminator(const FactorGraph &graph, const SolveOptions &options)
    : graph(graph), options(options), domains(graph.getDomains()) {
  unsigned count = graph.getNumVariables();
  factorsOf.resize(count);
  neighbors.resize(count);
  for (unsigned size : domains)
    logDomain.push_back(std::llround(std::log2(double(size)) * 65536));
  width = logDomain;
  for (const Factor &factor : graph.getFactors()) {
    pool.push_back(&factor);
    isDone.push_back(false);
    attach(pool.size() - 1);
  }
  for (unsigned v = 0; v < count; ++v)
    queue.insert({width[v], v});
}

void Eliminator::attach(unsigned factor) {
  ArrayRef<unsigned> variables = pool[factor]->variables;
  if (variables.empty()) {
    constant = addCosts(constant, pool[factor]->table.front());
    isDone[factor] = true;
    return;
  }
  for (unsigned variable : variables)
    factorsOf[variable].push_back(factor);
  connect(variables);
}

void Eliminator::connect(ArrayRef<unsigned> variables) {
  for (unsigned a : variables) {
    int64_t grown = width[a];
    for (unsigned b : variables)
      if (a != b && neighbors[a].insert(b).second)
        grown += logDomain[b];
    if (grown == width[a])
      continue;
    if (queue.erase({width[a], a}))
      queue.insert({grown, a});
    width[a] = grown;
  }
}

/// The number of entries of a table over `variables`, stopping at `limit`.
static int64_t getTableSize(ArrayRef<unsigned> variables,
                            ArrayRef<unsigned> domains, int64_t limit) {
  int64_t size = 1;
  for (unsigned variable : variables) {
    size *= domains[variable];
    if (size > limit)
      return limit + 1;
  }
  return size;
}

/// Sorted union of the variables of `factors`.
static llvm::SmallVector<unsigned, 8> getScope(ArrayRef<unsigned> group,
                                               ArrayRef<const Factor *> pool) {
  llvm::SmallVector<unsigned, 8> scope;
  for (unsigned factor : group)
    llvm::append_range(scope, pool[factor]->variables);
  llvm::sort(scope);
  scope.erase(llvm::unique(scope), scope.end());
  return scope;
}

unsigned Eliminator::minimizeOut(unsigned variable, ArrayRef<unsigned> group) {
  llvm::SmallVector<unsigned, 8> scope = getScope(group, pool);
  llvm::erase(scope, variable);
  int64_t size =
      getTableSize(scope, domains, std::numeric_limits<int64_t>::max() >> 24);
  unsigned values = domains[variable];

  // For each factor the step of its entry per variable of the scope.
  struct Cursor {
    const Cost *entry;
    size_t step;
    llvm::SmallVector<size_t, 8> steps;
  };
  llvm::SmallVector<Cursor, 8> cursors;
  for (unsigned index : group) {
    const Factor &factor = *pool[index];
    Cursor cursor{factor.table.data(), 0,
                  llvm::SmallVector<size_t, 8>(scope.size(), 0)};
    size_t stride = 1;
    for (unsigned other : llvm::reverse(factor.variables)) {
      if (other == variable)
        cursor.step = stride;
      else
        cursor.steps[llvm::lower_bound(scope, other) - scope.begin()] = stride;
      stride *= domains[other];
    }
    cursors.push_back(std::move(cursor));
  }

  Factor message;
  message.variables.assign(scope.begin(), scope.end());
  message.table.reserve(size);
  llvm::SmallVector<unsigned, 8> index(scope.size(), 0);
  for (int64_t i = 0; i < size; ++i) {
    Cost best = kInfiniteCost;
    for (unsigned value = 0; value < values; ++value) {
      Cost sum = 0;
      for (const Cursor &cursor : cursors)
        sum = addCosts(sum, cursor.entry[value * cursor.step]);
      best = std::min(best, sum);
    }
    message.table.push_back(best);
    for (size_t d = scope.size(); d-- > 0;) {
      for (Cursor &cursor : cursors)
        cursor.entry += cursor.steps[d];
      if (++index[d] < domains[scope[d]])
        break;
      for (Cursor &cursor : cursors)
        cursor.entry -= cursor.steps[d] * domains[scope[d]];
      index[d] = 0;
    }
  }
  owned.push_back(std::move(message));
  pool.push_back(&owned.back());
  isDone.push_back(false);
  return pool.size() - 1;
}

void Eliminator::eliminate(unsigned variable) {
  Bucket bucket{variable, {}, {}};
  for (unsigned factor : factorsOf[variable])
    if (!isDone[factor]) {
      bucket.factors.push_back(factor);
      isDone[factor] = true;
    }
  factorsOf[variable].clear();

  // Groups whose joint table is small enough; one group in narrow graphs.
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>, 2> groups;
  for (unsigned factor : bucket.factors) {
    bool placed = false;
    for (auto &group : groups) {
      group.push_back(factor);
      if (getTableSize(getScope(group, pool), domains, options.maxTableSize) <=
          options.maxTableSize) {
        placed = true;
        break;
      }
      group.pop_back();
    }
    if (!placed)
      groups.push_back({factor});
  }
  relaxed |= groups.size() > 1;

  for (unsigned other : neighbors[variable]) {
    neighbors[other].erase(variable);
    if (queue.erase({width[other], other}))
      queue.insert({width[other] - logDomain[variable], other});
    width[other] -= logDomain[variable];
  }
  neighbors[variable].clear();
  for (ArrayRef<unsigned> group : groups) {
    unsigned message = minimizeOut(variable, group);
    bucket.messages.push_back(message);
    attach(message);
  }
  buckets.push_back(std::move(bucket));
}

Cost Eliminator::getBucketCost(const Bucket &bucket,
                               ArrayRef<unsigned> assignment) const {
  Cost sum = 0;
  for (unsigned factor : bucket.factors)
    sum = addCosts(sum, lookUp(*pool[factor], domains, assignment));
  return sum;
}

std::vector<unsigned> Eliminator::substituteBack() const {
  std::vector<unsigned> assignment(domains.size(), 0);
  for (const Bucket &bucket : llvm::reverse(buckets)) {
    unsigned best = 0;
    Cost least = kInfiniteCost;
    for (unsigned value = 0; value < domains[bucket.variable]; ++value) {
      assignment[bucket.variable] = value;
      Cost cost = getBucketCost(bucket, assignment);
      if (cost < least) {
        least = cost;
        best = value;
      }
    }
    assignment[bucket.variable] = best;
  }
  return assignment;
}

// The bound of a partial assignment is the lower bound of the whole plus what
// each assigned bucket costs above the messages that stand for it there.
void Eliminator::search(Solution &solution) const {
  struct Level {
    llvm::SmallVector<std::pair<Cost, unsigned>, 8> values; // dearest first
    Cost bound;
  };
  size_t depth = buckets.size();
  std::vector<unsigned> assignment(domains.size(), 0);
  std::vector<Level> levels;
  Cost dropped = kInfiniteCost; // the least bound that was not looked at

  auto open = [&](Cost bound) {
    const Bucket &bucket = buckets[depth - 1 - levels.size()];
    Cost expected = 0;
    for (unsigned message : bucket.messages)
      expected =
          addCosts(expected, lookUp(*pool[message], domains, assignment));
    Level level{{}, bound};
    for (unsigned value = 0; value < domains[bucket.variable]; ++value) {
      assignment[bucket.variable] = value;
      Cost cost = getBucketCost(bucket, assignment);
      if (cost != kInfiniteCost)
        level.values.push_back({addCosts(bound, cost - expected), value});
    }
    llvm::sort(level.values, [](auto a, auto b) { return b < a; });
    levels.push_back(std::move(level));
  };

  open(constant);
  int64_t nodes = 0;
  while (!levels.empty()) {
    Level &level = levels.back();
    if (level.values.empty() || level.values.back().first >= solution.cost) {
      levels.pop_back();
      continue;
    }
    if (++nodes > options.maxNodes) {
      for (const Level &open : levels)
        if (!open.values.empty())
          dropped = std::min(dropped, open.values.back().first);
      break;
    }
    auto [bound, value] = level.values.pop_back_val();
    assignment[buckets[depth - levels.size()].variable] = value;
    if (levels.size() < depth) {
      open(bound);
      continue;
    }
    solution.cost = bound;
    solution.assignment = assignment;
  }
  solution.lowerBound =
      std::max(solution.lowerBound, std::min(dropped, solution.cost));
}

Solution Eliminator::run() {
  while (!queue.empty()) {
    unsigned variable = queue.begin()->second;
    queue.erase(queue.begin());
    eliminate(variable);
  }
  Solution solution;
  solution.lowerBound = constant;
  if (constant == kInfiniteCost) {
    solution.exact = true;
    return solution;
  }
  if (!options.initial.empty()) {
    Cost cost = graph.evaluate(options.initial);
    if (cost != kInfiniteCost) {
      solution.assignment.assign(options.initial.begin(),
                                 options.initial.end());
      solution.cost = cost;
    }
  }
  if (!relaxed) {
    solution.assignment = substituteBack();
    solution.cost = constant;
  } else {
    search(solution);
  }
  solution.exact = solution.lowerBound == solution.cost;
  return solution;
}

Solution FactorGraph::solve(const SolveOptions &options) const {
  return Eliminator(*this, options).run();
}
