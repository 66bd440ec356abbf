//===- PlacementTest.cpp - Live ranges in one memory ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/Placement.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>
#include <random>

using namespace mlir::npu;

namespace {

constexpr uint32_t kSeed = 7;

PlacedBlock block(int64_t begin, int64_t end, int64_t size) {
  PlacedBlock result;
  result.begin = begin;
  result.end = end;
  result.size = size;
  return result;
}

/// The laws of the header.
void expectValid(const std::vector<PlacedBlock> &blocks,
                 const Placement &placement) {
  ASSERT_EQ(placement.places.size(), blocks.size());
  int64_t peak = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    int64_t place = placement.places[i];
    EXPECT_GE(place, 0);
    EXPECT_EQ(place, blocks[i].place ? *blocks[i].place : blocks[i].fit(place));
    EXPECT_LE(place + blocks[i].size, blocks[i].limit.value_or(INT64_MAX));
    peak = std::max(peak, place + blocks[i].size);
    for (size_t j = 0; j < i; ++j) {
      bool together =
          blocks[i].begin < blocks[j].end && blocks[j].begin < blocks[i].end;
      bool overlap = place < placement.places[j] + blocks[j].size &&
                     placement.places[j] < place + blocks[i].size;
      EXPECT_FALSE(together && overlap) << i << " and " << j;
    }
  }
  EXPECT_EQ(placement.peak, peak);
  EXPECT_LE(placement.lowerBound, peak);
}

TEST(PlacementTest, LaterBlocksTakeThePlaceOfEarlierOnes) {
  std::vector<PlacedBlock> blocks{block(0, 2, 4), block(0, 1, 2),
                                  block(1, 2, 2)};
  std::optional<Placement> placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->peak, 6);
  EXPECT_EQ(placement->lowerBound, 6);
}

/// In the order of their beginnings the third would have to go on top.
TEST(PlacementTest, OtherOrdersAreTriedUntilTheBoundIsMet) {
  std::vector<PlacedBlock> blocks{block(0, 2, 1), block(1, 4, 1),
                                  block(3, 5, 3)};
  std::optional<Placement> placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->peak, placement->lowerBound);
}

TEST(PlacementTest, FixedPlacesAlignmentAndLimits) {
  std::vector<PlacedBlock> blocks{block(0, 3, 10), block(0, 3, 10),
                                  block(0, 3, 10)};
  blocks[0].place = 12;
  blocks[1].fit = [](int64_t least) { return (least + 7) / 8 * 8; };
  blocks[1].limit = 40;
  std::optional<Placement> placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->peak, 32);
  // Below the fixed one there is room for one of the two.
  blocks[1].limit = 33;
  blocks[2].limit = 11;
  EXPECT_FALSE(placeBlocks(blocks));
}

/// The least peak of up to seven blocks, found by trying all that is.
int64_t getLeastPeak(const std::vector<PlacedBlock> &blocks) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t least = INT64_MAX;
  do {
    std::vector<int64_t> places(blocks.size(), -1);
    int64_t peak = 0;
    for (size_t i : order) {
      for (int64_t place = 0;; ++place) {
        bool isFree = true;
        for (size_t j = 0; j < blocks.size(); ++j)
          isFree &= places[j] < 0 || blocks[i].begin >= blocks[j].end ||
                    blocks[j].begin >= blocks[i].end ||
                    place >= places[j] + blocks[j].size ||
                    places[j] >= place + blocks[i].size;
        if (!isFree)
          continue;
        places[i] = place;
        peak = std::max(peak, place + blocks[i].size);
        break;
      }
    }
    least = std::min(least, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(PlacementTest, RandomBlocksAreValidAndFewOnesBest) {
  std::mt19937 random(kSeed);
  auto below = [&](int64_t n) { return int64_t(random() % n); };
  for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " +
                 std::to_string(round));
    bool few = round % 3 != 0;
    std::vector<PlacedBlock> blocks;
    for (int64_t i = few ? 1 + below(5) : 1 + below(40); i > 0; --i) {
      int64_t begin = below(12);
      blocks.push_back(block(begin, begin + 1 + below(6), 1 + below(9)));
    }
    std::optional<Placement> placement = placeBlocks(blocks);
    ASSERT_TRUE(placement);
    expectValid(blocks, *placement);
    if (few) {
      EXPECT_EQ(placement->peak, getLeastPeak(blocks));
    }
  }
}

} // namespace
