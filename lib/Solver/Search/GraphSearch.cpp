//===- GraphSearch.cpp - Branch and bound over factor graphs --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/GraphSearch.h"
#include "Elimination/BucketElimination.h"
#include "Elimination/EliminationOrder.h"
#include "GraphReduction.h"
#include "Search/SearchNode.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

/// The maximum number of entries of a table for which a component is
/// eliminated; components that need larger tables are searched. In the graph of
/// the values that the first lower bound leaves, the limit is
/// SolveOptions::maxTableSize instead.
static constexpr int64_t kSmallTable = int64_t(1) << 16;

/// The maximum number of table entries of a graph and of all graphs that it is
/// nested in, without the outermost one; and the maximum depth of nesting. A
/// graph beyond them is not solved, and its lower bound is 0.
static constexpr int64_t kMostHeld = int64_t(1) << 23;
static constexpr unsigned kMostDepth = 256;

/// The amount by which SolveStatistics::work grows per table entry when the
/// graph of the values that a search has left is built and reduced.
static constexpr int64_t kWorkPerEntry = 64;

Cost GraphSearch::Goal::roundUp(Cost bound) const {
  if (bound >= kInfiniteCost - step)
    return bound;
  Cost above = (bound - rest) % step;
  return above == 0 ? bound : bound + (above < 0 ? -above : step - above);
}

GraphSearch::GraphSearch(const FactorGraph &graph, const SolveOptions &options)
    : graph(graph), options(options), start(std::chrono::steady_clock::now()),
      limits{options.maxNodes, options.maxWork, options.maxSeconds},
      maxTableSize(std::min(options.maxTableSize, options.maxTotalSize)) {
  if (options.certify)
    proof.emplace(graph);
}

static double getSecondsSince(std::chrono::steady_clock::time_point start) {
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

bool GraphSearch::isOutOfTime() const {
  return getSecondsSince(start) >= limits.seconds;
}

/// Sets the `limits` of the next component: what is used so far, plus an equal
/// part of what `most` leaves for `numParts` components, the next one included.
void GraphSearch::shareLimits(const Limits &most, size_t numParts) {
  auto share = [&](auto used, auto most) {
    return used + std::max<decltype(used)>(most - used, 0) / numParts;
  };
  limits.numNodes = share(statistics.numNodes, most.numNodes);
  limits.work = share(statistics.work, most.work);
  limits.seconds = share(getSecondsSince(start), most.seconds);
}

/// Returns the greatest common divisor of all finite costs, or 1 if they are
/// all 0.
static Cost getStep(const FactorGraph &graph) {
  Cost step = 0;
  for (size_t t = 0; t < graph.getNumTables() && step != 1; ++t)
    for (Cost cost : graph.getTable(TableId(t)))
      if (cost != kInfiniteCost)
        step = std::gcd(step, cost);
  return std::max<Cost>(step, 1);
}

GraphSearch::Result GraphSearch::run() {
  Goal goal;
  goal.step = getStep(graph);
  Cost known = kInfiniteCost;
  if (!options.initial.empty()) {
    known = graph.evaluate(options.initial);
    goal.upper = addCosts(known, 1);
  }
  Result answer = solve(graph, goal, /*depth=*/0);
  if (answer.cost > known) {
    answer.cost = known;
    answer.assignment = options.initial.vec();
  }
  answer.lowerBound = std::min(answer.lowerBound, answer.cost);
  if (answer.lowerBound == answer.cost)
    openVariables.clear();
  return answer;
}

/// Splits a core into connected components. A component is wide if elimination
/// would build a message of more than `tableSize` entries. All narrow ones stay
/// in one graph, so that repeated parts are computed once.
GraphSearch::Parts GraphSearch::split(const CoreGraph &core,
                                      int64_t tableSize) const {
  Parts parts;
  std::vector<unsigned> order = getEliminationOrder(core, tableSize);
  unsigned count = core.getNumVariables();
  llvm::IntEqClasses classes(count);
  for (unsigned f = 0; f < core.getNumFactors(); ++f)
    for (unsigned variable : core.getScope(f).drop_front())
      classes.join(core.getScope(f).front(), variable);
  classes.compress();
  std::vector<char> isGone(count, false);
  for (unsigned v : order)
    isGone[v] = true;
  unsigned numWide = 0;
  std::vector<unsigned> wideIndex(classes.getNumClasses(), ~0u);
  for (unsigned v = 0; v < count; ++v)
    if (!isGone[v] && wideIndex[classes[v]] == ~0u)
      wideIndex[classes[v]] = numWide++;
  parts.wide.resize(numWide);
  std::vector<unsigned> index(count);
  auto getPart = [&](unsigned v) -> CoreGraph & {
    unsigned wide = wideIndex[classes[v]];
    return wide == ~0u ? parts.narrow : parts.wide[wide];
  };
  for (unsigned v = 0; v < count; ++v) {
    index[v] = getPart(v).addVariable(core.getOriginal(v), core.getDomain(v));
  }
  llvm::SmallVector<unsigned, 4> scope;
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    scope.clear();
    for (unsigned variable : core.getScope(f))
      scope.push_back(index[variable]);
    getPart(core.getScope(f).front()).addFactor(scope, core.getTable(f));
  }
  for (unsigned v : order)
    if (wideIndex[classes[v]] == ~0u)
      parts.order.push_back(index[v]);
  return parts;
}

