//===- SetupCostsTest.cpp - Bounds with shared setup costs ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds/DualBound.h"
#include "Bounds/SharedCopyBound.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir::layout;

namespace {

/// Tensors whose consumers share copies: a producer or none, two or three
/// consumers, and a setup variable for some values. Some producers consume
/// other tensors, and some consumers have common factors.
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
        addSetupVariable(ops, value, unit);
    }
    addFactor({0, 1}, unit, 6);
    addFactor({3, 2}, unit, 6);
    optimum = enumerateWithout([](unsigned, unsigned) { return false; });
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
  /// Adds a setup variable. Of four ops, ops[0] is the producer, and the others
  /// are consumers.
  void addSetupVariable(llvm::ArrayRef<unsigned> ops, unsigned value,
                        Cost unit) {
    unsigned self = core.addVariable(core.getNumVariables(), 2);
    unsigned on = random() % 2;
    numSetupVariables += 1;
    bool hasProducer = ops.size() == 4;
    for (unsigned op : hasProducer ? ops.drop_front() : ops) {
      std::vector<Cost> table;
      for (unsigned v = 0; v < core.getDomain(op); ++v)
        for (unsigned s : {0, 1})
          table.push_back(v == value && s != on ? kInfiniteCost : 0);
      core.addFactor({op, self}, store.intern(table));
    }
    std::vector<Cost> table;
    unsigned numRows = hasProducer ? core.getDomain(ops[0]) : 1;
    for (unsigned v = 0; v < numRows; ++v)
      for (unsigned s : {0, 1})
        table.push_back(s == on ? Cost(random() % 9) * unit : 0);
    if (hasProducer)
      core.addFactor({ops[0], self}, store.intern(table));
    else
      core.addFactor({self}, store.intern(table));
  }
  /// Returns the least cost of the assignments without values that are out.
  Cost
  enumerateWithout(llvm::function_ref<bool(unsigned, unsigned)> isOut) const {
    std::vector<unsigned> values(core.getNumVariables(), 0);
    Cost least = kInfiniteCost;
    unsigned d = 0;
    while (d < values.size()) {
      bool hasAll = true;
      for (unsigned v = 0; v < values.size(); ++v)
        hasAll &= !isOut(v, values[v]);
      if (hasAll)
        least = std::min(least, evaluate(values));
      for (d = 0; d < values.size() && ++values[d] == core.getDomain(d); ++d)
        values[d] = 0;
    }
    return least;
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
  unsigned numSetupVariables = 0;
  Cost optimum = kInfiniteCost;
};

TEST_P(Sharing, BoundsRiseAndHold) {
  DualBound dual(core, store);
  unsigned found = 0;
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    found += dual.getSetupCosts().isSetupVariable(v);
  EXPECT_EQ(found, numSetupVariables);
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
  EXPECT_EQ(enumerateWithout(
                [&](unsigned v, unsigned x) { return dual.isDropped(v, x); }),
            optimum);
}

TEST_P(Sharing, SetupVariablesAreSetAsOthersRequire) {
  DualBound dual(core, store);
  for (unsigned trial = 0; trial < 20; ++trial) {
    std::vector<unsigned> values, best;
    for (unsigned v = 0; v < core.getNumVariables(); ++v)
      values.push_back(random() % core.getDomain(v));
    Cost least = kInfiniteCost;
    for (unsigned s = 0; s < 1u << numSetupVariables; ++s) {
      best = values;
      for (unsigned i = 0; i < numSetupVariables; ++i)
        best[kNumOps + i] = s >> i & 1;
      least = std::min(least, evaluate(best));
    }
    dual.getSetupCosts().complete(values);
    EXPECT_EQ(evaluate(values), least);
  }
}

