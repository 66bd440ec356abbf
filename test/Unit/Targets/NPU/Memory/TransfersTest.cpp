//===- TransfersTest.cpp - The number of transfers of a copy --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "layout/Algebra/Families/NpuScatter.h"
#include "layout/Algebra/Views.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir::layout;
using namespace mlir::npu;

namespace {

using Index = llvm::SmallVector<int64_t>;

class TransfersTest : public testing::Test {
protected:
  LayoutMap scatter(NpuMode mode, int64_t start, const Index &shape,
                    int64_t elementBytes = 4, NpuPack pack = NpuPack::None,
                    int64_t width = 0) {
    NpuScatter layout;
    layout.mode = mode;
    layout.start = start;
    layout.pack = pack;
    layout.width = width;
    std::optional<NpuStorage> storage =
        getNpuStorage(layout, {4, 1 << 16, 128}, elementBytes, shape,
                      [](const llvm::Twine &why) { FAIL() << why.str(); });
    return storage->getMap(shape);
  }
  std::vector<Transfer> plan(const LayoutMap &source, const LayoutMap &dest,
                             const Index &shape, int64_t elementBytes = 4) {
    std::optional<std::vector<Transfer>> transfers =
        planTransfers(source, dest, shape, elementBytes, limits,
                      [&](const llvm::Twine &message) { why = message.str(); });
    refused = !transfers;
    return transfers ? *transfers : std::vector<Transfer>();
  }

  TransferLimits limits{4};
  std::string why;
  bool refused = false;
};

TEST_F(TransfersTest, WrappedChannelsAndOtherStartUnitsAreOne) {
  Index shape{2, 11, 4, 5};
  LayoutMap linear = LayoutMap::rowMajor(4);
  LayoutMap a = scatter(NpuMode::Aligned, 3, shape);
  LayoutMap b = scatter(NpuMode::Compact, 1, shape);
  EXPECT_EQ(plan(linear, a, shape).size(), 1u);
  EXPECT_EQ(plan(a, linear, shape).size(), 1u);
  std::vector<Transfer> moved = plan(a, b, shape);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].source.core, 3);
  EXPECT_EQ(moved[0].dest.core, 1);
  EXPECT_EQ(moved[0].shape, (LoopSizes{2, 11, 1, 20}));
  EXPECT_EQ(moved[0].source.strides, (LoopSizes{128, 32, 20, 1}));
  EXPECT_EQ(moved[0].dest.strides, (LoopSizes{60, 20, 20, 1}));
  EXPECT_EQ(moved[0].getBytes(), 4 * 2 * 11 * 20);
}

TEST_F(TransfersTest, AMatrixWithARemainderIsTwo) {
  Index shape{2, 40};
  LayoutMap linear = LayoutMap::rowMajor(2);
  auto matrix = [&](int64_t width) {
    return plan(linear,
                scatter(NpuMode::Matrix, 0, shape, 4, NpuPack::None, width),
                shape);
  };
  EXPECT_EQ(matrix(20).size(), 1u);
  std::vector<Transfer> nonDivisible = matrix(15);
  ASSERT_EQ(nonDivisible.size(), 2u);
  EXPECT_EQ(nonDivisible[0].shape, (LoopSizes{2, 2, 1, 15}));
  EXPECT_EQ(nonDivisible[1].shape, (LoopSizes{2, 1, 1, 10}));
  EXPECT_EQ(nonDivisible[1].dest.core, 2);
}

/// 4N: the complete words, lane by lane, and the lanes of the last word.
TEST_F(TransfersTest, PackingTakesATransferForEachLane) {
  LayoutMap linear = LayoutMap::rowMajor(4);
  auto count = [&](int64_t batches) {
    Index shape{batches, 5, 4, 5};
    return plan(linear, scatter(NpuMode::Aligned, 0, shape, 1, NpuPack::N4),
                shape, 1)
        .size();
  };
  EXPECT_EQ(count(4), 1u);
  EXPECT_EQ(count(6), 2u);
  EXPECT_EQ(count(16), 4u);
  EXPECT_EQ(count(18), 5u);
}

TEST_F(TransfersTest, WideElementsAreRowsOfWords) {
  Index shape{2, 3, 4, 5};
  std::vector<Transfer> transfers = plan(
      LayoutMap::rowMajor(4), scatter(NpuMode::Aligned, 0, shape, 8), shape, 8);
  ASSERT_EQ(transfers.size(), 1u);
  EXPECT_EQ(transfers[0].elementBytes, 4);
  EXPECT_EQ(transfers[0].shape, (LoopSizes{2, 3, 1, 40}));
}

