//===- LiveMemoryTest.cpp - Live bytes and places of blocks ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveMemory.h"
#include "LiveBytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::npu;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

PlacedBlock block(int64_t begin, int64_t end, int64_t size,
                  int64_t limit = 64) {
  PlacedBlock result;
  result.begin = begin;
  result.end = end;
  result.size = size;
  result.limit = limit;
  return result;
}

template <typename Range> auto toPairs(const Range &live) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const LiveBytes &each : live)
    pairs.push_back({each.time, each.bytes});
  return pairs;
}

/// The example of the header.
TEST(LiveBytes, AreCountedWhereBlocksBeginAndEnd) {
  std::vector<PlacedBlock> blocks{block(0, 4, 5), block(1, 2, 3),
                                  block(3, 4, 2)};
  EXPECT_THAT(toPairs(getLiveBytes(blocks)),
              ElementsAre(Pair(0, 5), Pair(1, 8), Pair(2, 5), Pair(3, 7),
                          Pair(4, 2), Pair(4, 0)));
  EXPECT_THAT(toPairs(getFullest(blocks, 6)),
              ElementsAre(Pair(1, 8), Pair(3, 7)));
  EXPECT_THAT(toPairs(getFullest(blocks, 7)), ElementsAre(Pair(1, 8)));
  EXPECT_THAT(toPairs(getFullest(blocks, 8)), IsEmpty());
  // In one interval, the fullest time counts, not the first.
  blocks = {block(0, 4, 5), block(1, 3, 3), block(2, 3, 2)};
  EXPECT_THAT(toPairs(getFullest(blocks, 6)), ElementsAre(Pair(2, 10)));
}

TEST(LiveBytes, BlocksTakeThePlaceOfThoseThatEnded) {
  EXPECT_EQ(findUnplaced({block(0, 2, 4, 4), block(2, 3, 4, 4)}), std::nullopt);
  EXPECT_EQ(findUnplaced({block(0, 2, 4, 4), block(1, 3, 4, 4)}), 1);
}

/// The example of the header, and a third block that overlaps both.
TEST(LiveMemory, BlocksThatGrowGoWhereThereIsRoom) {
  LiveMemory memory({block(0, 4, 3), block(4, 6, 3), block(6, 8, 3, 9)},
                    {0, 0, 0});
  EXPECT_TRUE(memory.grow(1, 2, 6));
  EXPECT_THAT(memory.getPlaces(), ElementsAre(0, 3, 0));
  EXPECT_TRUE(memory.grow(2, 3, 8));
  EXPECT_THAT(memory.getPlaces(), ElementsAre(0, 3, 6));
}

TEST(LiveMemory, BlocksStayWhereTheyMust) {
  std::vector<PlacedBlock> blocks{block(0, 4, 3), block(4, 6, 3)};
  blocks[1].place = 0;
  LiveMemory memory(blocks, {0, 0});
  EXPECT_FALSE(memory.grow(1, 3, 6));
  EXPECT_EQ(memory.getBlocks()[1].begin, 4);
  blocks[1].place.reset();
  blocks[1].limit = 5;
  LiveMemory small(blocks, {0, 0});
  EXPECT_FALSE(small.grow(1, 3, 6));
  EXPECT_TRUE(small.grow(1, 4, 9));
}

} // namespace
