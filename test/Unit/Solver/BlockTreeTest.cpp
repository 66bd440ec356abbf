//===- BlockTreeTest.cpp - Blocks that share one variable -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockTree.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir::layout;

namespace {

/// Sparse graphs with some factors of three variables.
class Blocks : public ::testing::TestWithParam<unsigned> {
protected:
  Blocks() {
    std::mt19937 random(GetParam());
    const unsigned count = 3 + random() % 10;
    for (unsigned v = 0; v < count; ++v)
      core.addVariable(v, 2);
    for (unsigned f = 0, end = count + random() % 4; f < end; ++f) {
      std::set<unsigned> scope;
      for (unsigned i = 0; i < 2 + random() % 5 / 4; ++i)
        scope.insert(random() % count);
      core.addFactor(std::vector<unsigned>(scope.begin(), scope.end()),
                     kNoTable);
    }
    blocks = findBlocks(core);
  }
  /// Returns the variables reachable from `from` without visiting `without`.
  std::set<unsigned> reach(unsigned from, unsigned without) const {
    std::set<unsigned> reached = {from};
    std::vector<unsigned> left = {from};
    while (!left.empty()) {
      unsigned v = left.back();
      left.pop_back();
      core.forEachFactorOf(v, [&](unsigned factor) {
        for (unsigned other : core.getScope(factor))
          if (other != without && reached.insert(other).second)
            left.push_back(other);
      });
    }
    return reached;
  }
  static std::set<unsigned> getAll(const Block &block) {
    std::set<unsigned> all(block.variables.begin(), block.variables.end());
    if (block.parent != Block::kNone)
      all.insert(block.parent);
    return all;
  }

  CoreGraph core;
  std::vector<Block> blocks;
};

TEST_P(Blocks, HoldEachVariableAndFactorOnce) {
  std::vector<unsigned> variables(core.getNumVariables(), 0),
      factors(core.getNumFactors(), 0);
  for (const Block &block : blocks) {
    for (unsigned v : block.variables) {
      EXPECT_NE(v, block.parent);
      ++variables[v];
    }
    std::set<unsigned> all = getAll(block);
    for (unsigned f : block.factors) {
      ++factors[f];
      for (unsigned v : core.getScope(f))
        EXPECT_TRUE(all.count(v));
    }
  }
  for (unsigned count : variables)
    EXPECT_EQ(count, 1u);
  for (unsigned f = 0; f < core.getNumFactors(); ++f)
    EXPECT_EQ(factors[f], core.getScope(f).size() > 1 ? 1u : 0u);
}

TEST_P(Blocks, ComeBeforeThatOfTheirParent) {
  std::vector<bool> isDone(core.getNumVariables(), false);
  for (const Block &block : blocks) {
    EXPECT_FALSE(block.parent != Block::kNone && isDone[block.parent]);
    for (unsigned v : block.variables)
      isDone[v] = true;
  }
}

TEST_P(Blocks, AreConnectedWithoutAnyOneVariable) {
  for (const Block &block : blocks) {
    std::set<unsigned> all = getAll(block);
    for (unsigned without : all)
      for (unsigned a : all)
        for (unsigned b : all)
          EXPECT_TRUE(a == without || b == without ||
                      reach(a, without).count(b));
  }
}

TEST_P(Blocks, AreSeparatedByTheirParent) {
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].parent == Block::kNone)
      continue;
    std::set<unsigned> behind =
        reach(blocks[b].variables.front(), blocks[b].parent);
    // The block of the parent, and other blocks below it, are not reachable.
    for (size_t other = 0; other < blocks.size(); ++other)
      EXPECT_FALSE(other != b && blocks[other].parent == blocks[b].parent &&
                   behind.count(blocks[other].variables.front()));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Blocks, ::testing::Range(1u, 201u));

} // namespace