TEST_P(Sharing, SharedCopyBoundDropsNothingThatIsBest) {
  DualBound dual(core, store);
  const SetupCosts &shared = dual.getSetupCosts();
  SharedCopyBound copies(core, store, shared, dual.getOrder());
  EXPECT_EQ(copies.isUsable(), GetParam() % 5 != 0);
  if (!copies.isUsable() || optimum == kInfiniteCost)
    return;
  std::set<std::pair<unsigned, unsigned>> dropped;
  for (unsigned pass = 0; pass < 10; ++pass) {
    Cost last = copies.getBound();
    copies.pass();
    EXPECT_GE(copies.getBound(), last);
    EXPECT_LE(copies.getBound(), optimum);
    std::vector<unsigned> values(core.getNumVariables(), 0);
    if (copies.round(values)) {
      shared.complete(values);
      EXPECT_GE(evaluate(values), optimum);
      EXPECT_NE(evaluate(values), kInfiniteCost);
    }
    copies.dropValues([&](Cost bound) { return bound > optimum; },
                      [&](unsigned v, unsigned x) { dropped.insert({v, x}); });
  }
  EXPECT_EQ(enumerateWithout([&](unsigned v, unsigned x) {
              return dropped.count({v, x}) != 0;
            }),
            optimum);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Sharing, ::testing::Range(1u, 101u));

/// Copies are free from one of two layouts, which costs the tensor 10 more.
/// Each of two consumers needs one of two copies. If copies were variables,
/// half a tensor in that layout would yield half of both copies, for 5.
TEST(SetupCosts, PricesOfOneProducerAreNotPaidByHalves) {
  TableStore store;
  CoreGraph core;
  unsigned producer = core.addVariable(0, 2);
  unsigned ops[] = {core.addVariable(1, 2), core.addVariable(2, 2)};
  core.addFactor({producer}, store.intern({10, 0}));
  for (unsigned value : {0, 1}) {
    unsigned copy = core.addVariable(3 + value, 2);
    core.addFactor({producer, copy}, store.intern({0, 0, 0, 10}));
    for (unsigned op : ops) {
      std::vector<Cost> requests = {0, 0, 0, 0};
      requests[2 * value] = kInfiniteCost;
      core.addFactor({op, copy}, store.intern(requests));
    }
  }
  DualBound dual(core, store);
  for (unsigned pass = 0; pass < 20; ++pass)
    dual.pass();
  EXPECT_EQ(dual.getBound(), 10);
}

/// One tensor with copies in some layouts. Some values of consumers require no
/// copy, and several values may require the same one.
class OneTensor {
public:
  OneTensor(std::mt19937 &random, unsigned numConsumers, bool hasProducer) {
    const unsigned numLayouts = 4;
    if (hasProducer)
      addOp(random, 3);
    for (unsigned a = 0; a < numConsumers; ++a)
      addOp(random, a < 6 ? 3 : 2);
    requested.resize(numLayouts, std::vector<bool>(3 * numConsumers, false));
    for (unsigned a = 0; a < 3 * numConsumers; ++a)
      if (random() % 4)
        requested[random() % numLayouts][a] = true;
    for (unsigned layout = 0; layout < numLayouts; ++layout) {
      unsigned copy = core.addVariable(core.getNumVariables(), 2);
      prices.emplace_back();
      std::vector<Cost> table;
      for (unsigned p = 0; p < (hasProducer ? 3 : 1); ++p) {
        prices.back().push_back(random() % 20);
        table.insert(table.end(), {0, prices.back().back()});
      }
      if (hasProducer)
        core.addFactor({0, copy}, store.intern(table));
      else
        core.addFactor({copy}, store.intern(table));
      for (unsigned a = 0; a < numConsumers; ++a) {
        std::vector<Cost> requests;
        unsigned op = a + hasProducer;
        for (unsigned x = 0; x < core.getDomain(op); ++x)
          requests.insert(
              requests.end(),
              {requested[layout][3 * a + x] ? kInfiniteCost : 0, 0});
        if (llvm::is_contained(requests, kInfiniteCost))
          core.addFactor({op, copy}, store.intern(requests));
      }
    }
    numOps = numConsumers + hasProducer;
    std::vector<unsigned> values(numOps, 0);
    unsigned d = 0;
    while (d < numOps) {
      optimum = std::min(optimum, evaluate(values, hasProducer));
      for (d = 0; d < numOps && ++values[d] == core.getDomain(d); ++d)
        values[d] = 0;
    }
  }

