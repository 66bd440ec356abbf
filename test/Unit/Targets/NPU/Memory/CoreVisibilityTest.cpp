//===- CoreVisibilityTest.cpp - Visibility of operands to cores -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/CoreVisibility.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::npu;

namespace {

struct Reaches : testing::Test {
  /// Returns the reach of an operand over four loops with these channel loops.
  CoreVisibility get(ArrayRef<AffineExpr> indices,
                     ArrayRef<unsigned> channels) {
    llvm::SmallBitVector loops(4);
    for (unsigned loop : channels)
      loops.set(loop);
    return getCoreVisibility(AffineMap::get(4, 0, indices, &context), loops);
  }
  AffineExpr loop(unsigned i) { return getAffineDimExpr(i, &context); }

  MLIRContext context;
};

TEST_F(Reaches, OwnIsIndexedByTheChannels) {
  EXPECT_EQ(get({loop(1), loop(3)}, {1}), CoreVisibility::Own);
  EXPECT_EQ(get({loop(0), loop(1)}, {0, 1}), CoreVisibility::Own);
  EXPECT_EQ(get({loop(0)}, {}), CoreVisibility::Own);
}

TEST_F(Reaches, BroadcastLacksTheChannels) {
  EXPECT_EQ(get({loop(0), loop(3)}, {1}), CoreVisibility::Broadcast);
  EXPECT_EQ(get({}, {1}), CoreVisibility::Broadcast);
}

/// A sum of loops is indexed by each of them.
TEST_F(Reaches, NeitherIsIndexedBySomeChannels) {
  EXPECT_EQ(get({loop(0) + loop(2)}, {0, 1}), CoreVisibility::Neither);
}

} // namespace
