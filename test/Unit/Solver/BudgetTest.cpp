//===- BudgetTest.cpp - The least cost under a limit ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/Budget.h"
#include "RandomGraphs.h"
#include "Search/ParetoLabelSearch.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir::layout;
using llvm::ArrayRef;

namespace {

/// The least cost of assignments within the limit, and the least amount of
/// allowed assignments, by enumeration; -1 if there are none.
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
      int64_t amount = budget.base, most = 0;
      for (const Budget::Term &term : budget.terms)
        amount += term.amounts[assignment[term.variable]];
      for (const std::vector<Budget::Term> &peak : budget.peaks) {
        int64_t ofPeak = 0;
        for (const Budget::Term &term : peak)
          ofPeak += term.amounts[assignment[term.variable]];
        most = std::max(most, ofPeak);
      }
      amount += most;
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

/// Draws permanent terms and up to three peaks.
Budget drawPeaks(const Model &model, std::mt19937 &random) {
  Budget budget = drawBudget(model, random);
  for (unsigned i = 0, e = random() % 4; i < e; ++i)
    budget.peaks.push_back(drawBudget(model, random).terms);
  if (random() % 4 == 0)
    budget.terms.clear();
  return budget;
}

TEST(Budget, OfPeaksTheHighestCounts) {
  std::mt19937 random(11);
  unsigned numInfeasible = 0, numBinding = 0;
  for (unsigned i = 0; i < 6000; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    Model model = drawModel(random);
    Budget budget = drawPeaks(model, random);
    Enumerated wanted = enumerate(model, budget);
    // With all sums as states, and with few states that are refined.
    for (int64_t maxTable : {int64_t(1) << 20, int64_t(30)}) {
      SolveOptions options;
      options.maxTableSize = maxTable;
      BudgetedSolution found =
          solveUnderBudget(model.makeGraph(), budget, options);
      ASSERT_LE(found.solution.lowerBound, wanted.cost);
      ASSERT_GE(found.solution.cost, wanted.cost);
      if (maxTable > 30) {
        ASSERT_EQ(found.solution.cost, wanted.cost);
        ASSERT_TRUE(found.solution.exact);
      }
      if (!found.solution.assignment.empty()) {
        ASSERT_LE(found.amount, budget.limit);
        ASSERT_EQ(found.amount, budget.getAmount(found.solution.assignment));
        ASSERT_EQ(model.evaluate(found.solution.assignment),
                  found.solution.cost);
        numBinding += wanted.cost > minimizeByEnumeration(model);
      } else if (wanted.leastAmount >= 0) {
        ASSERT_LE(found.leastAmount, wanted.leastAmount);
        if (wanted.cost == kInfiniteCost && maxTable > 30) {
          ASSERT_GT(found.leastAmount, budget.limit);
          ++numInfeasible;
        }
      }
    }
  }
  EXPECT_GT(numInfeasible, 300u);
  EXPECT_GT(numBinding, 300u);
}

/// If no chain of variables fits, prices of amounts bound the cost.
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

/// Layers that are each faster with a copy, e.g. of a language model. A
/// solution that uses the whole budget is proven optimal for any number of
/// layers.
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
  // The copies are in twenty consecutive layers at one end.
  EXPECT_EQ(found.solution.cost, 100 * kLayers - 200 + 3);
  EXPECT_TRUE(found.solution.exact);
  EXPECT_EQ(found.amount, (int64_t(1) << 26) * (kLayers + 20));
}

/// If amounts have too many sums for a full chain, one with few states is
/// refined until the best assignment is within the limit.
TEST(Budget, FewStatesOfManySums) {
  std::mt19937 random(9);
  unsigned numBinding = 0, numOpen = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    Model model = drawModel(random);
    Budget budget = drawBudget(model, random);
    int64_t most = 0;
    for (Budget::Term &term : budget.terms) {
      for (int64_t &amount : term.amounts)
        amount = random() % (1 << 24);
      most += *std::max_element(term.amounts.begin(), term.amounts.end());
    }
    budget.limit = budget.base + random() % (most + 1);
    Enumerated wanted = enumerate(model, budget);
    SolveOptions options;
    options.maxTableSize = 1 << 13;
    BudgetedSolution found =
        solveUnderBudget(model.makeGraph(), budget, options);
    ASSERT_LE(found.solution.lowerBound, wanted.cost);
    ASSERT_GE(found.solution.cost, wanted.cost);
    if (!found.solution.exact) {
      ++numOpen;
    } else if (wanted.cost != kInfiniteCost) {
      ASSERT_EQ(found.solution.cost, wanted.cost);
      ASSERT_EQ(found.amount, wanted.amount);
      numBinding += wanted.cost > minimizeByEnumeration(model);
    }
  }
  EXPECT_GT(numBinding, 200u);
  EXPECT_EQ(numOpen, 0u);
}