  TableStore store;
  CoreGraph core;
  Cost optimum = kInfiniteCost;

private:
  void addOp(std::mt19937 &random, unsigned domain) {
    unsigned op = core.addVariable(core.getNumVariables(), domain);
    own.emplace_back();
    for (unsigned x = 0; x < domain; ++x)
      own.back().push_back(random() % 20);
    core.addFactor({op}, store.intern(own.back()));
  }
  /// Computes the cost from the definition.
  Cost evaluate(llvm::ArrayRef<unsigned> values, bool hasProducer) const {
    Cost sum = 0;
    for (unsigned op = 0; op < numOps; ++op)
      sum += own[op][values[op]];
    for (unsigned layout = 0; layout < prices.size(); ++layout) {
      bool isRequested = false;
      for (unsigned a = 0; a + hasProducer < numOps; ++a)
        isRequested |= requested[layout][3 * a + values[a + hasProducer]];
      sum += isRequested ? prices[layout][hasProducer ? values[0] : 0] : 0;
    }
    return sum;
  }

  unsigned numOps = 0;
  std::vector<std::vector<Cost>> own, prices;
  std::vector<std::vector<bool>> requested; // per layout, consumer and value
};

/// The bound of a single hyper-factor is its least cost. Without a producer,
/// copies with different consumers are several hyper-factors.
TEST(SharedCopyBound, IsExactForOneTensor) {
  std::mt19937 random(7);
  unsigned numTensors = 0;
  for (unsigned trial = 0; trial < 60; ++trial) {
    bool isWhole = trial % 3 > 0;
    OneTensor tensor(random, /*numConsumers=*/2 + trial % 7, isWhole);
    DualBound dual(tensor.core, tensor.store);
    const SetupCosts &shared = dual.getSetupCosts();
    // A copy for one consumer only is not shared.
    if (shared.getSetupVariables().size() < 4)
      continue;
    ++numTensors;
    SharedCopyBound copies(tensor.core, tensor.store, shared, dual.getOrder());
    ASSERT_TRUE(copies.isUsable());
    copies.pass();
    EXPECT_LE(copies.getBound(), tensor.optimum);
    std::vector<unsigned> values(tensor.core.getNumVariables(), 0);
    ASSERT_TRUE(copies.round(values));
    shared.complete(values);
    Cost cost = 0;
    for (unsigned f = 0; f < tensor.core.getNumFactors(); ++f)
      cost = addCosts(cost, tensor.core.lookUp(f, values, tensor.store));
    EXPECT_GE(cost, tensor.optimum);
    if (isWhole) {
      EXPECT_EQ(copies.getBound(), tensor.optimum);
      EXPECT_EQ(cost, tensor.optimum);
    }
  }
  EXPECT_GT(numTensors, 20u);
}

/// More consumers than fit into a hyper-factor are split into several; the
/// bound holds.
TEST(SharedCopyBound, HoldsForManyConsumers) {
  std::mt19937 random(8);
  for (unsigned trial = 0; trial < 4; ++trial) {
    OneTensor tensor(random, 9 + trial % 2, /*hasProducer=*/trial % 2);
    DualBound dual(tensor.core, tensor.store);
    SharedCopyBound copies(tensor.core, tensor.store, dual.getSetupCosts(),
                           dual.getOrder());
    for (unsigned pass = 0; pass < 10; ++pass)
      copies.pass();
    EXPECT_LE(copies.getBound(), tensor.optimum);
    EXPECT_GE(copies.getBound(), tensor.optimum / 2);
  }
}

} // namespace
