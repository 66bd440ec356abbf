//===- ForestLocalSearch.cpp - Local search over forests of variables -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/ForestLocalSearch.h"
#include "Search/SearchNode.h"
#include "llvm/Support/SaveAndRestore.h"
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

/// The local search ends after this number of consecutive sets of free
/// variables, each of which reduces the gap between cost and lower bound by at
/// most 1/256.
static constexpr unsigned kFailures = 4;

ForestLocalSearch::ForestLocalSearch(
    const CoreGraph &core, const TableStore &store, const SetupCosts &shared,
    std::vector<llvm::SmallVector<unsigned, 6>> values)
    : core(core), store(store), shared(shared), values(std::move(values)),
      random(core.getNumVariables()), state(core.getNumVariables()),
      trees(core.getNumVariables()), index(core.getNumVariables()) {
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    if (!shared.isSetupVariable(v) && this->values[v].size() > 1)
      order.push_back(v);
}

template <typename T> void ForestLocalSearch::shuffle(T &list) {
  for (size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[random() % i]);
}

unsigned ForestLocalSearch::findTree(unsigned variable) {
  while (trees[variable] != variable)
    variable = trees[variable] = trees[trees[variable]];
  return variable;
}

/// Marks a variable as free, i.e. to be optimized, or leaves it fixed if that
/// would close a cycle of free variables. It also stays fixed if more than two
/// variables would be free in one factor, or among all that share factors with
/// one setup variable, which represents a copy of a tensor.
void ForestLocalSearch::freeIfPossible(unsigned variable) {
  llvm::SmallVector<unsigned, 8> neighbors, roots;
  bool isPossible = true;
  core.forEachFactorOf(variable, [&](unsigned factor) {
    unsigned numFree = 0;
    auto meet = [&](unsigned other) {
      if (other == variable || state[other] != State::Free)
        return;
      ++numFree;
      if (!llvm::is_contained(neighbors, other))
        neighbors.push_back(other);
    };
    for (unsigned other : core.getScope(factor)) {
      if (!isPossible)
        return;
      meet(other);
      if (shared.isSetupVariable(other))
        core.forEachFactorOf(other, [&](unsigned f) {
          for (unsigned third : core.getScope(f))
            meet(third);
        });
    }
    isPossible &= numFree < 2;
  });
  for (unsigned other : neighbors) {
    unsigned root = findTree(other);
    isPossible &= !llvm::is_contained(roots, root);
    roots.push_back(root);
  }
  if (!isPossible)
    return;
  state[variable] = State::Free;
  for (unsigned root : roots)
    trees[root] = variable;
}

void ForestLocalSearch::addVariable(unsigned variable) {
  index[variable] = graph.addVariable(values[variable].size());
  added.push_back(variable);
}

/// Adds a factor of the core to `graph`, as a table over its free variables.
/// Its fixed variables have their values in `assignment`.
void ForestLocalSearch::addFactor(unsigned factor,
                                  ArrayRef<unsigned> assignment) {
  ArrayRef<unsigned> all = core.getScope(factor);
  const Cost *from = store[core.getTable(factor)].entries;
  llvm::SmallVector<unsigned, 4> scope;
  for (unsigned variable : all)
    if (state[variable] != State::Fixed)
      scope.push_back(index[variable]);
  entries.clear();
  auto visit = [&](auto &self, unsigned place, size_t at) -> void {
    if (place == all.size())
      return entries.push_back(from[at]);
    unsigned variable = all[place];
    at *= core.getDomain(variable);
    if (state[variable] == State::Fixed)
      return self(self, place + 1, at + assignment[variable]);
    for (unsigned value : values[variable])
      self(self, place + 1, at + value);
  };
  visit(visit, 0, 0);
  graph.addFactor(scope, entries);
}

const FactorGraph &ForestLocalSearch::makeNext(ArrayRef<unsigned> assignment) {
  graph = FactorGraph();
  added.clear();
  shuffle(order);
  std::fill(state.begin(), state.end(), State::Fixed);
  std::iota(trees.begin(), trees.end(), 0);
  for (unsigned variable : order)
    freeIfPossible(variable);
  for (unsigned variable : order)
    if (state[variable] == State::Free) {
      shuffle(values[variable]);
      addVariable(variable);
    }
  // The setup variables of free variables are free as well.
  for (size_t i = 0, count = added.size(); i < count; ++i)
    core.forEachFactorOf(added[i], [&](unsigned factor) {
      for (unsigned other : core.getScope(factor))
        if (shared.isSetupVariable(other) && state[other] == State::Fixed) {
          state[other] = State::Free;
          values[other] = {0, 1};
          addVariable(other);
        }
    });
  for (unsigned variable : added)
    core.forEachFactorOf(variable, [&](unsigned factor) {
      // A factor is added with the first of its free variables.
      for (unsigned other : core.getScope(factor))
        if (state[other] == State::Free)
          return other == variable ? addFactor(factor, assignment) : void();
    });
  return graph;
}

void ForestLocalSearch::takeOver(ArrayRef<unsigned> solution,
                                 std::vector<unsigned> &assignment) const {
  for (auto [variable, value] : llvm::zip_equal(added, solution))
    assignment[variable] = values[variable][value];
  shared.complete(assignment);
}

void GraphSearch::improveByForests(Node &node) {
  std::optional<Values> values = node.getValues(kInfiniteCost - 1);
  if (!values || node.answer.assignment.empty())
    return;
  ForestLocalSearch descent(node.core, node.store, node.dual.getSetupCosts(),
                            std::move(*values));
  llvm::SaveAndRestore quick(isQuick, true);
  std::vector<unsigned> assignment = node.answer.assignment;
  unsigned numFailures = 0;
  while (numFailures < kFailures && !isOver()) {
    Result found = solve(descent.makeNext(assignment), Goal(), node.depth + 1);
    if (found.assignment.empty())
      return;
    descent.takeOver(found.assignment, assignment);
    Cost before = node.goal.upper;
    node.takeIfBetter(assignment);
    Cost gain = before - node.goal.upper;
    Cost missing = before - node.answer.lowerBound;
    numFailures = gain > missing / 256 ? 0 : numFailures + 1;
  }
}
