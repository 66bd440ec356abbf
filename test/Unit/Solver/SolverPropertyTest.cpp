//===- SolverPropertyTest.cpp - Laws of the solver on random graphs -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraphs.h"
#include "gtest/gtest.h"

using namespace mlir::layout;

namespace {

constexpr unsigned kSeed = 20240607;
constexpr unsigned kNumGraphs = 12000;

/// Checks the laws of every solution.
void expectLaws(const Model &model, const Solution &solution) {
  ASSERT_LE(solution.lowerBound, solution.cost);
  ASSERT_EQ(solution.exact, solution.lowerBound == solution.cost);
  ASSERT_EQ(solution.exact, solution.openVariables.empty());
  ASSERT_EQ(solution.assignment.empty() && !model.domains.empty(),
            solution.cost == kInfiniteCost);
  if (!solution.assignment.empty()) {
    ASSERT_EQ(model.evaluate(solution.assignment), solution.cost);
  }
}

#define NAME_GRAPH(i)                                                          \
  SCOPED_TRACE("graph " + std::to_string(i) + " of seed " +                    \
               std::to_string(seed));

TEST(SolverProperty, EliminationFindsTheLeastCost) {
  unsigned seed = kSeed, numForbidden = 0, numCutOff = 0;
  RandomModels models(seed);
  for (unsigned i = 0; i < kNumGraphs; ++i) {
    NAME_GRAPH(i);
    Model model = models.drawSmall();
    Solution solution = model.makeGraph().solve();
    Cost least = minimizeByEnumeration(model);
    ASSERT_EQ(solution.cost, least);
    ASSERT_TRUE(solution.exact);
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, solution));
    numForbidden += least == kInfiniteCost;
    numCutOff += least == kInfiniteCost - 1;
  }
  // The rare cases are among them.
  EXPECT_GT(numForbidden, kNumGraphs / 50);
  EXPECT_GT(numCutOff, kNumGraphs / 50);
}

TEST(SolverProperty, SearchUnderRelaxedBoundsFindsTheLeastCost) {
  unsigned seed = kSeed + 1;
  RandomModels models(seed);
  for (unsigned i = 0; i < kNumGraphs; ++i) {
    NAME_GRAPH(i);
    Model model = models.drawSmall();
    SolveOptions options;
    // Smaller than most tables.
    options.maxTableSize = models.draw(1, 6);
    if (models.draw(0, 3) == 0)
      options.maxTotalSize = models.draw(0, 40);
    Solution solution = model.makeGraph().solve(options);
    ASSERT_EQ(solution.cost, minimizeByEnumeration(model));
    ASSERT_TRUE(solution.exact);
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, solution));
  }
}

/// Cliques that share a variable with an earlier one, or are joined to it. They
/// are too wide for the limit as a whole and in parts.
TEST(SolverProperty, JoinedCliquesAreSolved) {
  unsigned seed = kSeed + 5, numInexact = 0;
  RandomModels models(seed);
  for (unsigned i = 0; i < 300; ++i) {
    NAME_GRAPH(i);
    Model model;
    for (unsigned block = 0; block < 4; ++block) {
      std::vector<unsigned> clique;
      if (block > 0)
        clique.push_back(models.draw(0, model.domains.size() - 1));
      if (block > 0 && models.draw(0, 1)) {
        model.domains.push_back(2);
        unsigned next = model.domains.size() - 1;
        models.addTerm(model, {clique.front(), next});
        clique = {next};
      }
      while (clique.size() < 5) {
        model.domains.push_back(models.draw(1, 3));
        clique.push_back(model.domains.size() - 1);
      }
      for (unsigned a : clique)
        for (unsigned b : clique)
          if (a < b)
            models.addTerm(model, {a, b});
    }
    SolveOptions options;
    options.maxTableSize = models.draw(1, 6);
    Solution solution = model.makeGraph().solve(options);
    Cost least = model.makeGraph().solve().cost;
    ASSERT_EQ(solution.cost, least);
    ASSERT_TRUE(solution.exact);
    options.maxWork = models.draw(0, 3000);
    Solution open = model.makeGraph().solve(options);
    ASSERT_LE(open.lowerBound, least);
    ASSERT_GE(open.cost, least);
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, open));
    numInexact += !open.exact;
  }
  EXPECT_GT(numInexact, 10u);
}

