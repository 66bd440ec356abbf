//===- BudgetLabels.cpp - Limits by prices of peaks and labels ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BudgetSolver.h"
#include "Search/ParetoLabelSearch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir::layout;
using llvm::ArrayRef;

/// Returns a price per unit for each peak, a point of the program with amounts
/// of its own. The prices make a lower bound high: the least of cost times
/// `weight`, plus the price of the units above the limit at each peak, which is
/// negative below it. Takes at most 120 subgradient steps, each scaled to reach
/// the best known cost if the bound were linear, and stops when the search
/// nodes, the work or the time of `limits` are used up. Updates `best` by
/// assignments and bounds that it finds.
BudgetSolver::Shares BudgetSolver::findPrices(int64_t weight,
                                              const SharedLimits &limits) {
  std::vector<double> prices(ends.size(), 0), direction = prices;
  Shares highest(ends.size(), 0);
  std::optional<int64_t> bound;
  double step = 1;
  unsigned numFailed = 0;
  for (unsigned round = 0; round < kMostPricesOfPeaks; ++round) {
    Shares rounded;
    int64_t total = 0;
    for (double price : prices) {
      rounded.push_back(std::llround(std::min(price, double(kMost))));
      total = addCosts(total, rounded.back());
    }
    std::optional<SolveOptions> rest = limits.getRest();
    if (!rest || !fits({weight, total}))
      break;
    rest->certify = false;
    Solution solution = relax({weight, 1}, rounded).problem.solve(*rest);
    count(solution.statistics);
    if (solution.assignment.empty())
      break;
    solution.assignment.resize(graph.getNumVariables());
    keep(solution.assignment);
    int64_t found = solution.lowerBound - total * limit;
    if (!bound || found > *bound) {
      bound = found;
      highest = rounded;
      numFailed = 0;
    } else if (++numFailed == 5) {
      step /= 2;
      numFailed = 0;
      prices.assign(highest.begin(), highest.end());
      direction.assign(ends.size(), 0);
    }
    best.lowerBound =
        std::max(best.lowerBound, llvm::divideCeilSigned(found, weight));
    if (best.cost == best.lowerBound || step < 0.01)
      break;
    // Without an assignment, aim at twice the bound.
    double goal =
        best.assignment.empty() ? 2.0 * *bound + 1 : double(weight) * best.cost;
    double square = 0;
    for (auto [price, along, taken] :
         llvm::zip_equal(prices, direction, countEach(solution.assignment))) {
      along = 0.5 * along + double(taken - limit);
      if (price == 0 && along < 0)
        along = 0;
      square += along * along;
    }
    if (square == 0)
      break;
    for (auto [price, along] : llvm::zip_equal(prices, direction))
      price = std::max(0.0, price + step * (goal - found) / square * along);
  }
  return highest;
}

/// Returns a budget of the entries of `terms`, with their amounts and the limit
/// in units above the least amount.
Budget BudgetSolver::getUnits() const {
  Budget units;
  units.limit = limit;
  units.terms.assign(terms.begin(), terms.begin() + numAlways);
  if (!budget.peaks.empty())
    for (unsigned end : ends) {
      std::vector<Budget::Term> &peak = units.peaks.emplace_back();
      for (unsigned i : getPath(end))
        if (i >= numAlways)
          peak.push_back(terms[i]);
    }
  return units;
}

/// Returns true if the search by Pareto labels runs before the limit is encoded
/// as chains of variables: if the budget has peaks, and `listStates` counts
/// more than 2^16 entries in the tables of the chains or returns std::nullopt.
/// With peaks, sets `states` to the values of the chains.
bool BudgetSolver::prefersLabels() {
  return !budget.peaks.empty() &&
         listStates().value_or(kMostEntries) > kFewEntries;
}

/// Runs ParetoLabelSearch with the bounds that prices of peaks give. Keeps at
/// most 2^8 labels after each variable at first, to find good assignments, then
/// 2^12 and 2^16, until the lower bound reaches the cost of the best
/// assignment.
void BudgetSolver::searchLabels() {
  SharedLimits limits(options, taken);
  int64_t weight = 1;
  while (weight < 1 << 16 && scaleCost(mostCost, weight) < kMost >> 12)
    weight *= 2;
  Shares prices = findPrices(weight, limits);
  if (best.cost == best.lowerBound)
    return;
  Relaxed priced = relax({weight, 1}, prices);
  Budget units = getUnits();
  ParetoLabelSearch search(priced.problem.graph, units, prices, weight,
                           options);
  if (!search.isPossible())
    return;
  for (unsigned bits : {8, 12, 16}) {
    std::optional<SolveOptions> rest = limits.getRest();
    if (!rest)
      return;
    ParetoLabelSearch::Result found =
        search.run(best.cost, size_t(1) << bits, rest->maxWork);
    taken.work += found.work;
    if (!found.assignment.empty())
      keep(found.assignment);
    best.lowerBound =
        std::max(best.lowerBound, std::min(best.cost, found.lowerBound));
    if (best.cost == best.lowerBound)
      return;
  }
}
