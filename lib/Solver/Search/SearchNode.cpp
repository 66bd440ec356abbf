//===- SearchNode.cpp - A search node and its bounds ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/SearchNode.h"
#include "Bounds/SharedCopyBound.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir::layout;
using llvm::ArrayRef;

/// The number of passes of a lower bound (DualBound or SharedCopyBound) before
/// each check of how far they have raised it. A pass visits all variables and
/// moves costs.
static constexpr unsigned kPasses = 8;

/// The passes of SharedCopyBound, a lower bound in which consumers share
/// copies, end after this number of consecutive checks without a gain.
static constexpr unsigned kMostIdle = 8;

/// The maximum number of rounds of raising the bound and searching assignments.
static constexpr unsigned kRounds = 8;

Cost GraphSearch::Node::evaluate(ArrayRef<unsigned> values) const {
  Cost sum = 0;
  for (unsigned f = 0; f < core.getNumFactors(); ++f)
    sum = addCosts(sum, core.lookUp(f, values, store));
  return sum;
}

void GraphSearch::Node::takeIfBetter(ArrayRef<unsigned> values) {
  Cost cost = evaluate(values);
  if (cost >= goal.upper)
    return;
  goal.upper = answer.cost = cost;
  answer.assignment = values.vec();
}

void GraphSearch::Node::tighten() {
  proof.writeMoves();
  raiseBound(dual.getBound());
  unsigned before = dual.getNumValues();
  dual.dropValues([&](Cost bound) { return goal.isMissedBy(bound); });
  if (dual.getNumValues() < before)
    raiseBound(dual.getBound());
  proof.writeDrops(/*isBound=*/isClosed());
}

std::optional<GraphSearch::Values>
GraphSearch::Node::getValues(Cost limit) const {
  Values values(core.getNumVariables());
  const SetupCosts &shared = dual.getSetupCosts();
  for (unsigned v = 0; v < values.size(); ++v) {
    if (shared.isSetupVariable(v))
      continue;
    for (auto [x, excess] : llvm::enumerate(dual.getExcess(v)))
      if (excess <= limit && excess != kInfiniteCost)
        values[v].push_back(x);
    if (values[v].empty())
      return std::nullopt;
  }
  for (unsigned v = 0; v < values.size(); ++v)
    if (shared.isSetupVariable(v))
      values[v] = shared.getValuesOf(v, values);
  return values;
}

/// Repeats 8 passes of the dual bound, rounding it to assignments and dropping
/// values. Ends if the bound did not rise, or if it rose by less than 1/64 of
/// its gap to the best assignment (1/16 in nested graphs) while at most 1/32 of
/// the values were dropped. Also ends if the node is solved or a limit is
/// reached.
void GraphSearch::improveBound(Node &node) {
  std::vector<unsigned> values(node.core.getNumVariables(), 0);
  Cost last = node.dual.getBound();
  while (true) {
    for (unsigned i = 0; i < kPasses && (i == 0 || !isOutOfTime()); ++i) {
      node.dual.pass();
      statistics.work += node.dual.getWorkOfPass();
    }
    for (bool byNumber : {false, true})
      if (node.dual.getBound() != kInfiniteCost &&
          !(byNumber && isOutOfTime()) && node.dual.round(values, byNumber))
        node.takeIfBetter(values);
    unsigned before = node.dual.getNumValues();
    node.tighten();
    if (node.isClosed() || isOver())
      return;
    Cost gain = node.dual.getBound() - last;
    Cost missing = node.goal.upper - node.dual.getBound();
    bool dropsMany = node.dual.getNumValues() * 32 < before * 31;
    if (gain == 0 ||
        (gain < missing / (node.depth == 0 ? 64 : 16) && !dropsMany))
      return;
    last = node.dual.getBound();
  }
}

