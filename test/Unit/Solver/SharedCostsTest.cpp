//===- SharedCostsTest.cpp - Bounds of costs that are shared --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DualBound.h"
#include "ForestDescent.h"
#include "gtest/gtest.h"

using namespace mlir::layout;

namespace {

/// Tensors whose copies their consumers share: a producer, or none, two or
/// three consumers, and for some values a switch. Some producers consume what
/// others make, some consumers are joined directly.
class Sharing : public ::testing::TestWithParam<unsigned> {
protected:
  Sharing() : random(GetParam()) {
    const Cost unit = GetParam() % 5 ? 1 : (Cost(1) << 52) + 3;
    for (unsigned v = 0; v < kNumOps; ++v) {
      core.addVariable(v, 2 + random() % 2);
      addFactor({v}, unit, 4);
    }
    for (unsigned t = 0; t < 2; ++t) {
      std::vector<unsigned> ops = {0, 1, 2, 3};
      std::shuffle(ops.begin(), ops.end(), random);
      ops.resize(3 + random() % 2);
      for (unsigned value = 0; value < 2; ++value)
        addSwitch(ops, value, unit);
    }
    addFactor({0, 1}, unit, 6);
    addFactor({3, 2}, unit, 6);
    enumerate();
  }
  void addFactor(std::vector<unsigned> scope, Cost unit, unsigned most) {
    size_t size = 1;
    for (unsigned v : scope)
      size *= core.getDomain(v);
    std::vector<Cost> table;
    for (size_t i = 0; i < size; ++i)
      table.push_back(random() % 12 ? Cost(random() % most) * unit
                                    : kInfiniteCost);
    core.addFactor(scope, store.intern(table));
  }
  /// ops[0] pays where there are four, and the others ask.
  void addSwitch(llvm::ArrayRef<unsigned> ops, unsigned value, Cost unit) {
    unsigned self = core.addVariable(core.getNumVariables(), 2);
    unsigned on = random() % 2;
    numSwitches += 1;
    bool hasPayer = ops.size() == 4;
    for (unsigned op : hasPayer ? ops.drop_front() : ops) {
      std::vector<Cost> table;
      for (unsigned v = 0; v < core.getDomain(op); ++v)
        for (unsigned s : {0, 1})
          table.push_back(v == value && s != on ? kInfiniteCost : 0);
      core.addFactor({op, self}, store.intern(table));
    }
    std::vector<Cost> table;
    unsigned numRows = hasPayer ? core.getDomain(ops[0]) : 1;
    for (unsigned v = 0; v < numRows; ++v)
      for (unsigned s : {0, 1})
        table.push_back(s == on ? Cost(random() % 9) * unit : 0);
    if (hasPayer)
      core.addFactor({ops[0], self}, store.intern(table));
    else
      core.addFactor({self}, store.intern(table));
  }
  void enumerate() {
    std::vector<unsigned> values(core.getNumVariables(), 0);
    unsigned d = 0;
    while (d < values.size()) {
      optimum = std::min(optimum, evaluate(values));
      for (d = 0; d < values.size() && ++values[d] == core.getDomain(d); ++d)
        values[d] = 0;
    }
  }
  Cost evaluate(llvm::ArrayRef<unsigned> values) const {
    Cost sum = 0;
    for (unsigned f = 0; f < core.getNumFactors(); ++f)
      sum = addCosts(sum, core.lookUp(f, values, store));
    return sum;
  }

