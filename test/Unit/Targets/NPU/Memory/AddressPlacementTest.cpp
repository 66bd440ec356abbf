//===- AddressPlacementTest.cpp - Placement of live ranges in a memory ----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/BankPlacement.h"
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

/// Compares every byte of one block in every core with those of the other.
bool doShare(const PlacedBlock &a, int64_t placeOfA, const PlacedBlock &b,
             int64_t placeOfB) {
  auto owns = [](const PlacedBlock &block, int64_t place, int64_t core,
                 int64_t byte) {
    byte -= place;
    if (!block.owned)
      return byte >= 0 && byte < block.size;
    return std::any_of(
        block.owned->begin(), block.owned->end(), [&](const Bytes &bytes) {
          return (bytes.core == kEveryCore || bytes.core == core) &&
                 byte >= bytes.begin && byte < bytes.end;
        });
  };
  for (int64_t core = 0; core < 3; ++core)
    for (int64_t byte = placeOfA; byte < placeOfA + a.size; ++byte)
      if (owns(a, placeOfA, core, byte) && owns(b, placeOfB, core, byte))
        return true;
  return false;
}

/// Checks the laws of the header.
void expectValid(const std::vector<PlacedBlock> &blocks,
                 const AddressPlacement &placement) {
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
      bool overlap = doShare(blocks[i], place, blocks[j], placement.places[j]);
      EXPECT_FALSE(together && overlap) << i << " and " << j;
    }
  }
  EXPECT_EQ(placement.peak, peak);
  EXPECT_LE(placement.lowerBound, peak);
}

TEST(AddressPlacementTest, LaterBlocksTakeThePlaceOfEarlierOnes) {
  std::vector<PlacedBlock> blocks{block(0, 2, 4), block(0, 1, 2),
                                  block(1, 2, 2)};
  std::optional<AddressPlacement> placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->peak, 6);
  EXPECT_EQ(placement->lowerBound, 6);
}

/// In order of their start times, the third block would have to be on top.
TEST(AddressPlacementTest, OtherOrdersAreTriedUntilTheBoundIsMet) {
  std::vector<PlacedBlock> blocks{block(0, 2, 1), block(1, 4, 1),
                                  block(3, 5, 3)};
  std::optional<AddressPlacement> placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->peak, placement->lowerBound);
}

/// Each of forty times, a short block must end at byte 1, below a larger,
/// longer-lived block that comes first. Only one random order in 2^40 satisfies
/// all of them.
TEST(AddressPlacementTest, WhatHadNoPlaceIsPlacedFirst) {
  std::vector<PlacedBlock> blocks;
  for (int64_t time = 0; time < 80; time += 2) {
    blocks.push_back(block(time, time + 2, 2));
    blocks.push_back(block(time, time + 1, 1));
    blocks.back().limit = 1;
  }
  std::optional<AddressPlacement> placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->peak, 3);
}

TEST(AddressPlacementTest, FixedPlacesAlignmentAndLimits) {
  std::vector<PlacedBlock> blocks{block(0, 3, 10), block(0, 3, 10),
                                  block(0, 3, 10)};
  blocks[0].place = 12;
  blocks[1].fit = [](int64_t least) { return (least + 7) / 8 * 8; };
  blocks[1].limit = 40;
  std::optional<AddressPlacement> placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->peak, 32);
  // Below the fixed block there is space for one of the two.
  blocks[1].limit = 33;
  blocks[2].limit = 11;
  EXPECT_FALSE(placeBlocks(blocks));
}

/// Finds the least peak of up to seven blocks by exhaustive search.
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

TEST(AddressPlacementTest, RandomBlocksAreValidAndFewOnesBest) {
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
    std::optional<AddressPlacement> placement = placeBlocks(blocks);
    ASSERT_TRUE(placement);
    expectValid(blocks, *placement);
    if (few) {
      EXPECT_EQ(placement->peak, getLeastPeak(blocks));
    }
  }
}

/// [0, 3) of core 0 and [5, 8) of core 1.
TEST(AddressPlacementTest, BlocksLieInTheHolesOfOthers) {
  std::vector<PlacedBlock> blocks{block(0, 2, 8), block(0, 2, 3)};
  blocks[0].owned =
      std::make_shared<OwnedBytes>(OwnedBytes{{0, 0, 3}, {1, 5, 8}});
  std::optional<AddressPlacement> placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->peak, 11); // all cores of the second one: no hole
  blocks[1].owned = std::make_shared<OwnedBytes>(OwnedBytes{{0, 0, 3}});
  placement = placeBlocks(blocks);
  ASSERT_TRUE(placement);
  expectValid(blocks, *placement);
  EXPECT_EQ(placement->places[1], 3);
  EXPECT_EQ(placement->peak, 8);
  EXPECT_EQ(placement->lowerBound, 8);
}

TEST(AddressPlacementTest, PiecesAreNormalized) {
  OwnedBytes bytes{{1, 4, 6}, {0, 2, 4}, {1, 6, 8}, {1, 5, 7}, {0, 0, 1}};
  normalize(bytes);
  ASSERT_EQ(bytes.size(), 3u);
  EXPECT_EQ(bytes[1].end, 4);
  EXPECT_EQ(bytes[2].begin, 4);
  EXPECT_EQ(bytes[2].end, 8);
  bytes = {{0, 2, 4}, {0, 0, 2}};
  normalize(bytes);
  EXPECT_EQ(bytes.size(), 1u);
}

