//===- FactorGraphTest.cpp ------------------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/FactorGraph.h"
#include "gtest/gtest.h"
#include <chrono>
#include <random>

using namespace mlir::layout;

namespace {

constexpr unsigned kSeed = 20240607;

Cost minimizeByEnumeration(const FactorGraph &graph) {
  std::vector<unsigned> assignment(graph.getNumVariables(), 0);
  Cost least = kInfiniteCost;
  while (true) {
    least = std::min(least, graph.evaluate(assignment));
    size_t v = 0;
    while (v < assignment.size() && ++assignment[v] == graph.getDomainSize(v))
      assignment[v++] = 0;
    if (v == assignment.size())
      return least;
  }
}

FactorGraph makeRandomGraph(std::mt19937 &random) {
  auto draw = [&](unsigned low, unsigned high) {
    return low + random() % (high - low + 1);
  };
  FactorGraph graph;
  unsigned variables = draw(1, 7);
  for (unsigned v = 0; v < variables; ++v)
    graph.addVariable(draw(1, 4));
  // Large costs show what floating point would lose; ties and forbidden
  // entries are frequent.
  Cost scale = draw(0, 1) ? 1 : (Cost(1) << 40) + 1;
  unsigned forbidden = draw(0, 40);
  for (unsigned f = 0, count = draw(0, 2 * variables); f < count; ++f) {
    std::vector<unsigned> scope(variables);
    for (unsigned v = 0; v < variables; ++v)
      scope[v] = v;
    std::shuffle(scope.begin(), scope.end(), random);
    scope.resize(draw(0, std::min(4u, variables)));
    size_t size = 1;
    for (unsigned v : scope)
      size *= graph.getDomainSize(v);
    std::vector<Cost> table(size);
    for (Cost &entry : table)
      entry =
          draw(0, 99) < forbidden ? kInfiniteCost : Cost(draw(0, 9)) * scale;
    graph.addFactor(scope, std::move(table));
  }
  return graph;
}

TEST(FactorGraph, EmptyGraphCostsNothing) {
  Solution solution = FactorGraph().solve();
  EXPECT_EQ(solution.cost, 0);
  EXPECT_TRUE(solution.exact);
}

TEST(FactorGraph, ReportsThatNothingIsAllowed) {
  FactorGraph graph;
  unsigned a = graph.addVariable(2), b = graph.addVariable(2);
  graph.addFactor({a, b}, {0, kInfiniteCost, kInfiniteCost, 0});
  graph.addFactor({a}, {kInfiniteCost, 0});
  graph.addFactor({b}, {0, kInfiniteCost});
  Solution solution = graph.solve();
  EXPECT_TRUE(solution.assignment.empty());
  EXPECT_EQ(solution.cost, kInfiniteCost);
  EXPECT_TRUE(solution.exact);
}

TEST(FactorGraph, FiniteSumsNeverBecomeForbidden) {
  EXPECT_EQ(addCosts(kInfiniteCost - 1, kInfiniteCost - 1), kInfiniteCost - 1);
  EXPECT_EQ(addCosts(1, kInfiniteCost), kInfiniteCost);
  EXPECT_EQ(scaleCost(kInfiniteCost / 2, 3), kInfiniteCost - 1);
  EXPECT_EQ(scaleCost(5, 0), 0);
}

TEST(FactorGraph, EliminationFindsTheLeastCost) {
  std::mt19937 random(kSeed);
  for (int i = 0; i < 4000; ++i) {
    FactorGraph graph = makeRandomGraph(random);
    Solution solution = graph.solve();
    ASSERT_EQ(solution.cost, minimizeByEnumeration(graph))
        << "graph " << i << " of seed " << kSeed;
    ASSERT_TRUE(solution.exact);
    ASSERT_EQ(solution.lowerBound, solution.cost);
    if (solution.cost != kInfiniteCost) {
      ASSERT_EQ(graph.evaluate(solution.assignment), solution.cost)
          << "graph " << i << " of seed " << kSeed;
    }
  }
}

TEST(FactorGraph, SearchUnderRelaxedBoundsFindsTheLeastCost) {
  std::mt19937 random(kSeed + 1);
  for (int i = 0; i < 4000; ++i) {
    FactorGraph graph = makeRandomGraph(random);
    SolveOptions options;
    options.maxTableSize = 6; // fewer than most factors hold
    Solution solution = graph.solve(options);
    ASSERT_EQ(solution.cost, minimizeByEnumeration(graph))
        << "graph " << i << " of seed " << kSeed + 1;
    ASSERT_TRUE(solution.exact);
  }
}

TEST(FactorGraph, BoundsHoldWhenTheSearchIsCutShort) {
  std::mt19937 random(kSeed + 2);
  for (int i = 0; i < 4000; ++i) {
    FactorGraph graph = makeRandomGraph(random);
    std::vector<unsigned> initial;
    for (unsigned v = 0; v < graph.getNumVariables(); ++v)
      initial.push_back(random() % graph.getDomainSize(v));
    SolveOptions options;
    options.maxTableSize = 6;
    options.maxNodes = 1 + random() % 12;
    options.initial = initial;
    Solution solution = graph.solve(options);
    Cost least = minimizeByEnumeration(graph);
    ASSERT_LE(solution.lowerBound, least)
        << "graph " << i << " of seed " << kSeed + 2;
    ASSERT_GE(solution.cost, least)
        << "graph " << i << " of seed " << kSeed + 2;
    ASSERT_LE(solution.cost, graph.evaluate(initial));
    ASSERT_EQ(solution.exact, solution.cost == solution.lowerBound);
    if (!solution.assignment.empty()) {
      ASSERT_EQ(graph.evaluate(solution.assignment), solution.cost);
    }
  }
}

/// A chain with skip edges and one variable that everything depends on.
FactorGraph makeLongGraph(unsigned length) {
  std::mt19937 random(kSeed);
  FactorGraph graph;
  unsigned hub = graph.addVariable(3);
  std::vector<Cost> table(16), hubTable(12);
  for (unsigned v = 0; v < length; ++v) {
    unsigned variable = graph.addVariable(4);
    for (unsigned distance : {1u, 3u}) {
      if (v < distance)
        continue;
      for (Cost &entry : table)
        entry = random() % 1000;
      graph.addFactor({variable - distance, variable}, table);
    }
    for (Cost &entry : hubTable)
      entry = random() % 1000;
    graph.addFactor({variable, hub}, hubTable);
  }
  return graph;
}

TEST(FactorGraph, TimeGrowsWithTheLengthOfNarrowGraphs) {
  auto measure = [](unsigned length) {
    FactorGraph graph = makeLongGraph(length);
    auto start = std::chrono::steady_clock::now();
    Solution solution = graph.solve();
    EXPECT_TRUE(solution.exact);
    EXPECT_EQ(graph.evaluate(solution.assignment), solution.cost);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  double small = measure(10000), large = measure(100000);
  RecordProperty("seconds_for_100000_variables", std::to_string(large));
  // Ten times the work; a quadratic solver would take a hundred times.
  EXPECT_LT(large, 40 * small + 0.05);
}

TEST(FactorGraph, SameGraphSameAnswer) {
  FactorGraph graph = makeLongGraph(500);
  std::vector<unsigned> first = graph.solve().assignment;
  EXPECT_EQ(first, makeLongGraph(500).solve().assignment);
}

} // namespace