/// Peaks with so many sums that labels find and prove the optimum.
TEST(Budget, PeaksOfManySums) {
  std::mt19937 random(12);
  unsigned numBinding = 0, numInfeasible = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    Model model = drawModel(random);
    Budget budget = drawPeaks(model, random);
    auto blur = [&](std::vector<Budget::Term> &terms) {
      for (Budget::Term &term : terms)
        for (int64_t &amount : term.amounts)
          amount = (amount << 20) + random() % (1 << 20);
    };
    blur(budget.terms);
    for (std::vector<Budget::Term> &peak : budget.peaks)
      blur(peak);
    budget.limit <<= 20;
    Enumerated wanted = enumerate(model, budget);
    SolveOptions options;
    options.maxTableSize = 1 << 8;
    BudgetedSolution found =
        solveUnderBudget(model.makeGraph(), budget, options);
    ASSERT_LE(found.solution.lowerBound, wanted.cost);
    ASSERT_EQ(found.solution.cost, wanted.cost);
    if (wanted.cost == kInfiniteCost) {
      ++numInfeasible;
      continue;
    }
    ASSERT_TRUE(found.solution.exact);
    ASSERT_LE(found.amount, budget.limit);
    ASSERT_EQ(found.amount, budget.getAmount(found.solution.assignment));
    ASSERT_EQ(model.evaluate(found.solution.assignment), wanted.cost);
    numBinding += wanted.cost > minimizeByEnumeration(model);
  }
  EXPECT_GT(numInfeasible, 100u);
  EXPECT_GT(numBinding, 100u);
}

/// A search of peaks that is stopped at any time returns a valid bound and an
/// assignment within the limit, with and without a known assignment.
TEST(Budget, PeaksWithoutTime) {
  std::mt19937 random(15);
  unsigned numOpen = 0, numFound = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    Model model = drawModel(random);
    Budget budget = drawPeaks(model, random);
    Enumerated wanted = enumerate(model, budget);
    std::vector<unsigned> initial(model.domains.size(), 0);
    SolveOptions options;
    options.maxSeconds = 0;
    if (model.evaluate(initial) != kInfiniteCost)
      options.initial = initial;
    BudgetedSolution found =
        solveUnderBudget(model.makeGraph(), budget, options);
    ASSERT_LE(found.solution.lowerBound, wanted.cost);
    ASSERT_GE(found.solution.cost, wanted.cost);
    numOpen += !found.solution.exact;
    if (found.solution.assignment.empty())
      continue;
    ASSERT_LE(found.amount, budget.limit);
    ASSERT_EQ(model.evaluate(found.solution.assignment), found.solution.cost);
    ++numFound;
  }
  EXPECT_GT(numOpen, 100u);
  EXPECT_GT(numFound, 300u);
}

/// With any prices and few labels, the bound holds and the solution is within
/// the limit; with enough labels it is optimal.
TEST(Budget, LabelsBoundWhatTheyLeaveOut) {
  std::mt19937 random(13);
  unsigned numOpen = 0, numProven = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    Model model = drawModel(random);
    Budget budget = drawPeaks(model, random);
    budget.base = 0;
    Enumerated wanted = enumerate(model, budget);
    FactorGraph priced = model.makeGraph();
    std::vector<int64_t> prices;
    for (size_t p = 0; p < std::max<size_t>(1, budget.peaks.size()); ++p) {
      prices.push_back(random() % 3);
      auto add = [&](ArrayRef<Budget::Term> terms) {
        for (Budget::Term term : terms) {
          for (int64_t &amount : term.amounts)
            amount *= prices.back();
          priced.addFactor({term.variable}, term.amounts);
        }
      };
      add(budget.terms);
      if (!budget.peaks.empty())
        add(budget.peaks[p]);
    }
    ParetoLabelSearch search(priced, budget, prices, /*weight=*/1,
                             SolveOptions());
    // Otherwise no assignment is allowed under any limit.
    ASSERT_EQ(search.isPossible(), wanted.leastAmount >= 0);
    if (!search.isPossible())
      continue;
    for (size_t maxLabels : {1, 3, 1 << 16}) {
      ParetoLabelSearch::Result found =
          search.run(kInfiniteCost, maxLabels, /*maxWork=*/1 << 30);
      ASSERT_LE(found.lowerBound, wanted.cost);
      if (maxLabels == 1 << 16) {
        ASSERT_EQ(found.lowerBound, wanted.cost);
      }
      if (found.assignment.empty()) {
        ASSERT_TRUE(maxLabels < 1 << 16 || wanted.cost == kInfiniteCost);
        continue;
      }
      Cost cost = model.evaluate(found.assignment);
      ASSERT_GE(cost, wanted.cost);
      ASSERT_LE(budget.getAmount(found.assignment), budget.limit);
      if (maxLabels == 1 << 16) {
        ASSERT_EQ(cost, wanted.cost);
        ASSERT_EQ(budget.getAmount(found.assignment), wanted.amount);
      }
      ++(cost == found.lowerBound ? numProven : numOpen);
    }
    // A known cost excludes only more expensive assignments.
    if (wanted.cost != kInfiniteCost) {
      ParetoLabelSearch::Result again =
          search.run(wanted.cost, 1 << 16, 1 << 30);
      ASSERT_EQ(again.lowerBound, wanted.cost);
      ASSERT_EQ(model.evaluate(again.assignment), wanted.cost);
    }
  }
  EXPECT_GT(numOpen, 50u);
  EXPECT_GT(numProven, 1000u);
}

