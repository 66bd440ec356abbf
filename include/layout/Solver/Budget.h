//===- Budget.h - The least cost under a limit ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Minimizes the cost of a factor graph under one resource constraint. Each
// value of a variable uses an amount, e.g. of memory; the sum must not exceed a
// limit.
//
//     Budget budget;
//     budget.terms = {{a, {0, 8}}, {b, {4, 0}}};
//     budget.limit = 8;
//     BudgetedSolution found = solveUnderBudget(graph, budget);
//     found.solution.cost, found.amount      // the cheapest that uses <= 8
//
// A peak is a list of terms that are in use at one time, e.g. of live memory.
// The largest peak counts, in addition to the terms that are always in use.
//
//     budget.peaks = {{{c, {1, 2}}}, {{d, {0, 5}}, {c, {0, 1}}}};
//
// Method, in this order; each step runs if those before have not proven an
// optimum:
//
//  1. Solve without the limit. The cheapest assignment is the answer if it is
//     within the limit.
//  2. Minimize the amount. Peaks are weighted, and the largest peak of each
//     solution gets more weight for the next one; any weights give a lower
//     bound.
//  3. Encode the limit as a chain of variables, one after each term, whose
//     value is the amount that later terms may still use. Only amounts that
//     differ in effect are values. If they are too many, each chain variable
//     begins with two values, amounts are rounded up to the next value, and
//     values are added as long as the best assignment exceeds the limit. Each
//     peak has a chain of its own, which continues the chain of the permanent
//     terms.
//  4. Without peaks, price the amount (a Lagrange multiplier). Any price gives
//     a bound; the best one is a corner of the convex hull of cost over amount.
//  5. With peaks, price each peak, and search over dynamic-programming states
//     with the bounds that the prices give (ParetoLabelSearch.h). This proves
//     most limits on peaks, and runs before step 3 if the chains of the peaks
//     are large.
//
// Laws:
//  * No assignment within the limit costs less than `lowerBound`. The
//    assignment found uses `amount`, which is within the limit.
//  * Of the cheapest assignments, one with the least amount is found, if the
//    weights fit in 64 bits and the proof does not rest on prices of peaks.
//  * If no assignment within the limit is found, the answer has none. It is
//    exact if there is proven to be none: `leastAmount` exceeds the limit, or
//    the graph forbids every assignment.
//  * `leastAmount` is the smallest feasible limit if its search was complete,
//    and otherwise a lower bound of it.
//  * The limits of the options apply to each of three searches (without the
//    constraint, for the least amount, with all chains), and once more to all
//    prices together. Nodes and work of the answer are the sums.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_BUDGET_H
#define LAYOUT_SOLVER_BUDGET_H

#include "layout/Solver/FactorGraph.h"

namespace mlir::layout {

struct Budget {
  struct Term {
    unsigned variable;
    /// The amount of the limited resource that each value of `variable` uses,
    /// >= 0, in the unit of `limit`, e.g. bytes.
    std::vector<int64_t> amounts;
  };
  /// The permanent terms, which count at every point of the program; at most
  /// one per variable.
  std::vector<Term> terms;
  /// Per peak, a point of the program, the terms that are in use there only; at
  /// most one per variable and peak. Of all peaks, only the one with the
  /// largest sum counts, in addition to the permanent terms.
  std::vector<std::vector<Term>> peaks;
  /// The amount that every assignment uses in addition to its terms.
  int64_t base = 0;
  int64_t limit = 0;

  int64_t getAmount(llvm::ArrayRef<unsigned> assignment) const;
};

struct BudgetedSolution {
  /// The best assignment within the limit, its cost, and a lower bound of the
  /// cost of all such assignments. `solution.proof` is empty; `certificate` has
  /// the proof. The certificate may state a lower bound below this one, because
  /// it leaves out bounds that are proven by Pareto labels.
  Solution solution;
  int64_t amount = 0;
  /// A lower bound of the amounts, in the unit of the limit, that the
  /// assignments of finite cost use, within the limit or not; 0 if the solver
  /// without the limit finds no assignment, or one within the limit. Without
  /// peaks, it is the least of these amounts unless `options` stopped the
  /// search for it. With peaks, that search also ends at the first assignment
  /// within the limit, or after 24 rounds.
  int64_t leastAmount = 0;
  /// The text that proves the solution (`writeCertificate` in Wcsp.h), if
  /// `SolveOptions::certify` is set. Empty if no assignment was found, or if
  /// the wcsp format cannot represent the problem.
  std::string certificate;
};

BudgetedSolution solveUnderBudget(const FactorGraph &graph,
                                  const Budget &budget,
                                  const SolveOptions &options = {});

} // namespace mlir::layout

#endif // LAYOUT_SOLVER_BUDGET_H
