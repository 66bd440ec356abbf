//===- BudgetSolver.h - The steps of solving under a limit ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of `solveUnderBudget`; Budget.h describes the method. Budget.cpp
// has the chains and prices of permanent terms, BudgetLabels.cpp the label
// search and prices of peaks.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BUDGETSOLVER_H
#define LAYOUT_LIB_SOLVER_BUDGETSOLVER_H

#include "layout/Solver/Budget.h"
#include "layout/Solver/Wcsp.h"
#include <chrono>
#include <optional>

namespace mlir::layout {

/// The weights of a relaxation, which minimizes `cost` times the cost of the
/// graph plus `unit` times the units of the limited resource that an assignment
/// uses.
struct Weights {
  int64_t cost = 1, unit = 0;
};

/// A problem in which the limit of the budget is replaced by weighted units, or
/// by a chain of variables, and its solution.
struct Relaxed {
  WcspProblem problem;
  Weights weights;
  Solution solution;
  /// Per term i of the budget, the number of its chain variable in `problem`.
  /// The value of this variable is an index in states[i + 1]: the units that
  /// the terms after term i may use. Empty if the limit is not encoded in chain
  /// variables.
  std::vector<unsigned> chain;
  /// Per place, i.e. before all terms (0) or after term i (i + 1), the numbers
  /// of units that the terms after it may use, ascending. A value of the
  /// variable there is an index in this list.
  std::vector<std::vector<int64_t>> states;
};

/// A term of the budget, with amounts in units above its least amount. The
/// first term of a peak also contains the amount by which the least sum of its
/// peak exceeds the lowest of all peaks. A term follows term `place` - 1, or is
/// the first one if `place` is 0. Permanent terms form one sequence, and each
/// peak a sequence that starts at its end.
struct Link : Budget::Term {
  unsigned place;
};

/// Applies the limits of `options` to several searches together: `getRest`
/// returns the options for the next one. `taken` is the running total of nodes
/// and work, to which the caller adds those of each search.
class SharedLimits {
public:
  SharedLimits(const SolveOptions &options, const SolveStatistics &taken)
      : options(options), taken(taken), before(taken) {}

  /// Returns what previous searches left of the limits, or std::nullopt if the
  /// limit of nodes, work or time is reached.
  std::optional<SolveOptions> getRest() const {
    int64_t nodes = taken.numNodes - before.numNodes;
    int64_t work = taken.work - before.work;
    std::chrono::duration<double> seconds = Clock::now() - start;
    // A limit is not reached if no search used it, even if it is 0.
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
  /// The exclusive upper bound of weighted sums of costs and units, which
  /// therefore do not overflow.
  static constexpr int64_t kMost = int64_t(1) << 61;
  /// The maximum number of different sums of the amounts of all later terms
  /// that are listed per term. If there are more, none are listed for this term
  /// and those before it.
  static constexpr size_t kMostSums = 4096;
  /// The maximum number of table entries of the chains of one problem, i.e. of
  /// the variables that count the units left, and the maximum sum over all
  /// problems that `searchStates` solves.
  static constexpr int64_t kMostEntries = int64_t(1) << 23;
  static constexpr int64_t kMostEntriesOfAll = int64_t(1) << 26;
  static constexpr unsigned kMostPrices = 60;
  /// The maximum number of subgradient steps for prices of peaks.
  static constexpr unsigned kMostPricesOfPeaks = 120;
  /// A budget with peaks is solved by Pareto labels first, if encoding its
  /// limit as chains of variables needs more than this number of table entries.
  static constexpr int64_t kFewEntries = int64_t(1) << 16;
  /// The maximum number of rounds of `findLeanest`, each of which solves one
  /// relaxation to find an assignment that uses fewer units.
  static constexpr int64_t kMostShares = 24;

  bool fits(Weights weights) const {
    return addCosts(scaleCost(mostCost, weights.cost),
                    scaleCost(mostUnits, weights.unit)) < kMost;
  }
  /// Returns the weights `wanted` if sums weighted by them cannot overflow, and
  /// the weights `otherwise` if they can.
  Weights pick(Weights wanted, Weights otherwise) const {
    return fits(wanted) ? wanted : otherwise;
  }
  std::vector<int64_t> countEach(llvm::ArrayRef<unsigned> assignment) const;
  int64_t countUnits(llvm::ArrayRef<unsigned> assignment) const;
  void addLinks(llvm::ArrayRef<Budget::Term> terms, unsigned place,
                int64_t extra);
  std::vector<unsigned> getPath(unsigned last) const;

  /// Per peak, the factor by which its units are multiplied in a relaxation.
  /// One factor, that of the permanent terms, if the budget has no peaks.
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
  /// The terms of `budget` whose amounts depend on the value of their variable,
  /// and the first term of each peak whose least sum exceeds that of another
  /// one. The permanent ones, which count at every point, are first; then come
  /// those of each peak, a point of the program with amounts of its own.
  std::vector<Link> terms;
  /// Per peak, the index of its last term plus 1, or the number of permanent
  /// terms if it has no term in `terms`. If the budget has no peaks, one entry:
  /// the number of permanent terms.
  std::vector<unsigned> ends;
  /// The number of permanent terms, which are first in `terms`.
  unsigned numAlways = 0;
  /// The amount that every assignment uses at least, and the greatest common
  /// divisor of all amounts above it, a unit.
  int64_t least = 0, unit = 1;
  /// The limit in units above `least`, rounded down and at most `mostUnits`; -1
  /// if `least` exceeds the limit.
  int64_t limit = 0;
  /// Upper bounds of the cost and of the units of any assignment that the graph
  /// allows.
  Cost mostCost = 0;
  int64_t mostUnits = 0;
  /// The sums of units that later terms can take, up to the limit, ascending:
  /// before all terms (0), and after term i (i + 1). A list is empty if there
  /// are too many sums, also if only a later list has too many.
  std::vector<std::vector<int64_t>> sums;
  /// The numbers of units left that are the values of chain variables in the
  /// next problem, before all terms (0) and after term i (i + 1).
  std::vector<std::vector<int64_t>> states;

  /// The best assignment within the limit and the best lower bound; the
  /// relaxation with the highest lower bound, which the certificate proves; and
  /// this bound. Bounds of the label search are in `best` only.
  Solution best;
  std::optional<Relaxed> proof;
  Cost provenBound = 0;
  /// The search nodes and work of all problems that were solved.
  SolveStatistics taken;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_BUDGETSOLVER_H
