//===- BranchAndBoundTest.cpp - Bounds of a search that is cut off --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchAndBound.h"
#include "BucketElimination.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir::layout;

namespace {

/// A graph that elimination with small tables has to relax: a factor for each
/// pair of variables, none of whose entries is 0.
class Search : public ::testing::TestWithParam<unsigned> {
protected:
  Search() {
    std::mt19937 random(GetParam());
    const unsigned count = 5;
    for (unsigned v = 0; v < count; ++v) {
      core.addVariable(v, 2 + random() % 2);
      order.push_back(v);
    }
    // Every other graph has many assignments of nearly the same cost.
    const unsigned spread = GetParam() % 2 ? 10 : 2;
    auto draw = [&](llvm::ArrayRef<unsigned> scope) {
      size_t size = 1;
      for (unsigned v : scope)
        size *= core.getDomain(v);
      std::vector<Cost> table;
      for (size_t i = 0; i < size; ++i)
        table.push_back(random() % 12 ? Cost(20 + random() % spread)
                                      : kInfiniteCost);
      table[random() % size] = 20 + random() % spread;
      leastOfEach += *std::min_element(table.begin(), table.end());
      core.addFactor(scope, base.intern(table));
    };
    for (unsigned v = 0; v < count; ++v) {
      draw({v});
      for (unsigned w = 0; w < v; ++w)
        draw({w, v});
    }
    numOriginal = core.getNumFactors();
    // Every assignment, by counting.
    std::vector<unsigned> values(count, 0);
    bool isOpen = true;
    while (isOpen) {
      optimum = std::min(optimum, evaluate(values));
      unsigned d = 0;
      while (d < count && ++values[d] == core.getDomain(d))
        values[d++] = 0;
      isOpen = d < count;
    }
  }
  Cost evaluate(llvm::ArrayRef<unsigned> values) const {
    Cost sum = 0;
    for (unsigned f = 0; f < core.getNumFactors() && f < numOriginal; ++f)
      sum = addCosts(sum, core.lookUp(f, values, base));
    return sum;
  }

  TableStore base;
  CoreGraph core;
  std::vector<unsigned> order;
  unsigned numOriginal = ~0u;
  Cost leastOfEach = 0, optimum = kInfiniteCost;
};

/// The bound is no more than the optimum and no less than all factors at their
/// least. With more steps it rises and the cost falls, until they meet.
TEST_P(Search, BoundsAndCostsMeet) {
  TableAlgebra algebra(base);
  BucketElimination elimination(core, order, algebra, /*maxTableSize=*/4,
                                kInfiniteCost);
  BucketElimination::Result result = elimination.run();
  if (result == BucketElimination::Result::NothingAllowed) {
    EXPECT_EQ(optimum, kInfiniteCost);
    return;
  }
  ASSERT_TRUE(elimination.isComponentRelaxed(0));
  WideCost lastBound = 0, lastCost = kInfiniteWideCost;
  for (int64_t steps : {0, 1, 2, 4, 8, 16, 32, 100000}) {
    std::vector<Bucket> buckets;
    for (size_t b = 0; b < elimination.getNumBuckets(); ++b)
      buckets.push_back(elimination.getBucket(b));
    std::vector<unsigned> scratch(order.size(), 0), assignment = scratch;
    BranchAndBound search(core, numOriginal, algebra.store, buckets, scratch);
    EXPECT_GE(search.getLowerBound(), leastOfEach);
    int64_t taken = search.run(assignment, /*hasInitial=*/false, steps);
    EXPECT_LE(taken, steps);
    EXPECT_GE(search.getLowerBound(), lastBound);
    EXPECT_LE(search.getCost(), lastCost);
    lastBound = search.getLowerBound();
    lastCost = search.getCost();
    if (search.getCost() == kInfiniteWideCost)
      continue;
    EXPECT_LE(search.getLowerBound(), optimum);
    EXPECT_GE(search.getCost(), optimum);
    EXPECT_EQ(search.getCost(), evaluate(assignment));
  }
  if (optimum == kInfiniteCost) {
    EXPECT_EQ(lastCost, kInfiniteWideCost);
    return;
  }
  EXPECT_EQ(lastCost, optimum);
  EXPECT_EQ(lastBound, optimum);
}

/// What is known before is only replaced by what is better, whatever the steps.
TEST_P(Search, KeepsAGoodInitialAssignment) {
  TableAlgebra algebra(base);
  std::vector<unsigned> best(order.size(), 0), values = best;
  bool isOpen = true;
  Cost least = kInfiniteCost;
  while (isOpen) {
    if (Cost cost = evaluate(values); cost < least) {
      least = cost;
      best = values;
    }
    unsigned d = 0;
    while (d < values.size() && ++values[d] == core.getDomain(d))
      values[d++] = 0;
    isOpen = d < values.size();
  }
  BucketElimination elimination(core, order, algebra, 4, kInfiniteCost);
  if (least == kInfiniteCost ||
      elimination.run() != BucketElimination::Result::Done)
    return;
  std::vector<Bucket> buckets;
  for (size_t b = 0; b < elimination.getNumBuckets(); ++b)
    buckets.push_back(elimination.getBucket(b));
  std::vector<unsigned> scratch(order.size(), 0), assignment = best;
  BranchAndBound search(core, numOriginal, algebra.store, buckets, scratch);
  EXPECT_EQ(search.run(assignment, /*hasInitial=*/true, /*maxSteps=*/0), 0);
  EXPECT_EQ(search.getCost(), least);
  EXPECT_EQ(assignment, best);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Search, ::testing::Range(1u, 41u));

} // namespace
