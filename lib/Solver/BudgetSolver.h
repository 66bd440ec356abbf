//===- BudgetSolver.h - The steps of solving under a limit ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `solveUnderBudget` keeps while it searches: Budget.h says how. Chains
// and prices of what is taken at all times are in Budget.cpp, labels and prices
// of peaks in BudgetLabels.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BUDGETSOLVER_H
#define LAYOUT_LIB_SOLVER_BUDGETSOLVER_H

#include "layout/Solver/Budget.h"
#include "layout/Solver/Wcsp.h"
#include <chrono>
#include <optional>

namespace mlir {
namespace layout {

/// What one cost and one unit of the budget count in a graph.
struct Weights {
  int64_t cost = 1, unit = 0;
};

/// A graph that was solved in place of the one that is asked for.
struct Relaxed {
  WcspProblem problem;
  Weights weights;
  Solution solution;
  /// The variable of the chain behind each term; empty without a chain.
  std::vector<unsigned> chain;
  /// Per place, the values of the chain's variable there: how much the terms
  /// behind it may take, ascending.
  std::vector<std::vector<int64_t>> states;
};

/// A term in units beyond what is taken in any case. Place 0 is before all
/// terms, place i + 1 behind term i, and a term stands behind an earlier place:
/// those of all times in a row, and each peak in a row that begins at their
/// end.
struct Link : Budget::Term {
  unsigned place;
};

/// What several searches together may take.
class SharedLimits {
public:
  SharedLimits(const SolveOptions &options, const SolveStatistics &taken)
      : options(options), taken(taken), before(taken) {}

  /// For the next search; nothing where no more may begin.
  std::optional<SolveOptions> getRest() const {
    int64_t nodes = taken.numNodes - before.numNodes;
    int64_t work = taken.work - before.work;
    std::chrono::duration<double> seconds = Clock::now() - start;
    // What needs no search takes none of it.
    if ((nodes > 0 && nodes >= options.maxNodes) ||
        (work > 0 && work >= options.maxWork) ||
        seconds.count() >= options.maxSeconds)
      return std::nullopt;
    SolveOptions rest = options;
    rest.maxNodes -= nodes;
    rest.maxWork -= work;
    rest.maxSeconds -= seconds.count();
    return rest;
  }

private:
  using Clock = std::chrono::steady_clock;
  SolveOptions options;
  const SolveStatistics &taken;
  SolveStatistics before;
  Clock::time_point start = Clock::now();
};

class BudgetSolver {
public:
  BudgetSolver(const FactorGraph &graph, const Budget &budget,
               const SolveOptions &options);
  BudgetedSolution run();

private:
  /// Sums of costs and units are below this, so that they are exact.
  static constexpr int64_t kMost = int64_t(1) << 61;
  /// Sums of the amounts of terms that are listed.
  static constexpr size_t kMostSums = 4096;
  /// Entries of all tables of one chain, and of all chains together.
  static constexpr int64_t kMostEntries = int64_t(1) << 23;
  static constexpr int64_t kMostEntriesOfAll = int64_t(1) << 26;
  static constexpr unsigned kMostPrices = 60;
  /// Of all peaks, until the bound that these give is taken as it is.
  static constexpr unsigned kMostPricesOfPeaks = 120;
  /// Of the chains of peaks, where these are faster than labels.
  static constexpr int64_t kFewEntries = int64_t(1) << 16;
  /// Of peaks, until what takes least is given up.
  static constexpr int64_t kMostShares = 24;

  bool fits(Weights weights) const {
    return addCosts(scaleCost(mostCost, weights.cost),
                    scaleCost(mostUnits, weights.unit)) < kMost;
  }
  /// The first that fits.
  Weights pick(Weights wanted, Weights otherwise) const {
    return fits(wanted) ? wanted : otherwise;
  }
  std::vector<int64_t> countEach(llvm::ArrayRef<unsigned> assignment) const;
  int64_t countUnits(llvm::ArrayRef<unsigned> assignment) const;
  void addLinks(llvm::ArrayRef<Budget::Term> terms, unsigned place,
                int64_t extra);
  std::vector<unsigned> getPath(unsigned last) const;

  /// By peak, how often its units count.
  using Shares = std::vector<int64_t>;
  Relaxed relax(Weights weights, llvm::ArrayRef<int64_t> shares = {}) const;
  std::vector<unsigned> solve(Relaxed relaxed, llvm::ArrayRef<unsigned> initial,
                              const SolveOptions &limits);
  void count(const SolveStatistics &statistics) {
    taken.numNodes += statistics.numNodes;
    taken.work += statistics.work;
  }
  void keep(llvm::ArrayRef<unsigned> assignment);
  unsigned findHighest(llvm::ArrayRef<unsigned> assignment) const;
  std::vector<unsigned> findLeanest(llvm::ArrayRef<unsigned> initial,
                                    int64_t &leastAmount);
  void findSums();
  int64_t roundDown(size_t place, int64_t units) const;
  enum class Rounding { Up, Down };
  std::optional<unsigned> getState(llvm::ArrayRef<int64_t> states, size_t place,
                                   int64_t units, Rounding rounding) const;
  std::optional<int64_t> countEntries() const;
  void startStates();
  bool refineStates(llvm::ArrayRef<unsigned> assignment);
  bool refinePath(llvm::ArrayRef<unsigned> path,
                  llvm::ArrayRef<unsigned> assignment);
  std::optional<int64_t> listStates();
  void searchStates(Weights weights);
  Relaxed addChain(Weights weights, Rounding rounding = Rounding::Up) const;
  std::vector<unsigned> extend(const Relaxed &relaxed,
                               llvm::ArrayRef<unsigned> assignment) const;
  void searchPrices(std::vector<unsigned> within, std::vector<unsigned> above);
  Shares findPrices(int64_t weight, const SharedLimits &limits);
  Budget getUnits() const;
  bool prefersLabels();
  void searchLabels();
  void writeCertificate(BudgetedSolution &answer, Relaxed &proven) const;

  const FactorGraph &graph;
  const Budget &budget;
  const SolveOptions &options;
  /// Terms that have a choice.
  std::vector<Link> terms;
  /// The place behind the last term of each peak, or of all.
  std::vector<unsigned> ends;
  /// Those before the terms of peaks.
  unsigned numAlways = 0;
  /// What is taken in any case, and the unit of what is above.
  int64_t least = 0, unit = 1;
  /// How many units may be taken; negative where not even the least may.
  int64_t limit = 0;
  /// No assignment costs or takes more.
  Cost mostCost = 0;
  int64_t mostUnits = 0;
  /// Per place, what the terms behind it may take up to the limit, ascending;
  /// empty where that is too much to list.
  std::vector<std::vector<int64_t>> sums;
  /// The states of the next chain.
  std::vector<std::vector<int64_t>> states;

  /// The best that keeps to the limit, and what proves a bound without labels.
  Solution best;
  std::optional<Relaxed> proof;
  Cost provenBound = 0;
  /// The nodes and the work of all that was solved.
  SolveStatistics taken;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_BUDGETSOLVER_H
