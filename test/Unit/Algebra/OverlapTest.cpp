//===- OverlapTest.cpp - Shared bytes, groups, cores and banks ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries about two tensors, and about the cores and banks of one, against
// lists of all bytes and groups; expressions are evaluated as written
// (RandomMaps.h).
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Overlap.h"
#include "RandomViews.h"
#include "layout/Algebra/Cores.h"
#include <set>

using namespace layout_test;
using namespace mlir::layout;

namespace {

/// A tensor with channels over cores, and an offset within a core.
struct Scattered {
  Expr npu, offset;
  PlacedTensor tensor;

  Index sizes() const { return {tensor.sizes.begin(), tensor.sizes.end()}; }
  std::set<std::pair<int64_t, int64_t>> getBytes(const Index &sizes) const {
    std::set<std::pair<int64_t, int64_t>> bytes;
    forEachIndex(sizes, [&](const Index &index) {
      for (int64_t b = 0; b < tensor.elementBytes; ++b)
        bytes.insert({npu.value(index, sizes),
                      tensor.base +
                          offset.value(index, sizes) * tensor.elementBytes +
                          b});
    });
    return bytes;
  }
};

Scattered randomScattered(RandomMaps &random) {
  Scattered result;
  Index sizes = random.sizes(1 + random.below(2), 6);
  unsigned rank = sizes.size();
  result.npu = Expr{Expr::Mod, 2 + random.below(3), 0, {random.any(rank, 1)}};
  result.offset = random.below(4) ? random.nested(rank) : random.any(rank, 2);
  BoundedIndex npu = result.npu.build(), offset = result.offset.build();
  result.tensor.map = LayoutMap::get(rank, "npu",
                                     {{"npu", npu.value, npu.extent},
                                      {"offset", offset.value, offset.extent}});
  result.tensor.sizes.assign(sizes.begin(), sizes.end());
  result.tensor.elementBytes = int64_t(1) << random.below(3);
  result.tensor.base = random.below(3) * 8 + random.below(2);
  return result;
}

std::string describe(const PlacedTensor &a) {
  return a.map.str() + " on " +
         testing::PrintToString(Index(a.sizes.begin(), a.sizes.end())) + ", " +
         std::to_string(a.elementBytes) + " bytes each from " +
         std::to_string(a.base);
}

TEST(OverlapTest, ElementsShareABytePreciselyWhereTheListsDo) {
  int64_t answers[3] = {0, 0, 0};
  forRandom(20261123, 800, [&](RandomMaps &random) {
    Scattered a = randomScattered(random), b = randomScattered(random);
    trace = [&] { return describe(a.tensor) + "; " + describe(b.tensor); };
    auto x = a.getBytes(a.sizes()), y = b.getBytes(b.sizes());
    bool share = llvm::any_of(x, [&](auto byte) { return y.count(byte); });
    auto overlap = findOverlap(a.tensor, b.tensor, Owned::Elements);
    ASSERT_TRUE(overlap);
    ASSERT_EQ(overlap->answer,
              share ? ProofResult::Proved : ProofResult::Disproved);
    ++answers[int(overlap->answer)];
    if (!share)
      return;
    Index i(overlap->first.begin(), overlap->first.end()),
        j(overlap->second.begin(), overlap->second.end());
    ASSERT_EQ(a.npu.value(i, a.sizes()), b.npu.value(j, b.sizes()));
    int64_t p = a.tensor.base +
                a.offset.value(i, a.sizes()) * a.tensor.elementBytes,
            q = b.tensor.base +
                b.offset.value(j, b.sizes()) * b.tensor.elementBytes;
    ASSERT_LT(p, q + b.tensor.elementBytes);
    ASSERT_LT(q, p + a.tensor.elementBytes);
  });
  EXPECT_GT(answers[int(ProofResult::Proved)], 100);
  EXPECT_GT(answers[int(ProofResult::Disproved)], 100);
}

TEST(OverlapTest, WhatIsApartForUnknownSizesIsApartForAll) {
  int64_t apart = 0;
  forRandom(20261124, 300, [&](RandomMaps &random) {
    Scattered a = randomScattered(random), b = randomScattered(random);
    PlacedTensor p = a.tensor, q = b.tensor;
    Index openA = forget(a.sizes(), random, 2),
          openB = forget(b.sizes(), random, 2);
    p.sizes.assign(openA.begin(), openA.end());
    q.sizes.assign(openB.begin(), openB.end());
    trace = [&] { return describe(p) + "; " + describe(q); };
    auto overlap = findOverlap(p, q, Owned::Elements);
    ASSERT_TRUE(overlap);
    if (overlap->answer != ProofResult::Disproved)
      return;
    ++apart;
    for (int n = 0; n < 4; ++n) {
      Index sizesA = openA, sizesB = openB;
      for (Index *sizes : {&sizesA, &sizesB})
        for (int64_t &size : *sizes)
          if (size == kUnknownSize)
            size = 1 + random.below(12);
      auto x = a.getBytes(sizesA), y = b.getBytes(sizesB);
      ASSERT_TRUE(llvm::none_of(x, [&](auto byte) { return y.count(byte); }));
    }
  });
  EXPECT_GT(apart, 20);
}

PlacedTensor strided(int64_t size, int64_t stride, int64_t base) {
  BoundedIndex offset = place({{BoundedIndex::dim(0), SizeExpr(stride)}});
  return {
      LayoutMap::get(1, "buffer", {{"offset", offset.value, offset.extent}}),
      {size},
      4,
      base};
}

TEST(OverlapTest, LargeTensorsAreProvenApartBySets) {
  int64_t size = int64_t(1) << 40;
  PlacedTensor even = strided(size, 2, 0), odd = strided(size, 2, 4),
               shifted = strided(size, 2, 2);
  EXPECT_EQ(findOverlap(even, odd, Owned::Elements)->answer,
            ProofResult::Disproved);
  EXPECT_EQ(findOverlap(even, odd, Owned::Storage)->answer,
            ProofResult::Proved);
  EXPECT_EQ(findOverlap(even, shifted, Owned::Elements)->answer,
            ProofResult::Proved);
  EXPECT_EQ(
      findOverlap(even, strided(size, 2, 8 * size), Owned::Storage)->answer,
      ProofResult::Disproved);
  // Bytes beyond 64 bits are unknown.
  EXPECT_EQ(findOverlap(strided(size, int64_t(1) << 22, 0), odd, Owned::Storage)
                ->answer,
            ProofResult::Unknown);
}

TEST(OverlapTest, OneMemoryAndWholeBytesAreRequired) {
  std::string why;
  auto keep = [&](const llvm::Twine &reason) { why = reason.str(); };
  PlacedTensor a = strided(4, 1, 0), b = a;
  BoundedIndex x = BoundedIndex::dim(0);
  b.map = LayoutMap::get(1, "mesh", {{"device", x.value, x.extent}});
  EXPECT_FALSE(findOverlap(a, b, Owned::Elements, keep));
  EXPECT_NE(why.find("are not in one memory"), std::string::npos);
  b = a;
  b.elementBytes = 0;
  EXPECT_FALSE(findOverlap(a, b, Owned::Elements, keep));
  b.elementBytes = 4;
  b.sizes = {0};
  EXPECT_EQ(findOverlap(a, b, Owned::Storage)->answer, ProofResult::Disproved);
}

//===----------------------------------------------------------------------===//
// Refinement
//===----------------------------------------------------------------------===//

TEST(RefinementTest, GroupsAreUnionsOfGroups) {
  int64_t yes = 0, no = 0;
  forRandom(20261125, 1200, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(3), 9);
    Expr a = random.below(3) ? random.nested(sizes.size())
                             : random.swizzled(sizes.size()),
         b = random.below(3) == 0 ? a : random.nested(sizes.size());
    int64_t m = 1 + random.below(8), n = m * (1 + random.below(3));
    if (random.below(3) == 0)
      n = 1 + random.below(16);
    LayoutMap x = buildMap(sizes.size(), a), y = buildMap(sizes.size(), b);
    trace = [=, first = x.str(), second = y.str()] {
      return first + " in " + std::to_string(m) + ", " + second + " in " +
             std::to_string(n) + " on " + testing::PrintToString(sizes);
    };
    std::map<int64_t, std::set<int64_t>> groups;
    forEachIndex(sizes, [&](const Index &index) {
      groups[a.value(index, sizes) / m].insert(b.value(index, sizes) / n);
    });
    bool expected = llvm::all_of(
        groups, [](auto &group) { return group.second.size() == 1; });
    auto answer = refines(x, m, y, n, sizes);
    ASSERT_TRUE(answer);
    ASSERT_EQ(*answer, expected ? ProofResult::Proved : ProofResult::Disproved);
    ++(expected ? yes : no);
    // For unknown sizes, a positive answer must hold for these.
    Index dynamic = forget(sizes, random, 2);
    auto ofAll = refines(x, m, y, n, dynamic);
    ASSERT_TRUE(ofAll);
    if (*ofAll == ProofResult::Proved) {
      ASSERT_TRUE(expected) << testing::PrintToString(dynamic);
    }
  });
  EXPECT_GT(yes, 200);
  EXPECT_GT(no, 200);
}

