//===- RandomGraphs.h - Random sums of tables -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum of tables as plain data. Its cost follows from the definition and its
// minimum from enumeration, which share no code with the solver.
//
//     std::mt19937 random(1);
//     Model model = makeRandomModel(random);
//     model.makeGraph().solve().cost == minimizeByEnumeration(model)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TEST_UNIT_SOLVER_RANDOMGRAPHS_H
#define LAYOUT_TEST_UNIT_SOLVER_RANDOMGRAPHS_H

#include "layout/Solver/FactorGraph.h"
#include <algorithm>
#include <random>

namespace mlir::layout {

struct Model {
  struct Term {
    std::vector<unsigned> scope;
    std::vector<Cost> table;
  };
  std::vector<unsigned> domains;
  std::vector<Term> terms;

  size_t getTableSize(llvm::ArrayRef<unsigned> scope) const {
    size_t size = 1;
    for (unsigned variable : scope)
      size *= domains[variable];
    return size;
  }

  FactorGraph makeGraph() const {
    FactorGraph graph;
    for (unsigned domain : domains)
      graph.addVariable(domain);
    for (const Term &term : terms)
      graph.addFactor(term.scope, term.table);
    return graph;
  }

  Cost evaluate(llvm::ArrayRef<unsigned> assignment) const {
    __extension__ typedef unsigned __int128 Wide;
    Wide sum = 0;
    for (const Term &term : terms) {
      size_t entry = 0;
      for (unsigned variable : term.scope)
        entry = entry * domains[variable] + assignment[variable];
      if (term.table[entry] == kInfiniteCost)
        return kInfiniteCost;
      sum += Wide(term.table[entry]);
    }
    return sum >= Wide(kInfiniteCost) ? kInfiniteCost - 1 : Cost(sum);
  }
};

inline Cost minimizeByEnumeration(const Model &model) {
  std::vector<unsigned> assignment(model.domains.size(), 0);
  Cost least = kInfiniteCost;
  while (true) {
    least = std::min(least, model.evaluate(assignment));
    size_t v = 0;
    while (v < assignment.size() && ++assignment[v] == model.domains[v])
      assignment[v++] = 0;
    if (v == assignment.size())
      return least;
  }
}

/// Returns the least cost of a model in which every factor has at most one
/// variable besides the first `numHubs`, the hubs: for each choice of the hubs,
/// the other variables are independent.
inline Cost minimizeOverHubs(const Model &model, unsigned numHubs) {
  std::vector<unsigned> assignment(model.domains.size(), 0);
  Cost least = kInfiniteCost;
  while (true) {
    std::vector<std::vector<Cost>> costs;
    for (unsigned domain : model.domains)
      costs.emplace_back(domain, 0);
    Cost sum = 0;
    for (const Model::Term &term : model.terms) {
      unsigned own = ~0u;
      for (unsigned variable : term.scope)
        own = variable >= numHubs ? variable : own;
      for (unsigned value = 0; value < (own == ~0u ? 1 : model.domains[own]);
           ++value) {
        size_t entry = 0;
        for (unsigned variable : term.scope)
          entry = entry * model.domains[variable] +
                  (variable == own ? value : assignment[variable]);
        Cost &into = own == ~0u ? sum : costs[own][value];
        into = addCosts(into, term.table[entry]);
      }
    }
    for (unsigned v = numHubs; v < model.domains.size(); ++v)
      sum = addCosts(sum, *std::min_element(costs[v].begin(), costs[v].end()));
    least = std::min(least, sum);
    unsigned v = 0;
    while (v < numHubs && ++assignment[v] == model.domains[v])
      assignment[v++] = 0;
    if (v == numHubs)
      return least;
  }
}

/// Returns the model with the value of a variable fixed. Variables keep their
/// numbers.
inline Model fix(const Model &model, unsigned fixed, unsigned value) {
  Model result = model;
  result.domains[fixed] = 1;
  for (Model::Term &term : result.terms) {
    if (!llvm::is_contained(term.scope, fixed))
      continue;
    std::vector<Cost> kept;
    for (size_t entry = 0; entry < term.table.size(); ++entry) {
      size_t rest = entry;
      for (unsigned variable : llvm::reverse(term.scope)) {
        if (variable == fixed && rest % model.domains[variable] == value)
          kept.push_back(term.table[entry]);
        rest /= model.domains[variable];
      }
    }
    term.table = std::move(kept);
  }
  return result;
}

class RandomModels {
public:
  explicit RandomModels(unsigned seed) : random(seed) {}

  unsigned draw(unsigned low, unsigned high) {
    return low + random() % (high - low + 1);
  }
  std::vector<unsigned> drawAssignment(const Model &model) {
    std::vector<unsigned> assignment;
    for (unsigned domain : model.domains)
      assignment.push_back(draw(0, domain - 1));
    return assignment;
  }

