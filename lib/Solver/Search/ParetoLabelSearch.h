//===- ParetoLabelSearch.h - Dynamic programming under limits ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns variables one by one, in an order in which few assigned variables
// share a table with an unassigned one. A label is a dynamic-programming state,
// a partial assignment up to some place: its cost, its resource use, and the
// values that later tables read. Of two labels with equal such values, one that
// is not better in cost or any resource is dominated and dropped.
//
// A label is also dropped if its bound is too high. Units have prices in costs
// of the graph, and eliminating the variables from last to first gives a lower
// bound of the remaining cost, prices included, for each label. An assignment
// within the limits pays for at most `limit` units.
//
//     ParetoLabelSearch search(priced, units, prices, weight, options);
//     if (search.isPossible())
//       answer = search.run(/*most=*/known, /*maxLabels=*/1 << 14);
//
// Laws:
//  * Every assignment within the limits costs at least `lowerBound`, which is
//    at most `most`.
//  * `lowerBound` is the least cost if no place has more than `maxLabels`
//    labels. Otherwise the labels with the lowest bounds stay, and the dropped
//    ones count in the bound.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SEARCH_PARETOLABELSEARCH_H
#define LAYOUT_LIB_SOLVER_SEARCH_PARETOLABELSEARCH_H

#include "Elimination/BucketElimination.h"
#include "layout/Solver/Budget.h"
#include <optional>

namespace mlir::layout {

class ParetoLabelSearch {
public:
  /// Creates a search. `priced` is the graph to solve with costs multiplied by
  /// `weight`, plus amount times price for each term of `units`. There is one
  /// price per peak of `units`, or one if it has no peaks; that of a permanent
  /// term is their sum. The base of `units` is ignored.
  ParetoLabelSearch(const FactorGraph &priced, const Budget &units,
                    llvm::ArrayRef<int64_t> prices, int64_t weight,
                    const SolveOptions &options);

  /// Returns true if `run` may be called: some assignment is allowed, the
  /// tables of the elimination are within the limits of `options`, and there
  /// are at most 2^14 variables, of fewer than 2^16 values.
  bool isPossible() const { return possible; }

  struct Result {
    std::vector<unsigned> assignment; // empty if none is found
    Cost lowerBound = 0;
    int64_t work = 0;
  };
  Result run(Cost most, size_t maxLabels, int64_t maxWork);

private:
  using Value = uint16_t;
  /// A cost table that is read when a variable is assigned. `others` has, for
  /// each of its other variables, the index in a label's `values` at which its
  /// value is stored, and the stride in the table.
  struct Lookup {
    const Cost *entries;
    size_t step; // of the variable itself
    llvm::SmallVector<std::pair<unsigned, size_t>, 4> others;
  };
  /// The data with which the search assigns one variable: the tables to read,
  /// the place of its value in a label, and its budget terms.
  struct Step {
    unsigned variable;
    std::vector<Lookup> lookups;
    /// The index in a label's values at which the value of `variable` is
    /// stored, if later tables read it; and the indices whose values are not
    /// read after this step.
    std::optional<unsigned> slot;
    llvm::SmallVector<unsigned, 2> dropped;
    /// The permanent budget term of `variable`, or nullptr; and its terms at
    /// peaks: index in the label's `levels`, term, price per unit.
    const Budget::Term *always = nullptr;
    llvm::SmallVector<std::tuple<unsigned, const Budget::Term *, int64_t>, 1>
        atPeaks;
    /// The indices in a label's `levels` of the peaks whose first term is in
    /// this step (`begun`), whose last term is (`ended`), and of all peaks from
    /// their first to their last term (`open`).
    llvm::SmallVector<unsigned, 4> begun, open, ended;
  };
  /// The labels after a step. `levels` has numLevels numbers of units per
  /// label: the largest sum of the finished peaks, the permanent use, and the
  /// use at each active peak. `values` has numSlots values per label.
  struct Labels {
    std::vector<Value> values;
    std::vector<int64_t> levels;
    std::vector<Cost> bounds, paid;
    std::vector<unsigned> parents;
    std::vector<Value> chosen;
    size_t size() const { return bounds.size(); }
  };
  enum { kEnded, kAlways, kFirstPeak };

  bool eliminate(llvm::ArrayRef<unsigned> order);
  void plan(llvm::ArrayRef<unsigned> order);
  void planLevels(llvm::ArrayRef<unsigned> places);
  void extend(const Step &step, const Labels &labels, Cost cutoff,
              Labels &next);
  void append(const Labels &from, size_t label, Labels &to) const;
  Labels removeDominated(const Labels &labels) const;
  Labels removeAbove(Labels labels, size_t maxLabels, Cost &dropped) const;

  const FactorGraph &graph;
  const Budget &units;
  llvm::ArrayRef<int64_t> prices;
  int64_t weight;
  SolveOptions options;
  bool possible = false;

  TableAlgebra algebra;
  CoreGraph core;
  /// The lower bound of the cost of every assignment of `priced`, from
  /// elimination.
  Cost least = 0;
  std::vector<Step> steps;
  unsigned numSlots = 0, numLevels = kFirstPeak;
  int64_t priceOfAll = 0, work = 0;
  std::vector<Cost> sums; // of one label and each next value
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_SEARCH_PARETOLABELSEARCH_H
