//===- PrimitivesTest.cpp - Proofs of all primitives ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every constructor of BoundedIndex.h, on non-divisible shapes: its result is
// proven with its inverse, and refuted with a wrong stride.
//
//===----------------------------------------------------------------------===//

#include "Proven.h"

using namespace layout_test;
using namespace mlir::layout;

namespace {

LayoutMap buffer(unsigned rank, const BoundedIndex &offset,
                 llvm::ArrayRef<int64_t> replicas = {}) {
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}}, replicas);
}

const BoundedIndex d0 = BoundedIndex::dim(0), d1 = BoundedIndex::dim(1),
                   d2 = BoundedIndex::dim(2);

/// Sizes that are not divisible, divisible, of one tile, of a part of a tile,
/// of one element, and large.
const Index kNonDivisible[] = {{5, 17}, {8, 32}, {3, 16},
                               {2, 7},  {1, 1},  {4099, 70001}};

TEST(Primitives, Shift) {
  for (const Index &sizes : kNonDivisible) {
    expectProven(buffer(2, group({pad(d0, 2, 0), pad(d1, 0, 3)})), sizes);
    expectProven(buffer(2, group({d1, pad(d0, 1, 4)})), sizes);
  }
  expectBugFound(buffer(2, group({pad(d0, 2, 1), d1})), {5, 17});
}

TEST(Primitives, Split) {
  for (const Index &sizes : kNonDivisible) {
    expectProven(buffer(2, group({floorDiv(d1, 16), d0, mod(d1, 16)})), sizes);
    expectProven(buffer(2, group({mod(d1, 5), d0, floorDiv(d1, 5)})), sizes);
    expectProven(buffer(2, group({floorDiv(d1, 12), mod(floorDiv(d1, 3), 4), d0,
                                  mod(d1, 3)})),
                 sizes);
  }
  expectBugFound(buffer(2, group({floorDiv(d1, 16), d0, mod(d1, 16)})),
                 {5, 47});
}

TEST(Primitives, SplitOfAShiftedDigit) {
  for (const Index &sizes : kNonDivisible) {
    BoundedIndex shifted = pad(d1, 3, 0);
    expectProven(buffer(2, group({floorDiv(shifted, 4), d0, mod(shifted, 4)})),
                 sizes);
  }
  BoundedIndex shifted = pad(d1, 3, 0);
  expectBugFound(buffer(2, group({floorDiv(shifted, 4), d0, mod(shifted, 4)})),
                 {5, 17});
}

TEST(Primitives, FuseAndSplitAgain) {
  for (const Index &sizes : kNonDivisible) {
    BoundedIndex fused = group({d1, d0});
    expectProven(buffer(2, group({floorDiv(fused, 6), mod(fused, 6)})), sizes);
    expectProven(buffer(2, group({mod(fused, 5), floorDiv(fused, 5)})), sizes);
  }
  BoundedIndex fused = group({d1, d0});
  expectBugFound(buffer(2, group({mod(fused, 4), floorDiv(fused, 4)})),
                 {5, 17});
}

TEST(Primitives, PlaceWithStridesUpAndDown) {
  for (const Index &sizes : kNonDivisible) {
    expectProven(buffer(2, place({{d0, SizeExpr(2)}, {d1, SizeExpr(9001)}})),
                 sizes);
    BoundedIndex down = place({{d0, SizeExpr(-100000)}, {d1, SizeExpr(1)}});
    down.value = add(down.value, SizeExpr((sizes[0] - 1) * 100000));
    down.extent = SizeExpr(sizes[0] * 100000);
    expectProven(buffer(2, down), sizes);
  }
  expectBugFound(buffer(2, place({{d0, SizeExpr(1)}, {d1, SizeExpr(5)}})),
                 {5, 17});
}

TEST(Primitives, AlignAndPadAnInnerGroup) {
  for (const Index &sizes : kNonDivisible) {
    expectProven(buffer(2, group({d0, align(d1, 32)})), sizes);
    expectProven(buffer(2, group({align(mod(d1, 5), 8), d0, floorDiv(d1, 5)})),
                 sizes);
    expectProven(buffer(2, align(group({d1, pad(d0, 0, 7)}), 64)), sizes);
  }
  expectBugFound(buffer(2, group({d0, align(d1, 4)})), {5, 17});
}

/// Swizzles are proven by construction, because sets cannot represent them.
TEST(Primitives, SwizzlesAreUnknown) {
  BoundedIndex swizzle = xorOf({mod(d1, 4), mod(d0, 4)}, 4);
  EXPECT_EQ(
      sets::proveInjective(group({d0, floorDiv(d1, 4), swizzle}).value, {8, 32})
          .answer,
      ProofResult::Unknown);
}

TEST(Primitives, Replicate) {
  // Dim 2 is the replica.
  for (const Index &sizes : kNonDivisible)
    expectProven(buffer(2, group({mod(d2, 4), d1, d0}), {4}), sizes);
  expectBugFound(buffer(2, group({mod(d2, 4), d1, d0}), {4}), {5, 17});
}

