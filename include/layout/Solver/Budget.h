//===- Budget.h - The least cost under a limit ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One constraint over all of a graph: values take amounts, of memory say, and
// all together may take so much.
//
//     Budget budget;
//     budget.terms = {{a, {0, 8}}, {b, {4, 0}}};
//     budget.limit = 8;
//     BudgetedSolution found = solveUnderBudget(graph, budget);
//     found.solution.cost, found.amount      // of the best that takes <= 8
//
// What is taken at some times only, as memory is, are peaks: of several lists
// of terms the one that sums up to most counts, beside what counts always.
//
//     budget.peaks = {{{c, {1, 2}}}, {{d, {0, 5}}, {c, {0, 1}}}};
//
// How: the cheapest assignment is the answer where it keeps to the limit. Else
// the constraint becomes a chain of variables behind the terms, each of which
// says how much those after it may still take; only amounts that make a
// difference are values. Where these are too many, the chain begins with two
// values each, amounts are rounded up to the next one, and as long as the best
// assignment is above the limit, it gets those that forbid this one. Where that
// takes too long, amounts get a price, a Lagrange multiplier: any price gives a
// bound, and the best one the corners of the convex hull of cost over amount.
// Each peak has a chain of its own, which goes on where that of the terms ends.
// Where their amounts are too many, each peak gets a price, and the prices tell
// what the rest costs at least while variables get values one after the other
// (LabelSearch.h), which proves most of such limits.
// What takes least is then searched for by weights of the peaks: any give a
// bound, and those that take most in an answer get more.
//
// Laws:
//  * no assignment within the limit costs less than `lowerBound`, and the one
//    that is found takes `amount`, which is within;
//  * among the cheapest one that takes least is found, where numbers allow and
//    prices of peaks prove nothing;
//  * where nothing that keeps to the limit is found, the answer has no
//    assignment. It is exact where there is proven to be none: `leastAmount`,
//    below which nothing is, is above the limit, or the graph forbids all;
//  * `leastAmount` is the smallest limit that can be kept to where the search
//    for that was complete, and else a bound of it;
//  * the limits of the options hold for each of three searches, without the
//    constraint, for what takes least and with all chains, and once more for
//    those of all prices together. Nodes and work of the answer are the sum.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_BUDGET_H
#define LAYOUT_SOLVER_BUDGET_H

#include "layout/Solver/FactorGraph.h"

namespace mlir {
namespace layout {

struct Budget {
  struct Term {
    unsigned variable;
    /// Of each value, >= 0.
    std::vector<int64_t> amounts;
  };
  /// Of no variable two in one list.
  std::vector<Term> terms;
  /// Of these the one that takes most counts.
  std::vector<std::vector<Term>> peaks;
  /// What is taken in any case.
  int64_t base = 0;
  int64_t limit = 0;

  int64_t getAmount(llvm::ArrayRef<unsigned> assignment) const;
};

struct BudgetedSolution {
  /// Of the graph's own variables and costs. Its proof is part of the
  /// certificate, which says a lower bound of its own: what labels prove is not
  /// in it.
  Solution solution;
  int64_t amount = 0;
  /// Nothing takes less; known where the cheapest assignment takes too much.
  /// What takes as much need not exist where the search was given up.
  int64_t leastAmount = 0;
  /// Where the options ask for one; empty where the format cannot say it.
  std::string certificate;
};

BudgetedSolution solveUnderBudget(const FactorGraph &graph,
                                  const Budget &budget,
                                  const SolveOptions &options = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SOLVER_BUDGET_H
