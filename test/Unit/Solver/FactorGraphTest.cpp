//===- FactorGraphTest.cpp - Factor graphs, tables, and small solutions ---===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/FactorGraph.h"
#include "gtest/gtest.h"
#include <ctime>
#include <random>

using namespace mlir::layout;

namespace {

TEST(FactorGraph, EmptyGraphCostsNothing) {
  Solution solution = FactorGraph().solve();
  EXPECT_EQ(solution.cost, 0);
  EXPECT_TRUE(solution.exact);
}

TEST(FactorGraph, ExampleOfTheHeader) {
  FactorGraph graph;
  unsigned a = graph.addVariable(2), b = graph.addVariable(2);
  TableId pair = graph.addTable({7, 1, 0, 0});
  graph.addFactor({a}, {0, 5});
  graph.addFactor({a, b}, pair);
  Solution solution = graph.solve();
  EXPECT_EQ(solution.cost, 1);
  EXPECT_EQ(solution.lowerBound, 1);
  EXPECT_EQ(solution.assignment, (std::vector<unsigned>{0, 1}));
}

TEST(FactorGraph, AVariableInSeveralPlacesHasOneValue) {
  FactorGraph graph;
  unsigned a = graph.addVariable(2), b = graph.addVariable(3);
  // Other entries belong to places with different values.
  graph.addFactor({a, a}, {4, 0, 0, 6});
  graph.addFactor({b, a, b},
                  {5, 0, 0, 7, 0, 0, 0, 8, 0, 0, 3, 0, 0, 0, 9, 0, 0, 1});
  Solution solution = graph.solve();
  EXPECT_EQ(solution.assignment, (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(solution.cost, 6 + 1);
  EXPECT_EQ(graph.evaluate({0, 1}), 4 + 8);
}

TEST(FactorGraph, EqualTablesAreOne) {
  FactorGraph graph;
  unsigned a = graph.addVariable(2), b = graph.addVariable(2);
  TableId table = graph.addTable({3, 4});
  EXPECT_EQ(graph.addTable({3, 4}), table);
  EXPECT_NE(graph.addTable({4, 3}), table);
  graph.addFactor({a}, table);
  graph.addFactor({b}, {3, 4});
  EXPECT_EQ(graph.getNumTables(), 2u);
  EXPECT_EQ(graph.getTable(table), llvm::ArrayRef<Cost>({3, 4}));
  ASSERT_EQ(graph.getFactors().size(), 2u);
  EXPECT_EQ(graph.getFactor(1).table, table);
  EXPECT_EQ(graph.getFactor(1).variables, llvm::ArrayRef(b));
  unsigned count = 0;
  for (FactorGraph::Factor factor : graph.getFactors())
    EXPECT_EQ(factor.variables.front(), count++);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(graph.solve().cost, 6);
}

TEST(FactorGraph, TablesStayWhenMoreCome) {
  FactorGraph graph;
  std::vector<TableId> ids;
  for (Cost i = 0; i < 5000; ++i)
    ids.push_back(graph.addTable({i, i * i, 7}));
  for (Cost i = 0; i < 5000; ++i) {
    ASSERT_EQ(graph.getTable(ids[i]), llvm::ArrayRef<Cost>({i, i * i, 7}));
    ASSERT_EQ(graph.addTable({i, i * i, 7}), ids[i]);
  }
}

TEST(FactorGraph, ConstantFactors) {
  FactorGraph graph;
  graph.addFactor({}, {5});
  EXPECT_EQ(graph.solve().cost, 5);
  graph.addVariable(3);
  graph.addFactor({}, {6});
  EXPECT_EQ(graph.solve().cost, 11);
  EXPECT_EQ(graph.solve().assignment, std::vector<unsigned>{0});
}

TEST(FactorGraph, ReportsThatNothingIsAllowed) {
  FactorGraph graph;
  unsigned a = graph.addVariable(2), b = graph.addVariable(2);
  graph.addFactor({a, b}, {0, kInfiniteCost, kInfiniteCost, 0});
  graph.addFactor({a}, {kInfiniteCost, 0});
  graph.addFactor({b}, {0, kInfiniteCost});
  const unsigned initial[] = {1, 1};
  for (int64_t maxTableSize : {1, 100}) {
    SolveOptions options;
    options.maxTableSize = maxTableSize;
    options.initial = initial;
    Solution solution = graph.solve(options);
    EXPECT_TRUE(solution.assignment.empty());
    EXPECT_EQ(solution.cost, kInfiniteCost);
    EXPECT_EQ(solution.lowerBound, kInfiniteCost);
    EXPECT_TRUE(solution.exact);
  }
}

TEST(FactorGraph, FiniteSumsNeverBecomeForbidden) {
  EXPECT_EQ(addCosts(kInfiniteCost - 1, kInfiniteCost - 1), kInfiniteCost - 1);
  EXPECT_EQ(addCosts(1, kInfiniteCost), kInfiniteCost);
  EXPECT_EQ(scaleCost(kInfiniteCost / 2, 3), kInfiniteCost - 1);
  EXPECT_EQ(scaleCost(5, 0), 0);

  FactorGraph graph;
  for (unsigned v = 0; v < 4; ++v) {
    graph.addVariable(2);
    graph.addFactor({v}, {kInfiniteCost - 1, kInfiniteCost - 2});
    for (unsigned w = 0; w < v; ++w)
      graph.addFactor({w, v}, {kInfiniteCost, 7, 7, kInfiniteCost / 2});
  }
  Solution solution = graph.solve();
  EXPECT_EQ(solution.cost, kInfiniteCost - 1);
  EXPECT_TRUE(solution.exact);
}

TEST(FactorGraph, EqualsGoToTheLowestValue) {
  // All kinds of elimination: an isolated variable, a chain, a cycle and a
  // clique.
  FactorGraph graph;
  for (unsigned v = 0; v < 12; ++v)
    graph.addVariable(3);
  TableId same = graph.addTable({4, 4, 9, 4, 4, 9, 9, 9, 9});
  for (auto [a, b] : {std::pair(1u, 2u),
                      {2u, 3u},
                      {4u, 5u},
                      {5u, 6u},
                      {4u, 6u},
                      {7u, 8u},
                      {7u, 9u},
                      {7u, 10u},
                      {8u, 9u},
                      {8u, 10u},
                      {9u, 10u},
                      {11u, 7u}})
    graph.addFactor({a, b}, same);
  Solution solution = graph.solve();
  EXPECT_EQ(solution.cost, 48);
  EXPECT_EQ(solution.assignment, std::vector<unsigned>(12, 0));
  // The tie-breaking is the same with small tables and without search.
  SolveOptions options;
  options.maxTableSize = 1;
  options.maxNodes = 0;
  solution = graph.solve(options);
  EXPECT_EQ(solution.cost, 48);
  EXPECT_EQ(solution.assignment, std::vector<unsigned>(12, 0));
}

TEST(FactorGraph, AKnownAssignmentDoesNotChangeAnExactAnswer) {
  FactorGraph graph;
  for (unsigned v = 0; v < 6; ++v) {
    graph.addVariable(3);
    for (unsigned w = 0; w < v; ++w)
      graph.addFactor({w, v}, {0, 5, 5, 5, 0, 5, 5, 5, 0});
  }
  SolveOptions options;
  std::vector<unsigned> initial(6, 2);
  options.initial = initial;
  EXPECT_EQ(graph.solve(options).assignment, graph.solve().assignment);
}

/// Makes a graph with random costs below 1000 between all pairs of variables.
FactorGraph makeDense(unsigned seed, unsigned numVariables, unsigned domain) {
  std::mt19937 random(seed);
  FactorGraph graph;
  for (unsigned v = 0; v < numVariables; ++v) {
    graph.addVariable(domain);
    for (unsigned w = 0; w < v; ++w) {
      std::vector<Cost> table;
      for (unsigned entry = 0; entry < domain * domain; ++entry)
        table.push_back(random() % 1000);
      graph.addFactor({w, v}, table);
    }
  }
  return graph;
}

TEST(FactorGraph, LimitsMakeAnAnswerLessExactAndNoLess) {
  FactorGraph graph = makeDense(/*seed=*/7, /*numVariables=*/12, /*domain=*/3);
  Solution best = graph.solve();
  ASSERT_TRUE(best.exact);
  SolveOptions small;
  small.maxTableSize = 9;
  SolveOptions few;
  few.maxTotalSize = 200;
  for (SolveOptions options : {small, few}) {
    // A complete search compensates for tables that are not built.
    Solution searched = graph.solve(options);
    EXPECT_EQ(searched.cost, best.cost);
    EXPECT_TRUE(searched.exact);
    options.maxNodes = 5;
    Solution cut = graph.solve(options);
    EXPECT_FALSE(cut.exact);
    EXPECT_LT(cut.lowerBound, best.cost);
    EXPECT_GT(cut.lowerBound, 0);
    EXPECT_GE(cut.cost, best.cost);
    EXPECT_EQ(graph.evaluate(cut.assignment), cut.cost);
  }
  // The total size limits tables if the table size does not.
  SolveOptions large;
  large.maxTableSize = kInfiniteCost;
  large.maxTotalSize = 1000;
  large.maxNodes = 5;
  EXPECT_LE(graph.solve(large).lowerBound, best.cost);
}

/// With small tables and without search, a known assignment is kept.
TEST(FactorGraph, AKnownAssignmentIsWhereItStarts) {
  unsigned numWorse = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    FactorGraph graph = makeDense(seed, /*numVariables=*/10, /*domain=*/4);
    Solution best = graph.solve();
    ASSERT_TRUE(best.exact);
    SolveOptions options;
    options.maxTableSize = 4;
    options.maxNodes = 0;
    numWorse += graph.solve(options).cost > best.cost;
    options.initial = best.assignment;
    EXPECT_EQ(graph.solve(options).assignment, best.assignment);
  }
  EXPECT_GT(numWorse, 10u);
}

/// Makes a chain with skip edges and one variable adjacent to all. All tables
/// are different, or `numTables` are repeated.
FactorGraph makeLongGraph(unsigned length, unsigned numTables) {
  std::mt19937 random;
  FactorGraph graph;
  unsigned hub = graph.addVariable(3);
  std::vector<Cost> table(16), hubTable(12);
  for (unsigned v = 0; v < length; ++v) {
    random.seed(20240607 + v % numTables);
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

double getSolveSeconds(const FactorGraph &graph) {
  std::clock_t start = std::clock();
  Solution solution = graph.solve();
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_TRUE(solution.exact);
  EXPECT_EQ(graph.evaluate(solution.assignment), solution.cost);
  return seconds;
}

TEST(FactorGraph, TimeGrowsWithTheLengthOfNarrowGraphs) {
  double small = getSolveSeconds(makeLongGraph(4000, 40000));
  double large = getSolveSeconds(makeLongGraph(40000, 40000));
  // Ten times the work; a quadratic solver would need a hundred times.
  EXPECT_LT(large, 40 * small + 0.05);
}

TEST(FactorGraph, WhatRepeatsIsComputedOnce) {
  double different = getSolveSeconds(makeLongGraph(40000, 40000));
  double equal = getSolveSeconds(makeLongGraph(40000, 1));
  RecordProperty("seconds_different", std::to_string(different));
  RecordProperty("seconds_equal", std::to_string(equal));
  EXPECT_LT(equal, different / 2);
}

TEST(FactorGraph, SameGraphSameAnswer) {
  FactorGraph graph = makeLongGraph(500, 500);
  std::vector<unsigned> first = graph.solve().assignment;
  EXPECT_EQ(first, graph.solve().assignment);
  EXPECT_EQ(first, makeLongGraph(500, 500).solve().assignment);
}

} // namespace