/// Both start elsewhere; after the first collision there is a longer one.
TEST(AddressPlacementTest, SharedBytesAreThoseOfBoth) {
  OwnedBytes a{{0, 0, 4}, {1, 0, 4}}, b{{0, 0, 4}, {1, 0, 9}};
  std::optional<SharedBytes> shared = findShared(a, 8, b, 10);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->first.core, 0);
  EXPECT_EQ(shared->first.begin, 10);
  EXPECT_EQ(shared->first.end, 12);
  EXPECT_EQ(shared->next, 19);
}

/// Banks of 8 bytes; 3 and 8 bytes of two operands in one of them.
TEST(AddressPlacementTest, ConflictsCountTheSmallerUse) {
  std::vector<PlacedBlock> blocks{block(0, 1, 3), block(0, 1, 8)};
  std::vector<BankCommand> commands{{5, {{0, 0, 3, 0}, {1, 0, 8, 1}}}};
  BankPlacer placer(blocks, commands, 8, 4);
  EXPECT_EQ(placer.count({5, 0}).commands, 1);
  EXPECT_EQ(placer.count({5, 0}).bytes, 3);
  EXPECT_EQ(placer.count({5, 0}).cycles, 5);
  EXPECT_EQ(placer.count({8, 0}).cycles, 0);
  EXPECT_EQ(placer.count({8, 0}).commands, 0);
  // An operand of no bytes uses no bank.
  commands = {{5, {{0, 0, 0, 0}, {1, 0, 8, 1}}}};
  EXPECT_EQ(BankPlacer(blocks, commands, 8, 4).count({0, 0}).commands, 0);
}

/// Two of three blocks must share a bank: those with fewer lost cycles, even if
/// more commands conflict.
TEST(AddressPlacementTest, LostCyclesCountBeforeCommands) {
  std::vector<PlacedBlock> blocks(3, block(0, 1, 8));
  blocks[2].size = 1;
  blocks[0].place = 0;
  blocks[1].place = 8;
  BankCommand few{1, {{0, 0, 8, 0}, {2, 0, 1, 1}}},
      much{3, {{1, 0, 8, 0}, {2, 0, 1, 1}}};
  blocks[0].size = blocks[1].size = 7;
  std::vector<BankCommand> commands{few, few, much};
  BankPlacer placer(blocks, commands, 8, 2);
  AddressPlacement careless;
  careless.places = {0, 8, 15};
  careless.peak = 16;
  EXPECT_EQ(placer.count(careless.places).cycles, 3);
  AddressPlacement placement = placer.improve(careless);
  EXPECT_EQ(placement.places[2], 7);
  EXPECT_EQ(placer.count(placement.places).cycles, 2);
  EXPECT_EQ(placer.count(placement.places).commands, 2);
}

/// Two uses of one side may share a bank.
TEST(AddressPlacementTest, BoundsOfBankConflicts) {
  std::vector<PlacedBlock> blocks(3, block(0, 1, 4));
  std::vector<BankCommand> commands{
      {7, {{0, 0, 4, 0}, {1, 0, 4, 0}, {2, 0, 4, 1}}}};
  EXPECT_EQ(BankPlacer(blocks, commands, 8, 2).getBound().commands, 0);
  EXPECT_EQ(BankPlacer(blocks, commands, 8, 2).getBound().cycles, 0);
  EXPECT_EQ(BankPlacer(blocks, commands, 8, 1).getBound().commands, 1);
  EXPECT_EQ(BankPlacer(blocks, commands, 8, 1).getBound().cycles, 7);
}

/// Random blocks, some fragmented, in a memory of eight banks.
TEST(AddressPlacementTest, BankConflictsNeverGrowAndRespectTheBound) {
  std::mt19937 random(kSeed);
  auto below = [&](int64_t n) { return int64_t(random() % n); };
  int64_t less = 0;
  for (int round = 0; round < 200 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " +
                 std::to_string(round));
    int64_t banks = 1 + below(8), bankBytes = 3 + below(9);
    std::vector<PlacedBlock> blocks;
    for (int64_t i = 2 + below(14); i > 0; --i) {
      int64_t begin = below(10);
      blocks.push_back(block(begin, begin + 1 + below(6), 1 + below(9)));
      blocks.back().limit = banks * bankBytes;
      if (below(3) == 0) {
        OwnedBytes owned{{below(3), below(2), blocks.back().size}};
        if (owned[0].begin >= owned[0].end)
          owned[0].begin = 0;
        blocks.back().owned = std::make_shared<OwnedBytes>(owned);
      }
      if (below(4) == 0) {
        int64_t step = 1 + below(4);
        blocks.back().fit = [=](int64_t least) {
          return (least + step - 1) / step * step;
        };
      }
    }
    std::vector<BankCommand> commands;
    for (int64_t i = below(12); i > 0; --i) {
      BankCommand command{below(20), {}};
      for (unsigned side = 0; side < 3; ++side) {
        size_t used = below(blocks.size());
        int64_t begin = below(blocks[used].size);
        command.uses.push_back({used, begin, blocks[used].size, side});
      }
      commands.push_back(command);
    }
    std::optional<AddressPlacement> careless = placeBlocks(blocks);
    if (!careless)
      continue;
    BankPlacer placer(blocks, commands, bankBytes, banks);
    AddressPlacement placement = placer.improve(*careless);
    expectValid(blocks, placement);
    BankConflicts before = placer.count(careless->places);
    BankConflicts after = placer.count(placement.places);
    EXPECT_FALSE(before < after);
    EXPECT_LE(placer.getBound().cycles, after.cycles);
    EXPECT_LE(placer.getBound().commands, after.commands);
    EXPECT_EQ(placement.places, placer.improve(*careless).places);
    less += after.cycles < before.cycles;
  }
  EXPECT_GT(less, 50);
}

} // namespace