LayoutMap blocked(int64_t block) {
  BoundedIndex n = BoundedIndex::dim(0), c = BoundedIndex::dim(1),
               h = BoundedIndex::dim(2), w = BoundedIndex::dim(3);
  BoundedIndex offset = group({n, floorDiv(c, block), h, w, mod(c, block)});
  return LayoutMap::get(4, "buffer", {{"offset", offset.value, offset.extent}});
}

TEST(RefinementTest, BlocksOfAnySizeOfPicture) {
  Index dynamic{kUnknownSize, 64, kUnknownSize, kUnknownSize};
  LayoutMap four = blocked(4), sixteen = blocked(16);
  EXPECT_EQ(refines(four, 4, sixteen, 16, dynamic), ProofResult::Proved);
  EXPECT_NE(refines(sixteen, 16, four, 4, dynamic), ProofResult::Proved);
  EXPECT_EQ(refines(sixteen, 4, four, 4, dynamic), ProofResult::Proved);
  Index large{64, 2048, 224, 224};
  EXPECT_EQ(refines(four, 4, sixteen, 16, large), ProofResult::Proved);
  EXPECT_EQ(refines(sixteen, 16, four, 4, large), ProofResult::Disproved);
}

TEST(RefinementTest, WhatHasNoGroupsIsRefused) {
  std::string why;
  auto keep = [&](const llvm::Twine &reason) { why = reason.str(); };
  EXPECT_FALSE(refines(blocked(4), 0, blocked(4), 4, {1, 1, 1, 1}, keep));
  EXPECT_NE(why.find("at least 1 position"), std::string::npos);
  EXPECT_FALSE(refines(blocked(4), 1, LayoutMap::rowMajor(1), 4, {1}, keep));
  EXPECT_NE(why.find("cannot refine one of rank"), std::string::npos);
  BoundedIndex both = group({BoundedIndex::dim(1), BoundedIndex::dim(0)});
  LayoutMap twice = LayoutMap::get(
      1, "buffer", {{"offset", both.value, SizeExpr(2) * SizeExpr::dim(0)}},
      {2});
  EXPECT_FALSE(refines(twice, 1, twice, 1, {4}, keep));
  EXPECT_NE(why.find("replicas"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Units and banks
//===----------------------------------------------------------------------===//

TEST(CoresTest, AddressesSplitAndJoin) {
  ChipParams params{4, 1024, 128};
  for (int64_t address = 0; address < 4096; ++address) {
    auto place = splitAddress(params, address);
    ASSERT_TRUE(place);
    ASSERT_TRUE(place->byte >= 0 && place->byte < 1024 && place->core < 4);
    ASSERT_EQ(place->core * 1024 + place->byte, address);
    ASSERT_EQ(joinAddress(params, *place), address);
  }
  EXPECT_FALSE(splitAddress(params, 4096));
  EXPECT_FALSE(splitAddress(params, -1));
  EXPECT_FALSE(joinAddress(params, {4, 0}));
  EXPECT_FALSE(joinAddress(params, {0, 1024}));
  EXPECT_FALSE(joinAddress(params, {-1, 0}));
  ChipParams huge{3, std::numeric_limits<int64_t>::max() / 3, 128};
  EXPECT_EQ(splitAddress(huge, 3 * huge.bytesPerNpu - 1)->core, 2);
  EXPECT_FALSE(splitAddress(huge, std::numeric_limits<int64_t>::max()));
}

TEST(CoresTest, ChannelsAreCountedWhereTheyLie) {
  std::mt19937 engine(20261126);
  auto below = [&](int n) { return int64_t(engine() % n); };
  for (int i = 0; i < 300; ++i) {
    ChipParams params{2 + below(7), 1 << 20, 16};
    NpuScatter scatter;
    bool isMatrix = below(3) == 0;
    scatter.mode = isMatrix ? NpuMode::Matrix : NpuMode::Aligned;
    scatter.start = below(params.npus);
    llvm::SmallVector<int64_t> sizes{1 + below(3), 1 + below(20)};
    scatter.width = isMatrix ? 1 + below(std::min<int>(sizes[1], 5)) : 0;
    if (!isMatrix)
      sizes.append({1 + below(3), 1 + below(3)});
    auto storage =
        getNpuStorage(scatter, params, 4, sizes,
                      [](const llvm::Twine &why) { FAIL() << why.str(); });
    ASSERT_TRUE(storage);
    std::vector<int64_t> expected(params.npus, 0);
    int64_t channels =
        isMatrix ? (sizes[1] + scatter.width - 1) / scatter.width : sizes[1];
    for (int64_t c = 0; c < channels; ++c)
      ++expected[(scatter.start + c) % params.npus];
    LayoutMap map = storage->getMap(sizes);
    auto counts = countChannels(map, sizes);
    ASSERT_TRUE(counts) << map.str();
    ASSERT_EQ(std::vector<int64_t>(counts->begin(), counts->end()), expected)
        << "case " << i << ": " << map.str();
  }
}

TEST(CoresTest, ChannelsOfNoUnitsAreRefused) {
  std::string why;
  auto keep = [&](const llvm::Twine &reason) { why = reason.str(); };
  EXPECT_FALSE(countChannels(blocked(4), {1, 8, 2, 2}, keep));
  EXPECT_NE(why.find("no coordinate 'npu'"), std::string::npos);
  BoundedIndex c = mod(BoundedIndex::dim(0), 4), x = BoundedIndex::dim(0);
  LayoutMap map = LayoutMap::get(
      1, "npu", {{"npu", c.value, c.extent}, {"offset", x.value, x.extent}});
  EXPECT_FALSE(countChannels(map, {kUnknownSize}, keep));
  EXPECT_NE(why.find("static sizes"), std::string::npos);
}

TEST(CoresTest, BanksServeOneWordAtATime) {
  int64_t conflicts = 0;
  forRandom(20261127, 400, [&](RandomMaps &random) {
    Scattered a = randomScattered(random);
    Banks banks{1 + random.below(8), 4 << random.below(3), 4};
    std::vector<llvm::SmallVector<int64_t>> lanes;
    // The words that some lane accesses, by core and bank.
    std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> words;
    int64_t cycles = 0;
    for (int64_t n = 1 + random.below(16); n > 0; --n) {
      Index index;
      for (int64_t size : a.tensor.sizes)
        index.push_back(random.below(size));
      lanes.emplace_back(index.begin(), index.end());
      int64_t begin = a.offset.value(index, a.sizes()) * a.tensor.elementBytes;
      for (int64_t byte = begin; byte < begin + a.tensor.elementBytes; ++byte) {
        auto &touched = words[{a.npu.value(index, a.sizes()),
                               byte / banks.stripeBytes % banks.count}];
        touched.insert(byte / banks.wordBytes);
        cycles = std::max<int64_t>(cycles, touched.size());
      }
    }
    trace = [&] { return describe(a.tensor); };
    auto use = getBankUse(a.tensor.map, a.tensor.sizes, lanes,
                          a.tensor.elementBytes, banks);
    ASSERT_TRUE(use);
    ASSERT_EQ(use->cycles, cycles);
    ASSERT_EQ(use->banks.size(), lanes.size());
    conflicts += cycles > 1;
  });
  EXPECT_GT(conflicts, 50);
}

TEST(CoresTest, BanksOfNoBytesAreRefused) {
  std::string why;
  auto keep = [&](const llvm::Twine &reason) { why = reason.str(); };
  LayoutMap map = LayoutMap::rowMajor(1);
  for (const Banks &banks :
       {Banks{0, 4, 4}, Banks{4, 0, 4}, Banks{4, 6, 4}, Banks{4, 4, 0}}) {
    why.clear();
    EXPECT_FALSE(getBankUse(map, {4}, {}, 4, banks, keep));
    EXPECT_NE(why.find("whole words"), std::string::npos);
  }
  EXPECT_EQ(getBankUse(map, {4}, {}, 4, Banks())->cycles, 0);
}

} // namespace