/// Runs passes of `copies`, a lower bound in which all consumers of a tensor
/// share the prices of its copies, and rounds it to assignments. Ends if 8
/// passes drop no value and raise the bound by less than 1/64 of its gap to the
/// best assignment. If the gap is below 64, ends only after kMostIdle checks
/// without a gain, because the bound may rise by fractions of a cost. Also ends
/// if the node is solved or a limit is reached.
void GraphSearch::improveBySharedCopies(Node &node, SharedCopyBound &copies) {
  std::vector<unsigned> values(node.core.getNumVariables(), 0);
  Cost last = copies.getBound();
  unsigned numIdle = 0;
  while (true) {
    int64_t workBefore = copies.getWork();
    for (unsigned i = 0; i < kPasses && (i == 0 || !isOutOfTime()); ++i)
      copies.pass();
    statistics.work += copies.getWork() - workBefore;
    Cost bound = copies.getBound();
    if (bound != kInfiniteCost && copies.round(values)) {
      node.dual.getSetupCosts().complete(values);
      node.takeIfBetter(values);
    }
    bool drops = false;
    // A proof states the bound after the last pass, without dropped values.
    if (!proves()) {
      node.raiseBound(bound);
      copies.dropValues([&](Cost cost) { return node.goal.isMissedBy(cost); },
                        [&](unsigned v, unsigned value) {
                          node.dual.drop(v, value);
                          drops = true;
                        });
      node.raiseBound(copies.getBound());
    }
    Cost gain = bound - last;
    if (node.goal.isMissedBy(copies.getBound()) || isOver() ||
        (!drops && gain < (node.goal.upper - bound) / 64))
      return;
    numIdle = gain == 0 && !drops ? numIdle + 1 : 0;
    if (numIdle == kMostIdle)
      return;
    last = bound;
  }
}

void GraphSearch::searchBySharedCopies(Node &node) {
  const SetupCosts &shared = node.dual.getSetupCosts();
  if (shared.isEmpty())
    return;
  SharedCopyBound copies(node.core, node.store, shared, node.dual.getOrder(),
                         proves());
  if (!copies.isUsable())
    return;
  llvm::scope_exit prove([&] {
    if (proves() && copies.isProvable() &&
        copies.getBound() > node.answer.lowerBound)
      node.raiseBound(copies.writeProof(*proof));
  });
  improveBySharedCopies(node, copies);
}

/// Searches for an assignment: solves the graph of the values that raise the
/// dual bound least. Begins with 2.5 values per variable on average and reduces
/// them, to 1.05 at least, until elimination solves the graph.
void GraphSearch::improveAssignment(Node &node) {
  node.dual.computeExcess();
  std::vector<Cost> sorted;
  const SetupCosts &shared = node.dual.getSetupCosts();
  for (unsigned v = 0; v < node.core.getNumVariables(); ++v)
    for (Cost excess : node.dual.getExcess(v))
      if (excess != kInfiniteCost && !shared.isSetupVariable(v))
        sorted.push_back(excess);
  unsigned numVariables = node.dual.getNumVariables();
  if (sorted.empty())
    return;
  llvm::sort(sorted);
  int64_t tableSize = maxTableSize;
  maxTableSize = std::min<int64_t>(maxTableSize, 1 << 14);
  isQuick = true;
  for (unsigned percent : {250, 200, 160, 140, 125, 115, 105}) {
    size_t count = std::max<size_t>(size_t(numVariables) * percent / 100, 1);
    if (isOver())
      break;
    // This would be the graph of all values, which `finish` solves anyway.
    if (count > sorted.size() && percent > 105)
      continue;
    std::optional<Values> values =
        node.getValues(sorted[std::min(count, sorted.size()) - 1]);
    Result found = values ? solveRest(node, *values) : Result();
    if (found.cost == kInfiniteCost)
      continue;
    node.takeIfBetter(found.assignment);
    break;
  }
  isQuick = false;
  maxTableSize = tableSize;
}

/// Solves the graph of the node in which each variable v has only the values
/// values[v]. The assignment of the result has these values, not their indices.
GraphSearch::Result GraphSearch::solveRest(const Node &node,
                                           const Values &values) {
  const CoreGraph &core = node.core;
  FactorGraph rest;
  std::vector<Cost> entries, kept;
  for (unsigned v = 0; v < core.getNumVariables(); ++v) {
    rest.addVariable(values[v].size());
    kept.clear();
    for (unsigned x : values[v])
      kept.push_back(node.dual.getOwn(v, x));
    rest.addFactor({v}, kept);
  }
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = core.getScope(f);
    if (scope.size() < 2)
      continue;
    node.dual.getEntries(f, entries);
    kept.clear();
    auto visit = [&](auto &self, unsigned place, size_t at) -> void {
      if (place == scope.size())
        return kept.push_back(entries[at]);
      for (unsigned x : values[scope[place]])
        self(self, place + 1, at * core.getDomain(scope[place]) + x);
    };
    visit(visit, 0, 0);
    rest.addFactor(scope, kept);
  }
  ProofWriter::Names outer;
  if (proves()) {
    node.proof.writeSetupVariables(values);
    outer = proof->enter(values);
  }
  Result answer = solve(rest, node.goal, node.depth + 1);
  if (proves())
    proof->leave(std::move(outer));
  for (auto [v, value] : llvm::enumerate(answer.assignment))
    value = values[v][value];
  return answer;
}