TEST_F(TransfersTest, BroadcastReadsWithStrideZero) {
  Index shape{2, 3, 4, 5};
  // One row of five for all batches, channels and rows.
  LayoutMap row = LayoutMap::rowMajor(1).substitute(4, {IndexExpr::dim(3)},
                                                    {SizeExpr(5)}, shape);
  std::vector<Transfer> transfers =
      plan(row, scatter(NpuMode::Compact, 0, shape), shape);
  ASSERT_EQ(transfers.size(), 1u);
  EXPECT_EQ(transfers[0].source.strides[0], 0);
  EXPECT_EQ(transfers[0].source.strides[1], 0);
  EXPECT_EQ(transfers[0].getBytes(), 480);
}

TEST_F(TransfersTest, LimitsSplitLoopsOrUnrollThem) {
  Index shape{2, 11, 4, 5};
  LayoutMap linear = LayoutMap::rowMajor(4);
  LayoutMap aligned = scatter(NpuMode::Aligned, 3, shape);
  limits.maxShape = {0, 4, 0, 0};
  std::vector<Transfer> parts = plan(linear, aligned, shape);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].dest.core, 3);
  EXPECT_EQ(parts[1].dest.byte, 128);
  EXPECT_EQ(parts[2].shape[1], 3);
  limits.maxShape = {0, 0, 0, 0};
  limits.maxStride = 150; // below the 220 between batches
  EXPECT_EQ(plan(linear, aligned, shape).size(), 2u);
  EXPECT_EQ(plan(aligned, linear, shape).size(), 2u);
}

/// N is the slower one of two loops around the rows in the destination.
TEST_F(TransfersTest, TheSlowerLoopIsN) {
  for (Index shape : {Index{2, 3, 5}, Index{3, 2, 5}}) {
    std::vector<Transfer> transfers =
        plan(*transpose(LayoutMap::rowMajor(3), {1, 0, 2}),
             LayoutMap::rowMajor(3), shape);
    ASSERT_EQ(transfers.size(), 1u);
    EXPECT_EQ(transfers[0].shape, (LoopSizes{shape[0], 1, shape[1], 5}));
    EXPECT_EQ(transfers[0].dest.strides[0], 5 * shape[1]);
  }
}

/// Channels in cores 0, 3, 2 and 1 are not a loop of the engine, nor are two
/// dims that both iterate over cores.
TEST_F(TransfersTest, UnitsOutOfOrder) {
  auto onCores = [](unsigned rank, IndexExpr core) {
    return LayoutMap::get(
        rank, "npu",
        {{"core", core, SizeExpr(4)}, {"offset", IndexExpr(), SizeExpr(1)}});
  };
  LayoutMap backwards =
      onCores(1, takeDigit(scale(IndexExpr::dim(0), SizeExpr(3)), 1, 4));
  std::vector<Transfer> transfers =
      plan(LayoutMap::rowMajor(1), backwards, {4});
  ASSERT_EQ(transfers.size(), 4u);
  EXPECT_EQ(transfers[1].dest.core, 3);
  LayoutMap square =
      onCores(2, add(scale(IndexExpr::dim(0), SizeExpr(2)), IndexExpr::dim(1)));
  plan(LayoutMap::rowMajor(2), square, {2, 2});
  EXPECT_TRUE(refused);
  EXPECT_EQ(why, "more than one dim goes from core to core");
}

TEST_F(TransfersTest, LongLoopsTakeFreeOnes) {
  // 60 elements in rows of 5: one command of 3 * 4 * 5 without a loop over 5.
  Index shape{60};
  LayoutMap linear = LayoutMap::rowMajor(1);
  limits.maxShape = {5, 5, 5, 5};
  std::vector<Transfer> folded = plan(linear, linear, shape);
  ASSERT_EQ(folded.size(), 1u);
  EXPECT_EQ(folded[0].getBytes(), 240);
  for (int64_t size : folded[0].shape)
    EXPECT_LE(size, 5);
  for (const TransferSide *side : {&folded[0].source, &folded[0].dest}) {
    std::set<int64_t> elements{0};
    for (int d = 0; d < 4; ++d) {
      std::set<int64_t> reached;
      for (int64_t element : elements)
        for (int64_t i = 0; i < folded[0].shape[d]; ++i)
          reached.insert(element + i * side->strides[d]);
      elements = std::move(reached);
    }
    EXPECT_EQ(elements.size(), 60u);
    EXPECT_EQ(*elements.rbegin(), 59);
  }
  // Primes cannot be folded, and are split.
  EXPECT_EQ(plan(linear, linear, {7}).size(), 2u);
}