  /// Draws a model with few variables, so that assignments can be enumerated.
  Model drawSmall() {
    Model model;
    unsigned count = draw(1, 7);
    for (unsigned v = 0; v < count; ++v)
      model.domains.push_back(draw(1, 4));
    drawCosts();
    switch (draw(0, 4)) {
    case 0: // a chain
      for (unsigned v = 1; v < count; ++v)
        addTerm(model, {v - 1, v});
      break;
    case 1: // a tree
      for (unsigned v = 1; v < count; ++v)
        addTerm(model, {draw(0, v - 1), v});
      break;
    case 2: // a cycle
      for (unsigned v = 0; v < count && count > 2; ++v)
        addTerm(model, {v, (v + 1) % count});
      break;
    case 3: // pairs
      for (unsigned f = 0, e = draw(0, 3 * count); f < e; ++f)
        addTerm(model, drawScope(count, std::min(2u, count)));
      break;
    default:
      for (unsigned f = 0, e = draw(0, 2 * count); f < e; ++f)
        addTerm(model, drawScope(count, draw(0, std::min(4u, count))));
    }
    for (unsigned v = 0; v < count; ++v)
      if (draw(0, 1))
        addTerm(model, {v});
    for (unsigned again = draw(0, 2); again > 0 && !model.terms.empty();
         --again)
      addTerm(model, model.terms[draw(0, model.terms.size() - 1)].scope);
    return model;
  }

  /// Draws pairs of all variables in which equal values cost the most: the
  /// bound of the linear relaxation is far from the least cost.
  Model drawClique() {
    Model model;
    unsigned count = draw(5, 7), domain = draw(2, 3);
    model.domains.assign(count, domain);
    for (unsigned v = 0; v < count; ++v)
      for (unsigned other = 0; other < v; ++other) {
        std::vector<Cost> table;
        for (unsigned a = 0; a < domain; ++a)
          for (unsigned b = 0; b < domain; ++b)
            table.push_back(a == b ? draw(50, 99) : draw(0, 9));
        model.terms.push_back({{other, v}, std::move(table)});
      }
    return model;
  }

  /// Draws pairs on a graph like that of a program: each variable with some of
  /// the previous `reach`, and the first one with all others if `hasHub`.
  Model drawLong(unsigned count, unsigned reach, bool hasHub) {
    Model model;
    drawCosts();
    for (unsigned v = 0; v < count; ++v) {
      model.domains.push_back(draw(1, 3));
      addTerm(model, {v});
      for (unsigned back = 1; back <= std::min(v, reach); ++back)
        if (back == 1 || draw(0, 2) == 0)
          addTerm(model, {v - back, v});
      if (hasHub && v > 0)
        addTerm(model, {0, v});
    }
    return model;
  }

  /// Draws a model in which the other variables are adjacent to one or two of
  /// the first `numHubs` each, sometimes by two factors; some hubs are
  /// adjacent.
  Model drawHubs(unsigned numHubs, unsigned count) {
    Model model;
    drawCosts();
    for (unsigned v = 0; v < count; ++v) {
      model.domains.push_back(draw(1, 3));
      addTerm(model, {v});
      if (v < numHubs) {
        for (unsigned other = 0; other < v; ++other)
          if (draw(0, 1))
            addTerm(model, {other, v});
        continue;
      }
      unsigned hub = draw(0, numHubs - 1), second = draw(0, numHubs - 1);
      addTerm(model, {hub, v});
      if (draw(0, 4) == 0)
        addTerm(model, {v, hub});
      if (second != hub)
        addTerm(model, {v, second});
    }
    return model;
  }

  std::vector<unsigned> drawScope(unsigned count, unsigned size) {
    std::vector<unsigned> scope;
    for (unsigned v = 0; v < count; ++v)
      scope.push_back(v);
    shuffle(scope);
    scope.resize(size);
    return scope;
  }

  /// Adds a factor with a new table or an existing one of equal size.
  void addTerm(Model &model, std::vector<unsigned> scope) {
    size_t size = model.getTableSize(scope);
    std::vector<Cost> table;
    for (const Model::Term &term : model.terms)
      if (term.table.size() == size && draw(0, 2) == 0)
        table = term.table;
    if (table.empty())
      for (size_t entry = 0; entry < size; ++entry)
        table.push_back(draw(0, 99) < forbidden ? kInfiniteCost
                                                : Cost(draw(0, most)) * scale);
    model.terms.push_back({std::move(scope), std::move(table)});
  }

  template <typename T> void shuffle(std::vector<T> &items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[draw(0, i - 1)]);
  }

  std::mt19937 random;

private:
  /// Draws the range of costs: with or without ties, small or such that sums
  /// exceed int64, and from no to many forbidden entries.
  void drawCosts() {
    const Cost scales[] = {1, (Cost(1) << 40) + 1, Cost(1) << 57,
                           (kInfiniteCost - 1) / 9};
    scale = scales[std::max(0, int(draw(0, 6)) - 3)];
    most = draw(0, 2) == 0 ? 1 : 9;
    forbidden = draw(0, 2) == 0 ? 0 : draw(0, 50);
  }
  Cost scale = 1;
  unsigned most = 9, forbidden = 0;
};

} // namespace mlir::layout

#endif // LAYOUT_TEST_UNIT_SOLVER_RANDOMGRAPHS_H