/// Splits the search on the variable with most factors that has several values
/// and is not a setup variable. Solves the graph in which it has only the value
/// with the least dual bound, then the one with its other values. Raises the
/// lower bound of the node to the lesser of their two bounds.
void GraphSearch::branch(Node &node, const Values &values) {
  unsigned chosen = 0;
  int64_t most = -1;
  for (unsigned v = 0; v < values.size(); ++v) {
    int64_t degree = 0;
    node.core.forEachFactorOf(v, [&](unsigned) { ++degree; });
    if (values[v].size() > 1 && degree > most &&
        !node.dual.getSetupCosts().isSetupVariable(v)) {
      most = degree;
      chosen = v;
    }
  }
  ArrayRef<Cost> excess = node.dual.getExcess(chosen);
  unsigned best =
      *llvm::min_element(values[chosen], [&](unsigned a, unsigned b) {
        return excess[a] < excess[b];
      });
  Values parts[2] = {values, values};
  parts[0][chosen] = {best};
  llvm::erase(parts[1][chosen], best);
  Cost least = kInfiniteCost;
  for (const Values &part : parts) {
    Result found;
    found.lowerBound = node.answer.lowerBound;
    if (proves())
      proof->branch(chosen, part[chosen]);
    if (!isOver())
      found = solveRest(node, part);
    if (proves())
      proof->end();
    if (found.cost != kInfiniteCost)
      node.takeIfBetter(found.assignment);
    least = std::min(least, found.lowerBound);
  }
  node.answer.lowerBound =
      std::max(node.answer.lowerBound, std::min(node.goal.upper, least));
}

void GraphSearch::finish(Node &node) {
  node.proof.close();
  std::optional<Values> values = node.getValues(kInfiniteCost - 1);
  // At depth 0 only the time limit ends the search here. The graph of the
  // values that the first bound left may be narrow enough for elimination, even
  // if other limits are used up.
  if (!values || (node.depth == 0 ? isOutOfTime() : isOver()))
    return;
  unsigned all = 0;
  for (auto [v, domain] : llvm::enumerate(node.core.getDomains()))
    all += node.dual.getSetupCosts().isSetupVariable(v) ? 0 : domain;
  unsigned numLeft = node.dual.getNumValues();
  bool canSplit = numLeft > node.dual.getNumVariables();
  if (node.depth > 0 && canSplit && numLeft * 10 >= all * 9)
    return branch(node, *values);
  Result found = solveRest(node, *values);
  if (found.cost != kInfiniteCost)
    node.takeIfBetter(found.assignment);
  node.answer.lowerBound = std::max(
      node.answer.lowerBound, std::min(node.goal.upper, found.lowerBound));
}

GraphSearch::Result GraphSearch::search(const CoreGraph &core,
                                        const TableStore &store, Goal goal,
                                        unsigned depth) {
  Node node(core, store, goal, depth, proves() ? &*proof : nullptr);
  ++statistics.numNodes;
  if (depth == 0 && !options.initial.empty()) {
    std::vector<unsigned> values;
    for (unsigned v = 0; v < core.getNumVariables(); ++v)
      values.push_back(options.initial[core.getOriginal(v)]);
    node.takeIfBetter(values);
  }
  searchBySharedCopies(node);
  if (node.isClosed())
    return node.answer;
  // Iterate while the gap closes.
  for (unsigned round = 0; round < kRounds; ++round) {
    Cost before = node.goal.upper, bound = node.dual.getBound();
    improveBound(node);
    if (node.isClosed())
      return node.answer;
    improveAssignment(node);
    node.tighten();
    if (node.isClosed())
      return node.answer;
    Cost gain = before - node.goal.upper + node.dual.getBound() - bound;
    if (isOver() || gain < (node.goal.upper - node.dual.getBound()) / 16)
      break;
  }
  finish(node);
  return node.answer;
}
