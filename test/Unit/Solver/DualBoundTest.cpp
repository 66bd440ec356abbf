//===- DualBoundTest.cpp - Bounds by moving costs -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds/DualBound.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir::layout;

namespace {

/// Factors of one to three of six variables, with some forbidden entries. A
/// quarter of the graphs has costs that require a shift.
class Moving : public ::testing::TestWithParam<unsigned> {
protected:
  Moving() {
    std::mt19937 random(GetParam());
    const unsigned count = 6;
    const Cost unit = GetParam() % 4 ? 1 : (Cost(1) << 53) + 7;
    for (unsigned v = 0; v < count; ++v)
      core.addVariable(v, 1 + random() % 3);
    for (unsigned f = 0; f < 10; ++f) {
      std::vector<unsigned> scope;
      for (unsigned v = 0; v < count; ++v)
        if (random() % count < 3 && scope.size() < 3)
          scope.push_back(v);
      std::shuffle(scope.begin(), scope.end(), random);
      size_t size = 1;
      for (unsigned v : scope)
        size *= core.getDomain(v);
      std::vector<Cost> table;
      for (size_t i = 0; i < size; ++i)
        table.push_back(random() % 6 ? Cost(random() % 30) * unit
                                     : kInfiniteCost);
      if (!scope.empty())
        core.addFactor(scope, store.intern(table));
    }
    std::vector<unsigned> values(count, 0);
    bool isOpen = true;
    while (isOpen) {
      assignments.push_back(values);
      optimum = std::min(optimum, evaluate(values));
      unsigned d = 0;
      while (d < count && ++values[d] == core.getDomain(d))
        values[d++] = 0;
      isOpen = d < count;
    }
  }
  Cost evaluate(llvm::ArrayRef<unsigned> values) const {
    Cost sum = 0;
    for (unsigned f = 0; f < core.getNumFactors(); ++f)
      sum = addCosts(sum, core.lookUp(f, values, store));
    return sum;
  }
  /// Evaluates an assignment in the factors after moving costs.
  Cost evaluate(const DualBound &dual, llvm::ArrayRef<unsigned> values) const {
    Cost sum = 0;
    for (unsigned v = 0; v < core.getNumVariables(); ++v)
      sum = addCosts(sum, dual.getOwn(v, values[v]));
    std::vector<Cost> entries;
    for (unsigned f = 0; f < core.getNumFactors(); ++f) {
      if (core.getScope(f).size() < 2)
        continue;
      dual.getEntries(f, entries);
      size_t entry = 0;
      for (unsigned v : core.getScope(f))
        entry = entry * core.getDomain(v) + values[v];
      EXPECT_GE(entries[entry], 0);
      sum = addCosts(sum, entries[entry]);
    }
    return sum;
  }
  bool isDropped(const DualBound &dual, llvm::ArrayRef<unsigned> values) const {
    for (unsigned v = 0; v < values.size(); ++v)
      if (dual.isDropped(v, values[v]))
        return true;
    return false;
  }

  TableStore store;
  CoreGraph core;
  std::vector<std::vector<unsigned>> assignments;
  Cost optimum = kInfiniteCost;
};

TEST_P(Moving, ChangesNoSumAndRaisesTheBound) {
  DualBound dual(core, store);
  Cost last = dual.getBound();
  for (unsigned pass = 0; pass < 20; ++pass) {
    dual.pass();
    EXPECT_GE(dual.getBound(), last);
    EXPECT_LE(dual.getBound(), optimum);
    last = dual.getBound();
    for (const auto &values : assignments)
      if (isDropped(dual, values))
        EXPECT_EQ(evaluate(values), kInfiniteCost);
      else if (Cost cost = evaluate(values); cost != kInfiniteCost)
        EXPECT_EQ(evaluate(dual, values), cost);
  }
}

TEST_P(Moving, DropsNothingThatIsCheap) {
  if (optimum == kInfiniteCost)
    return;
  for (Cost upper : {optimum, optimum + 1, optimum + 5}) {
    DualBound dual(core, store);
    for (unsigned pass = 0; pass < 5; ++pass) {
      dual.pass();
      dual.dropValues([&](Cost bound) { return bound >= upper; });
      for (const auto &values : assignments)
        if (evaluate(values) < upper)
          EXPECT_FALSE(isDropped(dual, values));
    }
  }
}

TEST_P(Moving, RoundsToAssignments) {
  DualBound dual(core, store);
  dual.pass();
  std::vector<unsigned> values(core.getNumVariables(), 0);
  for (bool byNumber : {false, true})
    if (dual.getBound() != kInfiniteCost && dual.round(values, byNumber))
      EXPECT_GE(evaluate(values), optimum);
}

/// Bounds that exceed the range of Cost saturate.
TEST(DualBound, LargeBoundsAreCutOff) {
  TableStore store;
  CoreGraph core;
  for (unsigned v = 0; v < 3; ++v)
    core.addVariable(v, 2);
  const Cost huge = kInfiniteCost - 2;
  for (unsigned v = 0; v < 3; ++v)
    core.addFactor({v, (v + 1) % 3}, store.intern({huge, huge, huge, huge}));
  DualBound dual(core, store);
  dual.pass();
  EXPECT_EQ(dual.getBound(), kInfiniteCost - 1);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Moving, ::testing::Range(1u, 101u));

} // namespace