/// Solves a graph exactly by eliminating its variables in `order`. If no
/// assignment is allowed, the lower bound of the result is infinite. Returns
/// std::nullopt if more than `maxTotalSize` table entries were computed.
std::optional<GraphSearch::Result>
GraphSearch::eliminate(const CoreGraph &part, ArrayRef<unsigned> order,
                       const TableStore &store) {
  Result answer;
  CoreGraph core = part;
  TableAlgebra algebra(store);
  BucketElimination elimination(core, order, algebra, options.maxTotalSize);
  BucketElimination::Result result = elimination.run();
  statistics.work += elimination.getWork();
  switch (result) {
  case BucketElimination::Result::TooLarge:
    return std::nullopt;
  case BucketElimination::Result::NothingAllowed:
    answer.lowerBound = kInfiniteCost;
    return answer;
  case BucketElimination::Result::Done:
    break;
  }
  answer.assignment.assign(core.getNumVariables(), 0);
  elimination.substituteBack(answer.assignment);
  WideCost sum = 0;
  for (size_t b = 0; b < elimination.getNumBuckets(); ++b)
    sum += elimination.getBucket(b).constant;
  answer.lowerBound = sum >= kInfiniteCost ? kInfiniteCost - 1 : Cost(sum);
  answer.cost = answer.lowerBound;
  return answer;
}

/// Searches for an assignment that costs less than goal.upper in a component of
/// the outermost graph that is too wide for elimination. Returns the best
/// assignment found, its cost, and a lower bound on the cost of all
/// assignments; without an assignment, the cost is infinite. Adds the variables
/// of the component to `openVariables` if the lower bound is below the cost.
GraphSearch::Result GraphSearch::searchWhole(const CoreGraph &part,
                                             const TableStore &store,
                                             Goal goal) {
  Result found = search(part, store, goal, /*depth=*/0);
  if (found.lowerBound < found.cost)
    for (unsigned v = 0; v < part.getNumVariables(); ++v)
      openVariables.push_back(part.getOriginal(v));
  return found;
}

GraphSearch::Result GraphSearch::searchComponent(const CoreGraph &part,
                                                 const TableStore &store,
                                                 Goal goal, unsigned depth,
                                                 bool isOnly) {
  size_t start = 0;
  ProofWriter::Names outer;
  if (proves()) {
    outer = proof->enter(part.getOriginals());
    proof->beginComponent(
        llvm::to_vector(llvm::seq<unsigned>(0, part.getNumVariables())));
    start = proof->getSize();
  }
  Result found = depth == 0 ? searchWhole(part, store, goal)
                            : search(part, store, goal, depth);
  if (proves()) {
    if (!isOnly)
      proof->insertWitness(start, found.assignment);
    proof->end();
    proof->leave(std::move(outer));
  }
  return found;
}

GraphSearch::Result GraphSearch::solve(const FactorGraph &graph, Goal goal,
                                       unsigned depth) {
  Result answer;
  int64_t numEntries = 0;
  for (size_t f = 0; depth > 0 && f < graph.getNumFactors(); ++f)
    numEntries += graph.getTable(graph.getFactor(f).table).size();
  statistics.work += kWorkPerEntry * numEntries;
  llvm::SaveAndRestore held(numHeld, numHeld + numEntries);
  if (depth > kMostDepth || numHeld > kMostHeld)
    return answer;
  TableAlgebra algebra(graph.getTables());
  GraphReduction reduction(graph, algebra, maxTableSize, proves());
  reduction.run();
  if (proves())
    proof->reduce(reduction);
  answer.lowerBound = reduction.getConstant();
  if (goal.isMissedBy(answer.lowerBound))
    return answer;
  CoreGraph core = reduction.getCore();
  // Large tables are built once, after the first bound dropped values.
  Parts parts = split(core, depth == 1 ? maxTableSize
                                       : std::min(maxTableSize, kSmallTable));
  std::vector<unsigned> values(graph.getNumVariables(), 0);
  bool isComplete = true;
  auto take = [&](const CoreGraph &part, const Result &found) {
    answer.lowerBound = addCosts(answer.lowerBound, found.lowerBound);
    isComplete &= found.cost != kInfiniteCost;
    for (auto [v, value] : llvm::enumerate(found.assignment))
      values[part.getOriginal(v)] = value;
  };
  if (parts.narrow.getNumVariables() > 0) {
    if (auto found = eliminate(parts.narrow, parts.order, algebra.store)) {
      take(parts.narrow, *found);
      if (proves())
        proof->eliminate(llvm::map_to_vector(parts.order, [&](unsigned v) {
          return parts.narrow.getOriginal(v);
        }));
    } else {
      parts.wide.push_back(std::move(parts.narrow));
    }
  }
  if (depth == 0) {
    statistics.numCoreVariables = core.getNumVariables();
    statistics.numWideComponents = parts.wide.size();
    statistics.work = 0;
  }
  if (isQuick && !parts.wide.empty())
    return answer;
  Cost exact = answer.lowerBound;
  for (auto [index, part] : llvm::enumerate(parts.wide)) {
    if (goal.isMissedBy(answer.lowerBound))
      break;
    if (depth == 0)
      shareLimits({options.maxNodes, options.maxWork, options.maxSeconds},
                  parts.wide.size() - index);
    Goal own;
    own.upper = goal.upper == kInfiniteCost ? goal.upper
                                            : goal.upper - answer.lowerBound;
    if (parts.wide.size() == 1 && exact < kInfiniteCost - 1) {
      own.step = goal.step;
      own.rest = (goal.rest - exact % goal.step + goal.step) % goal.step;
    }
    take(part, searchComponent(part, algebra.store, own, depth,
                               /*isOnly=*/parts.wide.size() == 1));
  }
  answer.lowerBound = goal.roundUp(answer.lowerBound);
  if (answer.lowerBound >= goal.upper || !isComplete)
    return answer;
  reduction.substituteBack(values);
  answer.cost = graph.evaluate(values);
  answer.assignment = std::move(values);
  return answer;
}
