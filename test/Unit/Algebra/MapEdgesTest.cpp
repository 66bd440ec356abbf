//===- MapEdgesTest.cpp - Small maps worked out by hand -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/NpuScatter.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::layout;
using testing::ElementsAre;

namespace {

LayoutMap buffer(unsigned rank, IndexExpr offset, int64_t extent,
                 llvm::ArrayRef<int64_t> replicas = {}) {
  return LayoutMap::get(rank, "buffer",
                        {{"offset", std::move(offset), SizeExpr(extent)}},
                        replicas);
}

TEST(MapEdges, RangesOfDigitsEndWithTheirDim) {
  std::optional<Interval> range =
      getRange(takeDigit(IndexExpr::dim(0), 1, 8), {5});
  ASSERT_TRUE(range);
  EXPECT_EQ(range->min, 0);
  EXPECT_EQ(range->max, 4);
}

/// (i + 1) mod 8 of a single index is 1.
TEST(MapEdges, DigitsOfOneValueAreThatValue) {
  IndexExpr one =
      takeDigit(add(IndexExpr::dim(0), IndexExpr(SizeExpr(1))), 1, 8);
  LayoutMap map = buffer(1, one, 8).specialize({1});
  EXPECT_EQ(map.getCoordinates()[0].value.evaluate({0}, {1}), 1);
  // Also if the size becomes known in a sum.
  EXPECT_EQ(add(one, IndexExpr::dim(1), {1, 3}).evaluate({0, 2}, {1, 3}),
            1 + 2);
}

/// Bits 1 and 2 of i xor 6.
TEST(MapEdges, DigitsOfAnXorHaveItsConstant) {
  IndexExpr swizzled =
      xorBits({IndexExpr::dim(0), IndexExpr(SizeExpr(6))}, 3, {8});
  IndexExpr upper = takeDigit(swizzled, 2, 0, {8});
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(upper.evaluate({i}, {8}), (i ^ 6) >> 1);
}

std::vector<char> packBytes(const LayoutMap &map, Sizes sizes,
                            std::vector<char> logical, size_t stored) {
  std::vector<char> storage(stored, '.');
  return pack(map, sizes, 1, logical, storage) ? storage : std::vector<char>();
}

TEST(MapEdges, EveryReplicaIsPacked) {
  IndexExpr offset =
      add(scale(IndexExpr::dim(1), SizeExpr(3)), IndexExpr::dim(0));
  LayoutMap twice = buffer(1, offset, 6, {2});
  EXPECT_THAT(packBytes(twice, {3}, {'a', 'b', 'c'}, 6),
              ElementsAre('a', 'b', 'c', 'a', 'b', 'c'));
  EXPECT_EQ(hasPadding(twice, {3}), ProofResult::Disproved);
  // The storage size must match the map.
  EXPECT_TRUE(packBytes(twice, {3}, {'a', 'b', 'c'}, 7).empty());
}

/// Rows of x, in y: two columns that hold every other element.
TEST(MapEdges, CoordinatesAreRowMajor) {
  LayoutMap map =
      LayoutMap::get(1, "image2d",
                     {{"x", takeDigit(IndexExpr::dim(0), 1, 2), SizeExpr(2)},
                      {"y", takeDigit(IndexExpr::dim(0), 2, 0), SizeExpr(3)}});
  EXPECT_THAT(packBytes(map, {6}, {'a', 'b', 'c', 'd', 'e', 'f'}, 6),
              ElementsAre('a', 'c', 'e', 'b', 'd', 'f'));
}

TEST(MapEdges, EqualMapsHaveOneSpaceAndOneNumberOfReplicas) {
  IndexExpr i = IndexExpr::dim(0);
  LayoutMap elsewhere = LayoutMap::get(1, "sram", {{"offset", i, SizeExpr(8)}});
  EXPECT_EQ(equalOn(buffer(1, i, 8), elsewhere, {8}), ProofResult::Disproved);
  // Too many positions to enumerate.
  int64_t most = int64_t(1) << 40;
  IndexExpr offset = add(scale(IndexExpr::dim(1), SizeExpr(most)), i);
  EXPECT_EQ(equalOn(buffer(1, offset, 3 * most, {2}),
                    buffer(1, offset, 3 * most, {3}), {most}),
            ProofResult::Disproved);
  // Replicas at one point are one.
  EXPECT_EQ(equalOn(buffer(1, i, 8, {2}), buffer(1, i, 8, {3}), {8}),
            ProofResult::Proved);
}

/// A unit has 1024 bytes: a row of this size fits, and a larger one does not.
TEST(MapEdges, TensorsFillAUnit) {
  NpuScatter scatter;
  scatter.mode = NpuMode::Compact;
  auto fits = [&](int64_t bytes) {
    return getNpuStorage(scatter, {4, 1024, 128}, 1, {1, 1, 1, bytes}, nullptr)
        .has_value();
  };
  EXPECT_TRUE(fits(1024));
  EXPECT_FALSE(fits(1025));
}

} // namespace