TEST(Primitives, SeveralCoordinates) {
  for (const Index &sizes : kNonDivisible) {
    BoundedIndex x = group({floorDiv(d1, 4), d0}), lane = mod(d1, 4);
    LayoutMap map = LayoutMap::get(2, "image2d",
                                   {{"x", x.value, x.extent},
                                    {"y", IndexExpr(), SizeExpr(1)},
                                    {"lane", lane.value, lane.extent}});
    expectProven(map, sizes);
  }
}

//===----------------------------------------------------------------------===//
// Dynamic sizes
//===----------------------------------------------------------------------===//

constexpr int64_t kDynamic = kUnknownSize;

TEST(Primitives, ProvenForAllSizesAtOnce) {
  BoundedIndex blocked = group({floorDiv(d0, 16), mod(d1, 4), mod(d0, 16)});
  std::vector<IndexExpr> values{blocked.value, floorDiv(d1, 4).value};
  EXPECT_EQ(sets::proveInjective(values, {kDynamic, kDynamic}).answer,
            ProofResult::Proved);
  // ceil(n, 16) * 64 positions hold the first value.
  EXPECT_EQ(sets::proveWithin(values, {blocked.extent, d1.extent.ceilDiv(4)},
                              {kDynamic, kDynamic})
                .answer,
            ProofResult::Proved);
  EXPECT_EQ(sets::proveWithin(values, {blocked.extent - SizeExpr(1), d1.extent},
                              {kDynamic, kDynamic})
                .answer,
            ProofResult::Disproved);
}

TEST(Primitives, ACounterexampleNamesItsSizes) {
  // 8 i + j collides from the 9th column on.
  IndexExpr offset = place({{d0, SizeExpr(8)}, {d1, SizeExpr(1)}}).value;
  sets::Statement statement =
      sets::proveInjective(offset, {kDynamic, kDynamic});
  ASSERT_EQ(statement.answer, ProofResult::Disproved);
  ASSERT_EQ(statement.sizes.size(), 2u);
  EXPECT_GT(statement.sizes[1], 8);
  for (auto &index : {statement.index, statement.other})
    for (int d : {0, 1}) {
      EXPECT_GE(index[d], 0);
      EXPECT_LT(index[d], statement.sizes[d]);
    }
  EXPECT_NE(statement.index, statement.other);
  EXPECT_EQ(offset.evaluate(statement.index, {}),
            offset.evaluate(statement.other, {}));
  EXPECT_EQ(sets::proveInjective(offset, {kDynamic, 8}).answer,
            ProofResult::Proved);
}

TEST(Primitives, ProductsOfDynamicSizesAreUnknown) {
  EXPECT_EQ(sets::proveInjective(group({d0, d1, d2}).value,
                                 {kDynamic, kDynamic, kDynamic})
                .answer,
            ProofResult::Unknown);
  // A single dynamic size is not a product.
  EXPECT_EQ(
      sets::proveInjective(group({d0, d1, d2}).value, {kDynamic, 7, 9}).answer,
      ProofResult::Proved);
}

//===----------------------------------------------------------------------===//
// The other statements
//===----------------------------------------------------------------------===//

TEST(Primitives, PaddingIsToldFromElements) {
  BoundedIndex offset = group({floorDiv(d0, 16), mod(d0, 16)});
  EXPECT_EQ(sets::proveUnused(offset.value, {17}, {17}).answer,
            ProofResult::Proved);
  sets::Statement used = sets::proveUnused(offset.value, {16}, {17});
  ASSERT_EQ(used.answer, ProofResult::Disproved);
  EXPECT_EQ(used.index, (llvm::SmallVector<int64_t>{16}));
}

TEST(Primitives, SumsBeyond64BitsAreDecided) {
  int64_t big = std::numeric_limits<int64_t>::max();
  IndexExpr offset =
      place({{d0, SizeExpr(big)}, {d1, SizeExpr(big - 1)}}).value;
  EXPECT_EQ(sets::proveInjective(offset, {big - 1, big}).answer,
            ProofResult::Proved);
  sets::Statement meet = sets::proveInjective(offset, {big, big});
  EXPECT_EQ(meet.answer, ProofResult::Proved);
  IndexExpr twice = place({{d0, SizeExpr(big)}, {d1, SizeExpr(big)}}).value;
  EXPECT_EQ(sets::proveInjective(twice, {2, 2}).answer, ProofResult::Disproved);
}

TEST(Primitives, OverflowedStridesAreUnknown) {
  IndexExpr offset = d0.value;
  offset.terms[0].stride = SizeExpr::overflow();
  EXPECT_EQ(sets::proveInjective(offset, {5}).answer, ProofResult::Unknown);
  EXPECT_EQ(sets::proveWithin(d0.value, SizeExpr::overflow(), {5}).answer,
            ProofResult::Unknown);
}

} // namespace
