//===- BranchAndBound.h - Where elimination is a bound ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depth-first search for the best assignment of a component whose buckets had
// to be cut. Variables get values in reverse order of elimination, so that all
// messages to those that have one can be looked up: they bound what the rest
// will cost. The most promising value goes first.
//
// Laws:
//  * lowerBound <= least cost of the component <= cost;
//  * the cost is no more than that of `initial`, and no more than that of going
//    for the least bound at every variable, however few steps are allowed. From
//    both, variables are changed one by one as long as that helps;
//  * the two ends meet where the search was not cut short.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BRANCHANDBOUND_H
#define LAYOUT_LIB_SOLVER_BRANCHANDBOUND_H

#include "BucketElimination.h"

namespace mlir {
namespace layout {

/// What is forbidden, among wide costs.
constexpr WideCost kInfiniteWideCost = WideCost(1) << 120;

class BranchAndBound {
public:
  /// Of the buckets of one component, in their order. The first `numOriginal`
  /// factors of the core are no messages. `values` has room for a value of each
  /// variable of the core; those of the component are overwritten.
  BranchAndBound(const CoreGraph &core, unsigned numOriginal,
                 const TableStore &store, std::vector<Bucket> buckets,
                 std::vector<unsigned> &values);

  /// Sets the variables of the component to the best values that it finds,
  /// starting from those in `assignment` if `hasInitial`. Returns the steps
  /// taken.
  int64_t run(std::vector<unsigned> &assignment, bool hasInitial,
              int64_t maxSteps);

  WideCost getCost() const { return cost; }
  WideCost getLowerBound() const { return lowerBound; }

private:
  struct Candidate {
    WideCost bound;
    unsigned value;
  };

  const Bucket &getBucketAt(size_t depth) const {
    return buckets[buckets.size() - 1 - depth];
  }
  /// What the value that the variable of a bucket has in `values` adds to the
  /// bound, before the messages that stood for the bucket are taken off.
  WideCost getBucketCost(const Bucket &bucket) const;
  WideCost getExpected(const Bucket &bucket) const;
  WideCost evaluate() const;
  bool dive();
  WideCost getCostAround(unsigned variable) const;
  void descend();
  void takeIfBetter(WideCost found, size_t firstChanged,
                    std::vector<unsigned> &assignment);
  void open(size_t depth, WideCost bound, std::vector<Candidate> &stack);

  const CoreGraph &core;
  unsigned numOriginal;
  const TableStore &store;
  std::vector<Bucket> buckets;
  std::vector<unsigned> &values;
  WideCost cost = kInfiniteWideCost;
  WideCost lowerBound = 0;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_BRANCHANDBOUND_H
