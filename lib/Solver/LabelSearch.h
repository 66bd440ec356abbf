//===- LabelSearch.h - Under limits, one variable after another -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Variables get their values in an order in which few of those that have one
// share a table with one that has none. A label is one way to do so up to some
// place: what it costs, what it takes of the limits, and the values that later
// tables ask for. Of two labels with the same such values, one that costs and
// takes no less than the other is left out.
//
// So is one that costs too much: units have prices in the costs of the graph,
// and elimination of the variables from the last to the first tells for each
// label what the rest costs at least, prices included. Who keeps to the limits
// pays for no more units than there are.
//
//     LabelSearch search(priced, units, prices, weight, options);
//     if (search.isPossible())
//       answer = search.run(/*most=*/known, /*maxLabels=*/1 << 14);
//
// Laws:
//  * nothing that keeps to the limits costs less than `lowerBound`, or all that
//    does costs more than `most`;
//  * it is the least cost where no place has more than `maxLabels` labels. Else
//    those with the lowest bounds stay, and the others count in the bound.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_LABELSEARCH_H
#define LAYOUT_LIB_SOLVER_LABELSEARCH_H

#include "BucketElimination.h"
#include "layout/Solver/Budget.h"
#include <optional>

namespace mlir {
namespace layout {

class LabelSearch {
public:
  /// `priced` has each cost `weight` times, and prices of `units`, one for each
  /// peak, or one where there are none. The base of the units does not count.
  LabelSearch(const FactorGraph &priced, const Budget &units,
              llvm::ArrayRef<int64_t> prices, int64_t weight,
              const SolveOptions &options);

  /// No table of the elimination is too large.
  bool isPossible() const { return possible; }

  struct Answer {
    std::vector<unsigned> assignment; // empty where none is found
    Cost lowerBound = 0;
    int64_t work = 0;
  };
  Answer run(Cost most, size_t maxLabels, int64_t maxWork);

private:
  using Value = uint16_t;
  /// A table of the bucket of a variable, whose other variables have places
  /// among the values of a label.
  struct Lookup {
    const Cost *entries;
    size_t step; // of the variable itself
    llvm::SmallVector<std::pair<unsigned, size_t>, 4> others;
  };
  /// What happens where a variable gets its value.
  struct Step {
    unsigned variable;
    std::vector<Lookup> lookups;
    /// Where its value is kept, if later tables ask for it, and which values
    /// they no longer ask for.
    std::optional<unsigned> slot;
    llvm::SmallVector<unsigned, 2> dropped;
    /// Units at all times, and at peaks, by their level.
    const Budget::Term *always = nullptr;
    llvm::SmallVector<std::tuple<unsigned, const Budget::Term *, int64_t>, 1>
        atPeaks;
    /// Levels of peaks that begin, are there, and end here.
    llvm::SmallVector<unsigned, 4> begun, open, ended;
  };
  /// Those of one place. What is taken at once has a level: the most of peaks
  /// that have ended, what is taken at all times, and each open peak.
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
  /// What all costs at least.
  Cost least = 0;
  std::vector<Step> steps;
  unsigned numSlots = 0, numLevels = kFirstPeak;
  int64_t priceOfAll = 0, work = 0;
  std::vector<Cost> sums; // of one label and each next value
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_LABELSEARCH_H