TEST(SolverProperty, BoundsHoldWhenTheSearchIsCutShort) {
  unsigned seed = kSeed + 2, numInexact = 0;
  RandomModels models(seed);
  for (unsigned i = 0; i < kNumGraphs; ++i) {
    NAME_GRAPH(i);
    // Cliques leave a gap between the first bound and the cost.
    Model model = i % 4 ? models.drawSmall() : models.drawClique();
    std::vector<unsigned> initial = models.drawAssignment(model);
    SolveOptions options;
    options.maxTableSize = models.draw(1, 6);
    options.maxNodes = models.draw(0, 8);
    if (models.draw(0, 3) > 0)
      options.initial = initial;
    Solution solution = model.makeGraph().solve(options);
    Cost least = minimizeByEnumeration(model);
    ASSERT_LE(solution.lowerBound, least);
    ASSERT_GE(solution.cost, least);
    if (!options.initial.empty()) {
      ASSERT_LE(solution.cost, model.evaluate(initial));
    }
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, solution));
    numInexact += !solution.exact;
  }
  EXPECT_GT(numInexact, kNumGraphs / 100);
}

/// Renumbers variables, shuffles factors and transposes their tables.
Model rearrange(const Model &model, RandomModels &models) {
  std::vector<unsigned> numbers =
      models.drawScope(model.domains.size(), model.domains.size());
  Model result;
  result.domains.resize(model.domains.size());
  for (size_t v = 0; v < numbers.size(); ++v)
    result.domains[numbers[v]] = model.domains[v];
  for (const Model::Term &term : model.terms) {
    // Position i of the new scope is position turned[i] of the old one.
    std::vector<unsigned> turned =
        models.drawScope(term.scope.size(), term.scope.size());
    Model::Term moved;
    for (unsigned position : turned)
      moved.scope.push_back(numbers[term.scope[position]]);
    moved.table.resize(term.table.size());
    for (size_t entry = 0; entry < term.table.size(); ++entry) {
      std::vector<unsigned> values(term.scope.size());
      size_t rest = entry;
      for (size_t i = values.size(); i-- > 0;) {
        values[i] = rest % model.domains[term.scope[i]];
        rest /= model.domains[term.scope[i]];
      }
      size_t target = 0;
      for (size_t i = 0; i < turned.size(); ++i)
        target = target * result.domains[moved.scope[i]] + values[turned[i]];
      moved.table[target] = term.table[entry];
    }
    result.terms.push_back(std::move(moved));
  }
  models.shuffle(result.terms);
  return result;
}

TEST(SolverProperty, NumberingDoesNotMatter) {
  unsigned seed = kSeed + 3;
  RandomModels models(seed);
  for (unsigned i = 0; i < 2000; ++i) {
    NAME_GRAPH(i);
    Model model = i % 2 ? models.drawSmall()
                        : models.drawLong(models.draw(10, 60), 4, i % 4 == 0);
    Model other = rearrange(model, models);
    Solution solution = model.makeGraph().solve();
    ASSERT_TRUE(solution.exact);
    ASSERT_EQ(other.makeGraph().solve().cost, solution.cost);
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, solution));
  }
}

/// The minimum over all values of a variable is the minimum of the graph. This
/// splits wide and long graphs, which cannot be enumerated: without the hub,
/// the solver sees an entirely different graph.
TEST(SolverProperty, LeastOverTheValuesOfAVariable) {
  unsigned seed = kSeed + 4;
  RandomModels models(seed);
  for (unsigned i = 0; i < 600; ++i) {
    NAME_GRAPH(i);
    Model model = models.drawLong(models.draw(20, 90), 1 + i % 6, i % 3 > 0);
    unsigned variable = i % 2 ? 0 : models.draw(0, model.domains.size() - 1);
    Cost least = kInfiniteCost;
    for (unsigned value = 0; value < model.domains[variable]; ++value)
      least =
          std::min(least, fix(model, variable, value).makeGraph().solve().cost);
    Solution solution = model.makeGraph().solve();
    ASSERT_EQ(solution.cost, least);
    ASSERT_TRUE(solution.exact);
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, solution));
  }
}