/// A chain of layers that share a budget: each has a cost and an amount per
/// layout, and neighbors in different layouts have a cost. The oracle extends,
/// layer by layer, the Pareto-optimal pairs of cost and amount per layout of
/// the last layer.
TEST(Budget, LayersOfManySizes) {
  std::mt19937 random(10);
  unsigned numExact = 0;
  constexpr unsigned kGraphs = 10, kLayers = 24, kLayouts = 3;
  for (unsigned i = 0; i < kGraphs; ++i) {
    SCOPED_TRACE("graph " + std::to_string(i));
    FactorGraph graph;
    Budget budget;
    std::vector<std::map<int64_t, Cost>> fronts; // per layout, cost by amount
    int64_t most = 0;
    for (unsigned l = 0; l < kLayers; ++l) {
      unsigned layer = graph.addVariable(kLayouts);
      int64_t size = 1 + random() % 400;
      std::vector<Cost> costs;
      std::vector<int64_t> amounts;
      for (unsigned x = 0; x < kLayouts; ++x) {
        amounts.push_back(x == 0 ? 0 : size * x + random() % 20);
        costs.push_back(size * (kLayouts - x) + random() % 160);
      }
      graph.addFactor({layer}, costs);
      std::vector<Cost> moves(kLayouts * kLayouts, 0);
      for (unsigned x = 0; x < moves.size(); ++x)
        moves[x] = x % (kLayouts + 1) == 0 ? 0 : size;
      if (l > 0)
        graph.addFactor({layer - 1, layer}, moves);
      std::vector<std::map<int64_t, Cost>> next(kLayouts);
      for (unsigned x = 0; x < kLayouts; ++x) {
        std::map<int64_t, Cost> all;
        auto add = [&](int64_t amount, Cost cost) {
          auto [at, isNew] = all.try_emplace(amount, cost);
          at->second = std::min(at->second, cost);
        };
        if (l == 0)
          add(amounts[x], costs[x]);
        for (unsigned before = 0; before < fronts.size(); ++before)
          for (auto [amount, cost] : fronts[before])
            add(amount + amounts[x],
                cost + costs[x] + moves[before * kLayouts + x]);
        for (auto [amount, cost] : all)
          if (next[x].empty() || cost < std::prev(next[x].end())->second)
            next[x].emplace_hint(next[x].end(), amount, cost);
      }
      fronts = std::move(next);
      most += *std::max_element(amounts.begin(), amounts.end());
      budget.terms.push_back({layer, std::move(amounts)});
    }
    budget.limit = random() % most;
    Cost wanted = kInfiniteCost;
    for (const std::map<int64_t, Cost> &front : fronts)
      for (auto [amount, cost] : front)
        if (amount <= budget.limit)
          wanted = std::min(wanted, cost);
    SolveOptions options;
    options.certify = true;
    BudgetedSolution found = solveUnderBudget(graph, budget, options);
    // The proven relaxation allows the solution, although it was found later.
    EXPECT_EQ(found.certificate.find("infinite"), std::string::npos);
    EXPECT_LE(found.solution.lowerBound, wanted);
    EXPECT_GE(found.solution.cost, wanted);
    EXPECT_LE(found.amount, budget.limit);
    numExact += found.solution.exact;
  }
  EXPECT_GE(numExact, kGraphs - 1);
}

/// Sums of costs close to the maximum are valid.
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