  static constexpr unsigned kNumOps = 4;
  std::mt19937 random;
  TableStore store;
  CoreGraph core;
  unsigned numSwitches = 0;
  Cost optimum = kInfiniteCost;
};

TEST_P(Sharing, BoundsRiseAndHold) {
  DualBound dual(core, store);
  unsigned found = 0;
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    found += dual.getSharedCosts().isSwitch(v);
  EXPECT_EQ(found, numSwitches);
  Cost last = dual.getBound();
  for (unsigned pass = 0; pass < 20; ++pass) {
    dual.pass();
    EXPECT_GE(dual.getBound(), last);
    EXPECT_LE(dual.getBound(), optimum);
    last = dual.getBound();
  }
}

TEST_P(Sharing, DropsNothingThatIsBest) {
  if (optimum == kInfiniteCost)
    return;
  DualBound dual(core, store);
  for (unsigned pass = 0; pass < 5; ++pass) {
    dual.pass();
    dual.dropValues([&](Cost bound) { return bound > optimum; });
  }
  std::vector<unsigned> values(core.getNumVariables(), 0);
  Cost least = kInfiniteCost;
  unsigned d = 0;
  while (d < values.size()) {
    bool isOut = false;
    for (unsigned v = 0; v < values.size(); ++v)
      isOut |= dual.isDropped(v, values[v]);
    least = isOut ? least : std::min(least, evaluate(values));
    for (d = 0; d < values.size() && ++values[d] == core.getDomain(d); ++d)
      values[d] = 0;
  }
  EXPECT_EQ(least, optimum);
}

TEST_P(Sharing, SwitchesAreSetAsOthersAsk) {
  DualBound dual(core, store);
  for (unsigned turn = 0; turn < 20; ++turn) {
    std::vector<unsigned> values, best;
    for (unsigned v = 0; v < core.getNumVariables(); ++v)
      values.push_back(random() % core.getDomain(v));
    Cost least = kInfiniteCost;
    for (unsigned s = 0; s < 1u << numSwitches; ++s) {
      best = values;
      for (unsigned i = 0; i < numSwitches; ++i)
        best[kNumOps + i] = s >> i & 1;
      least = std::min(least, evaluate(best));
    }
    dual.getSharedCosts().complete(values);
    EXPECT_EQ(evaluate(values), least);
  }
}

TEST_P(Sharing, ForestsNeverMakeItWorse) {
  DualBound dual(core, store);
  std::vector<llvm::SmallVector<unsigned, 6>> all;
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    all.push_back(llvm::to_vector<6>(llvm::seq(core.getDomain(v))));
  ForestDescent descent(core, store, dual.getSharedCosts(), all);
  std::vector<unsigned> values(core.getNumVariables(), 0);
  dual.getSharedCosts().complete(values);
  for (unsigned turn = 0; turn < 20; ++turn) {
    Cost before = evaluate(values);
    Solution solution = descent.makeNext(values).solve();
    if (solution.assignment.empty()) {
      EXPECT_EQ(before, kInfiniteCost);
      continue;
    }
    descent.takeOver(solution.assignment, values);
    EXPECT_LE(evaluate(values), before);
    EXPECT_GE(evaluate(values), optimum);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Sharing, ::testing::Range(1u, 101u));

/// A tensor costs 10 more in the one of two layouts that copies are free from,
/// and each of two consumers takes one of two copies. Were copies variables,
/// half a tensor in that layout would make half of either copy, for 5.
TEST(SharedCosts, PricesOfOnePayerAreNotPaidByHalves) {
  TableStore store;
  CoreGraph core;
  unsigned payer = core.addVariable(0, 2);
  unsigned ops[] = {core.addVariable(1, 2), core.addVariable(2, 2)};
  core.addFactor({payer}, store.intern({10, 0}));
  for (unsigned value : {0, 1}) {
    unsigned copy = core.addVariable(3 + value, 2);
    core.addFactor({payer, copy}, store.intern({0, 0, 0, 10}));
    for (unsigned op : ops) {
      std::vector<Cost> asks = {0, 0, 0, 0};
      asks[2 * value] = kInfiniteCost;
      core.addFactor({op, copy}, store.intern(asks));
    }
  }
  DualBound dual(core, store);
  for (unsigned pass = 0; pass < 20; ++pass)
    dual.pass();
  EXPECT_EQ(dual.getBound(), 10);
}

} // namespace