/// Hubs have so many neighbors that their edges are not scanned.
TEST(SolverProperty, Hubs) {
  unsigned seed = kSeed + 8;
  RandomModels models(seed);
  for (unsigned i = 0; i < 600; ++i) {
    NAME_GRAPH(i);
    unsigned numHubs = models.draw(1, 5);
    Model model = models.drawHubs(numHubs, models.draw(20, 160));
    Cost least = minimizeOverHubs(model, numHubs);
    Solution solution = model.makeGraph().solve();
    ASSERT_EQ(solution.cost, least);
    ASSERT_TRUE(solution.exact);
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, solution));
    ASSERT_EQ(rearrange(model, models).makeGraph().solve().cost, least);
    SolveOptions options;
    options.maxTableSize = models.draw(1, 9);
    solution = model.makeGraph().solve(options);
    ASSERT_LE(solution.lowerBound, least);
    ASSERT_GE(solution.cost, least);
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, solution));
  }
}

TEST(SolverProperty, BoundsOfLongGraphsHold) {
  unsigned seed = kSeed + 5;
  RandomModels models(seed);
  for (unsigned i = 0; i < 400; ++i) {
    NAME_GRAPH(i);
    Model model = models.drawLong(models.draw(20, 90), 1 + i % 6, i % 3 > 0);
    std::vector<unsigned> initial = models.drawAssignment(model);
    SolveOptions options;
    options.maxTableSize = models.draw(1, 30);
    options.maxNodes = models.draw(0, 300);
    options.maxWork = models.draw(0, 1 << 16);
    options.initial = initial;
    FactorGraph graph = model.makeGraph();
    Cost least = graph.solve().cost;
    Solution solution = graph.solve(options);
    ASSERT_LE(solution.lowerBound, least);
    ASSERT_GE(solution.cost, least);
    ASSERT_LE(solution.cost, model.evaluate(initial));
    ASSERT_NO_FATAL_FAILURE(expectLaws(model, solution));
  }
}

TEST(SolverProperty, ScalingAndSplittingCosts) {
  unsigned seed = kSeed + 6;
  RandomModels models(seed);
  for (unsigned i = 0; i < 1000; ++i) {
    NAME_GRAPH(i);
    Model model = models.drawSmall();
    for (Model::Term &term : model.terms)
      for (Cost &entry : term.table)
        entry = entry == kInfiniteCost ? entry : entry % 1000;
    Cost least = model.makeGraph().solve().cost;
    Model scaled = model, split = model;
    for (Model::Term &term : scaled.terms)
      for (Cost &entry : term.table)
        entry = scaleCost(entry, 12345);
    for (size_t t = 0, e = split.terms.size(); t < e; ++t) {
      Model::Term rest = split.terms[t];
      for (size_t entry = 0; entry < rest.table.size(); ++entry) {
        Cost &whole = split.terms[t].table[entry];
        Cost part = whole == kInfiniteCost ? 0 : models.random() % (whole + 1);
        rest.table[entry] = part;
        whole = whole == kInfiniteCost ? whole : whole - part;
      }
      split.terms.push_back(std::move(rest));
    }
    ASSERT_EQ(scaled.makeGraph().solve().cost, scaleCost(least, 12345));
    ASSERT_EQ(split.makeGraph().solve().cost, least);
  }
}

/// Components are searched one by one: a hard one does not affect the others.
TEST(SolverProperty, ComponentsAddUp) {
  unsigned seed = kSeed + 7;
  RandomModels models(seed);
  Model all;
  Cost sum = 0;
  for (unsigned i = 0; i < 300; ++i) {
    NAME_GRAPH(i);
    Model model = models.drawSmall();
    for (Model::Term &term : model.terms)
      for (Cost &entry : term.table)
        entry %= 1000;
    sum += minimizeByEnumeration(model);
    unsigned first = all.domains.size();
    all.domains.insert(all.domains.end(), model.domains.begin(),
                       model.domains.end());
    for (Model::Term &term : model.terms) {
      for (unsigned &variable : term.scope)
        variable += first;
      all.terms.push_back(term);
    }
  }
  FactorGraph graph = all.makeGraph();
  for (int64_t maxTableSize : {3, 1000}) {
    SolveOptions options;
    options.maxTableSize = maxTableSize;
    Solution solution = graph.solve(options);
    EXPECT_EQ(solution.cost, sum);
    EXPECT_TRUE(solution.exact);
  }
}

} // namespace
