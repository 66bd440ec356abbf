//===- BudgetTest.cpp - The least cost under a limit ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/Budget.h"
#include "RandomGraphs.h"
#include "gtest/gtest.h"

using namespace mlir::layout;

namespace {

/// Over all assignments: the least cost of those that keep to the limit, and
/// the least amount of those that are allowed; -1 where there are none.
struct Enumerated {
  Cost cost = kInfiniteCost;
  int64_t amount = -1, leastAmount = -1;
};

Enumerated enumerate(const Model &model, const Budget &budget) {
  Enumerated result;
  std::vector<unsigned> assignment(model.domains.size(), 0);
  while (true) {
    Cost cost = model.evaluate(assignment);
    if (cost != kInfiniteCost) {
      int64_t amount = budget.base;
      for (const Budget::Term &term : budget.terms)
        amount += term.amounts[assignment[term.variable]];
      if (result.leastAmount < 0 || amount < result.leastAmount)
        result.leastAmount = amount;
      if (amount <= budget.limit &&
          (cost < result.cost ||
           (cost == result.cost && amount < result.amount))) {
        result.cost = cost;
        result.amount = amount;
      }
    }
    size_t v = 0;
    while (v < assignment.size() && ++assignment[v] == model.domains[v])
      assignment[v++] = 0;
    if (v == assignment.size())
      return result;
  }
}

Model drawModel(std::mt19937 &random) {
  auto draw = [&](unsigned below) { return unsigned(random() % below); };
  Model model;
  for (unsigned v = 0, e = 1 + draw(7); v < e; ++v)
    model.domains.push_back(1 + draw(4));
  for (unsigned t = 0, e = draw(12); t < e; ++t) {
    Model::Term term;
    for (unsigned v = 0; v < model.domains.size(); ++v)
      if (term.scope.size() < 3 && draw(3) == 0)
        term.scope.push_back(v);
    for (size_t i = 0, e = model.getTableSize(term.scope); i < e; ++i)
      term.table.push_back(draw(12) == 0 ? kInfiniteCost : Cost(draw(30)));
    model.terms.push_back(std::move(term));
  }
  return model;
}

Budget drawBudget(const Model &model, std::mt19937 &random) {
  auto draw = [&](unsigned below) { return int64_t(random() % below); };
  Budget budget;
  int64_t unit = draw(2) ? 64 : 1, most = 0;
  budget.base = draw(3) * 100;
  for (unsigned v = 0; v < model.domains.size(); ++v) {
    if (draw(4) == 0)
      continue;
    Budget::Term term{v, {}};
    for (unsigned x = 0; x < model.domains[v]; ++x)
      term.amounts.push_back(draw(20) * unit + 7);
    most += *std::max_element(term.amounts.begin(), term.amounts.end());
    budget.terms.push_back(std::move(term));
  }
  budget.limit = budget.base + draw(most + 20);
  return budget;
}

TEST(Budget, LeastCostUnderALimitIsThatOfEnumeration) {
  std::mt19937 random(7);
  unsigned numInfeasible = 0, numBinding = 0;
  for (unsigned i = 0; i < 4000; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    Model model = drawModel(random);
    Budget budget = drawBudget(model, random);
    Enumerated wanted = enumerate(model, budget);
    BudgetedSolution found = solveUnderBudget(model.makeGraph(), budget);
    ASSERT_EQ(found.solution.cost, wanted.cost);
    ASSERT_TRUE(found.solution.exact);
    ASSERT_EQ(found.solution.lowerBound, wanted.cost);
    if (wanted.cost != kInfiniteCost) {
      ASSERT_EQ(found.amount, wanted.amount);
      ASSERT_EQ(model.evaluate(found.solution.assignment), wanted.cost);
      numBinding += wanted.cost > minimizeByEnumeration(model);
    } else if (wanted.leastAmount >= 0) {
      ASSERT_EQ(found.leastAmount, wanted.leastAmount);
      ++numInfeasible;
    }
  }
  EXPECT_GT(numInfeasible, 200u);
  EXPECT_GT(numBinding, 300u);
}

/// Where no chain of variables fits, prices of amounts bound the cost.
TEST(Budget, PricesBoundWhatIsNotProven) {
  std::mt19937 random(8);
  unsigned numOpen = 0, numProven = 0;
  for (unsigned i = 0; i < 4000; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    Model model = drawModel(random);
    Budget budget = drawBudget(model, random);
    Enumerated wanted = enumerate(model, budget);
    SolveOptions options;
    options.maxTableSize = 3;
    BudgetedSolution found =
        solveUnderBudget(model.makeGraph(), budget, options);
    ASSERT_LE(found.solution.lowerBound, wanted.cost);
    ASSERT_GE(found.solution.cost, wanted.cost);
    ASSERT_EQ(found.solution.exact,
              found.solution.cost == found.solution.lowerBound);
    if (wanted.cost == kInfiniteCost)
      continue;
    ASSERT_LE(found.amount, budget.limit);
    ASSERT_EQ(model.evaluate(found.solution.assignment), found.solution.cost);
    ++(found.solution.exact ? numProven : numOpen);
  }
  EXPECT_GT(numOpen, 50u);
  EXPECT_GT(numProven, 1000u);
}

/// Layers of which each is faster with a copy, as those of a language model:
/// what takes the whole budget is proven, however many layers there are.
TEST(Budget, ManyLayersShareABudget) {
  FactorGraph graph;
  Budget budget;
  constexpr unsigned kLayers = 64;
  unsigned last = 0;
  for (unsigned l = 0; l < kLayers; ++l) {
    unsigned layer = graph.addVariable(2);
    graph.addFactor({layer}, {100, 90});
    if (l > 0)
      graph.addFactor({last, layer}, {0, 3, 3, 0});
    last = layer;
    budget.terms.push_back({layer, {int64_t(1) << 26, int64_t(1) << 27}});
  }
  budget.limit = (int64_t(1) << 26) * (kLayers + 20) + 5;
  BudgetedSolution found = solveUnderBudget(graph, budget);
  // Twenty in a row at one end.
  EXPECT_EQ(found.solution.cost, 100 * kLayers - 200 + 3);
  EXPECT_TRUE(found.solution.exact);
  EXPECT_EQ(found.amount, (int64_t(1) << 26) * (kLayers + 20));
}

/// Sums of costs that are next to the largest number stay valid.
TEST(Budget, LargeCosts) {
  FactorGraph graph;
  unsigned a = graph.addVariable(2), b = graph.addVariable(2);
  Cost large = kInfiniteCost / 8;
  graph.addFactor({a}, {large, 0});
  graph.addFactor({b}, {large + 5, 1});
  Budget budget;
  budget.terms = {{a, {0, 10}}, {b, {0, 10}}};
  budget.limit = 10;
  BudgetedSolution found = solveUnderBudget(graph, budget);
  EXPECT_EQ(found.solution.cost, large + 1);
  EXPECT_EQ(found.amount, 10);
  EXPECT_LE(found.solution.lowerBound, found.solution.cost);
  budget.limit = -1;
  EXPECT_TRUE(solveUnderBudget(graph, budget).solution.assignment.empty());
}

} // namespace
