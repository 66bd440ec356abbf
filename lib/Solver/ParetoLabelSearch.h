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

#ifndef LAYOUT_LIB_SOLVER_PARETOLABELSEARCH_H
#define LAYOUT_LIB_SOLVER_PARETOLABELSEARCH_H

#include "BucketElimination.h"
#include "layout/Solver/Budget.h"
#include <optional>

namespace mlir::layout {

class ParetoLabelSearch {
public:
  /// Creates a search. In `priced`, each cost is multiplied by `weight`, and
  /// the prices of `units` are included: one per peak, or one if there are no
  /// peaks. The base of `units` is ignored.
  ParetoLabelSearch(const FactorGraph &priced, const Budget &units,
                    llvm::ArrayRef<int64_t> prices, int64_t weight,
                    const SolveOptions &options);

  /// Returns true if every table of the elimination is small enough.
  bool isPossible() const { return possible; }

  struct Result {
    std::vector<unsigned> assignment; // empty if none is found
    Cost lowerBound = 0;
    int64_t work = 0;
  };
  Result run(Cost most, size_t maxLabels, int64_t maxWork);

private:
  using Value = uint16_t;
  /// A table in the bucket of a variable. Its other variables are slots of the
  /// values of a label.
  struct Lookup {
    const Cost *entries;
    size_t step; // of the variable itself
    llvm::SmallVector<std::pair<unsigned, size_t>, 4> others;
  };
  /// The precomputed actions for assigning one variable.
  struct Step {
    unsigned variable;
    std::vector<Lookup> lookups;
    /// The slot that stores the value, if later tables read it, and the slots
    /// that are free after this step.
    std::optional<unsigned> slot;
    llvm::SmallVector<unsigned, 2> dropped;
    /// The permanent term, and terms of peaks with level and price.
    const Budget::Term *always = nullptr;
    llvm::SmallVector<std::tuple<unsigned, const Budget::Term *, int64_t>, 1>
        atPeaks;
    /// The levels of peaks that begin, are active, and end here.
    llvm::SmallVector<unsigned, 4> begun, open, ended;
  };
  /// The labels at one place. `levels` has per label the maximum of finished
  /// peaks, the permanent use, and the use at each active peak.
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
  /// The lower bound of all costs.
  Cost least = 0;
  std::vector<Step> steps;
  unsigned numSlots = 0, numLevels = kFirstPeak;
  int64_t priceOfAll = 0, work = 0;
  std::vector<Cost> sums; // of one label and each next value
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_PARETOLABELSEARCH_H
