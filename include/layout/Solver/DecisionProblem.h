//===- DecisionProblem.h - Tables, shared copies and a budget ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The problem behind the JSON and C interfaces of the solver: variables whose
// values have costs, tables of costs over several variables, tensors whose
// copies are shared, and a budget. Each part is checked when it is added.
//
// A producer in layout 0, two consumers that choose between layouts 0 and 1,
// and a copy from 0 to 1 that costs 20 and serves both:
//
//     DecisionProblem problem;
//     cantFail(problem.addVariable({90, 75}));
//     cantFail(problem.addVariable({60, 45}));
//     SharedTensor tensor;
//     tensor.producer.layouts = {0};
//     tensor.consumers = {{0u, {0, 1}}, {1u, {0, 1}}};
//     tensor.numLayouts = 2;
//     tensor.prices = {0, 20, kInfiniteCost, 0};
//     cantFail(problem.addTensor(std::move(tensor)));
//     DecisionAnswer answer = cantFail(problem.solve());
//     answer.solution.cost                 // 140
//     answer.solution.assignment           // {1, 1}
//     problem.getCopies(0, {1, 1})         // {1}
//
// Laws:
//  * Variables have the numbers 0, 1, .. in the order of addVariable. A copy
//    that several consumers may require is a 0/1 variable of the graph. It has
//    no number here, and is not part of assignments.
//  * An error says which rule is violated, and leaves the problem as it was.
//    It does not name the part that was added, which the caller knows.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_DECISIONPROBLEM_H
#define LAYOUT_SOLVER_DECISIONPROBLEM_H

#include "layout/Solver/Budget.h"
#include "layout/Solver/Wcsp.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir::layout {

/// The maximum number of layouts of a tensor.
constexpr unsigned kMaxTensorLayouts = 4096;

/// A producer or consumer of a tensor: a variable, or a fixed layout if
/// `variable` is not set.
struct TensorEnd {
  std::optional<unsigned> variable;
  /// The layout that each value of the variable produces or requires, or the
  /// one fixed layout.
  std::vector<unsigned> layouts;

  /// Returns the layout in an assignment of values to variables.
  unsigned getLayout(llvm::ArrayRef<unsigned> assignment) const {
    return layouts[variable ? assignment[*variable] : 0];
  }
  bool operator<(const TensorEnd &other) const {
    return std::tie(variable, layouts) <
           std::tie(other.variable, other.layouts);
  }
};

/// A tensor that is converted once for each layout that consumers require and
/// the producer does not produce.
struct SharedTensor {
  TensorEnd producer;
  std::vector<TensorEnd> consumers;
  unsigned numLayouts = 0;
  /// The price of a copy from layout x to layout y, at x * numLayouts + y;
  /// kInfiniteCost forbids it. Entries from a layout to itself are 0.
  std::vector<Cost> prices;

  Cost getPrice(unsigned from, unsigned to) const {
    return prices[from * size_t(numLayouts) + to];
  }
};

/// Puts the place of an error in front of its message.
llvm::Error addPlace(const llvm::Twine &place, llvm::Error error);

struct DecisionAnswer {
  /// The values of the variables of the problem, without copies, and what is
  /// known about their cost. `proof` is empty.
  Solution solution;
  /// The amount that the assignment uses, and the least that any may use
  /// (Budget.h), if there is a budget.
  std::optional<int64_t> amount, leastAmount;
  /// The text for `python -m layout_mlir.certify`, if
  /// `SolveOptions::certify` is set and an assignment was found.
  std::string certificate;
  /// The seconds that the solver took.
  double seconds = 0;
};

class DecisionProblem {
public:
  /// Creates an empty problem, whose domains and tables may have fewer than
  /// `maxEntries` entries in total.
  explicit DecisionProblem(int64_t maxEntries = kMaxWcspEntries);

  /// Adds a variable with a cost per value, and returns its number.
  llvm::Expected<unsigned> addVariable(llvm::ArrayRef<Cost> costs);

  /// Adds a table of costs over different variables, the last one fastest.
  llvm::Error addTable(llvm::ArrayRef<unsigned> variables,
                       llvm::ArrayRef<Cost> entries);

  /// Returns an error if a table over `numVariables` variables is not possible,
  /// or if there is no space for `entries` more entries.
  llvm::Error checkSize(size_t numVariables, int64_t entries) const;

  llvm::Error addTensor(SharedTensor tensor);

  /// Limits an amount that values use, and replaces an earlier budget. Values
  /// of a variable without a term use 0.
  llvm::Error setBudget(Budget budget);

  /// Solves the problem. `options.initial` has the values of the variables of
  /// the problem. Returns an error if it has others, or if costs may add up to
  /// more than an int64.
  llvm::Expected<DecisionAnswer> solve(SolveOptions options = {}) const;

  /// Returns the layouts to which tensor `tensor` is copied under the values
  /// of all variables, in ascending order.
  std::vector<unsigned> getCopies(unsigned tensor,
                                  llvm::ArrayRef<unsigned> assignment) const;

  unsigned getNumVariables() const { return places.size(); }
  unsigned getNumTensors() const { return tensors.size(); }
  unsigned getDomainSize(unsigned variable) const {
    return plain.graph.getDomainSize(places[variable]);
  }
  bool hasBudget() const { return budget.has_value(); }
  /// The problem without the budget, with variables for copies.
  const WcspProblem &getWcsp() const { return plain; }

private:
  llvm::Error checkVariable(unsigned variable) const;
  llvm::Error checkEnd(const TensorEnd &end, unsigned numLayouts) const;
  llvm::Error checkTensor(const SharedTensor &tensor) const;
  /// Checks a list of terms, moves them to the variables of the graph, and adds
  /// their largest amounts to `total`.
  llvm::Error placeTerms(std::vector<Budget::Term> &terms,
                         int64_t &total) const;
  /// Adds a factor over the variables of `ends` with the entries fn(at), where
  /// at[i] is a value of ends[i]; it is 0 if ends[i] is a fixed layout. Adds no
  /// factor if all entries are 0.
  void addFactor(llvm::ArrayRef<const TensorEnd *> ends,
                 llvm::function_ref<Cost(llvm::ArrayRef<unsigned>)> fn);
  void addCopies(const SharedTensor &tensor);
  void addSetupVariable(const SharedTensor &tensor,
                        llvm::ArrayRef<const TensorEnd *> consumers,
                        unsigned layout);
  /// Returns the values of all variables of the graph, in which a copy exists
  /// if a consumer requires it.
  std::vector<unsigned> extend(llvm::ArrayRef<unsigned> assignment) const;
  /// Reduces a solution of the graph to the variables of the problem.
  void restrict(Solution &solution) const;

  /// A 0/1 variable of the graph that says if a copy of a tensor exists.
  struct Copy {
    unsigned variable, tensor, layout;
  };
  WcspProblem plain;
  int64_t numLeft;
  std::vector<unsigned> places; // the variable of the graph of each variable
  std::vector<SharedTensor> tensors; // without prices
  std::vector<Copy> copies;
  std::optional<Budget> budget; // over variables of the graph
};

} // namespace mlir::layout

#endif // LAYOUT_SOLVER_DECISIONPROBLEM_H