TEST_F(TransfersTest, CutsAreWhereTheEngineMayStart) {
  Index shape{13};
  LayoutMap linear = LayoutMap::rowMajor(1);
  limits.maxShape = {1, 1, 1, 7};
  limits.alignment = 4;
  std::vector<Transfer> parts = plan(linear, linear, shape, 2);
  ASSERT_EQ(parts.size(), 3u); // 6 + 6 + 1, as 7 would end between words
  EXPECT_EQ(parts[1].dest.byte, 12);
  limits.maxShape = {1, 1, 1, 1};
  EXPECT_TRUE(plan(linear, linear, shape, 2).empty());
  EXPECT_TRUE(refused);
}

TEST_F(TransfersTest, BoxesAreCutOnceForAllCommands) {
  TransferSide side;
  side.core = 3;
  side.byte = 64;
  side.strides = {100, 20, 5, 1};
  std::vector<LoopSizes> firsts;
  int64_t points = 0;
  EXPECT_TRUE(cutBox({2, 5, 1, 5}, {0, 4, 0, 3},
                     [&](const LoopSizes &first, const LoopSizes &part) {
                       firsts.push_back(first);
                       points += part[0] * part[1] * part[2] * part[3];
                       return true;
                     }));
  EXPECT_EQ(points, 50);
  EXPECT_EQ(firsts,
            (std::vector<LoopSizes>{
                {0, 0, 0, 0}, {0, 0, 0, 3}, {0, 4, 0, 0}, {0, 4, 0, 3}}));
  // Channels from 4 of core 3 on are in core 3 again, one row further.
  TransferSide part = getPartSide(side, firsts[3], 4, 4);
  EXPECT_EQ(part.core, 3);
  EXPECT_EQ(part.byte, 64 + 4 * (20 + 3));
}

TEST_F(TransfersTest, WhatCannotBeIsRefused) {
  Index shape{2, 3, 4, 5};
  LayoutMap linear = LayoutMap::rowMajor(4);
  LayoutMap aligned = scatter(NpuMode::Aligned, 0, shape);
  limits.alignment = 64;
  LayoutMap part =
      *slice(linear, {2, 3, 4, 6}, {0, 0, 0, 1}, shape, {1, 1, 1, 1});
  EXPECT_TRUE(plan(part, aligned, shape).empty());
  EXPECT_TRUE(refused);
  EXPECT_EQ(why, "a transfer would start at byte 4 of the source, which is not "
                 "a multiple of the 64 bytes that the DMA engine requires: "
                 "begin parts, batches and rows at such bytes, or use wider "
                 "elements");
  // A digit of two fused dims is not a loop.
  limits.alignment = 1;
  BoundedIndex fused = group({BoundedIndex::dim(0), BoundedIndex::dim(1)});
  LayoutMap mixed =
      LayoutMap::get(4, "buffer",
                     {{"offset",
                       group({mod(fused, 4), floorDiv(fused, 4),
                              BoundedIndex::dim(2), BoundedIndex::dim(3)})
                           .value,
                       SizeExpr(200)}});
  EXPECT_TRUE(plan(mixed, aligned, shape).empty());
  EXPECT_TRUE(refused);
  EXPECT_EQ(why.find("'offset' of the map is not a sum"), 0u) << why;
  // An image is not supported on either side.
  LayoutMap image = LayoutMap::get(
      4, "image2d",
      {{"x", group({BoundedIndex::dim(1), BoundedIndex::dim(3)}).value,
        SizeExpr(15)},
       {"y", group({BoundedIndex::dim(0), BoundedIndex::dim(2)}).value,
        SizeExpr(8)}});
  for (bool isSource : {false, true}) {
    EXPECT_TRUE(
        plan(isSource ? image : linear, isSource ? linear : image, shape)
            .empty());
    EXPECT_TRUE(refused);
    EXPECT_EQ(why,
              "a map into the space 'image2d' has no offset, which transfers "
              "need: store the tensor in linear or in local memory");
  }
  EXPECT_TRUE(plan(linear, aligned, {2, 0, 4, 5}).empty());
  EXPECT_FALSE(refused);
}

} // namespace
