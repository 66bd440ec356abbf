//===- XlaTest.cpp - Tiled layouts against arithmetic ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace layout_test;

namespace {

constexpr uint64_t kSeed = 20240701;

/// A numeric tiled layout: the sequence of (index, bound) pairs that the tiles
/// rewrite, and the row-major position in the last one.
struct Tiles {
  std::vector<int64_t> majorToMinor;
  std::vector<std::vector<int64_t>> tiles; // -1 fuses

  std::pair<int64_t, int64_t> locate(const Index &index,
                                     const Index &sizes) const {
    std::vector<std::pair<int64_t, int64_t>> sequence;
    for (int64_t d : majorToMinor)
      sequence.push_back({index[d], sizes[d]});
    for (const std::vector<int64_t> &tile : tiles) {
      while (sequence.size() < tile.size())
        sequence.insert(sequence.begin(), {0, 1});
      size_t begin = sequence.size() - tile.size();
      std::vector<std::pair<int64_t, int64_t>> outer(sequence.begin(),
                                                     sequence.begin() + begin),
          inner;
      int64_t i = 0, bound = 1;
      for (size_t t = 0; t < tile.size(); ++t) {
        i = i * sequence[begin + t].second + sequence[begin + t].first;
        bound *= sequence[begin + t].second;
        if (tile[t] < 0)
          continue;
        outer.push_back({i / tile[t], (bound + tile[t] - 1) / tile[t]});
        inner.push_back({i % tile[t], tile[t]});
        i = 0;
        bound = 1;
      }
      outer.insert(outer.end(), inner.begin(), inner.end());
      sequence = outer;
    }
    int64_t offset = 0, extent = 1;
    for (auto [i, bound] : sequence) {
      offset = offset * bound + i;
      extent *= bound;
    }
    return {offset, extent};
  }

  std::string text() const {
    std::string result = "{";
    for (size_t i = majorToMinor.size(); i-- > 0;)
      result += std::to_string(majorToMinor[i]) + (i ? "," : "");
    result += tiles.empty() ? "" : ":T";
    for (const std::vector<int64_t> &tile : tiles) {
      result += '(';
      for (size_t i = 0; i < tile.size(); ++i)
        result += (i ? "," : "") +
                  (tile[i] < 0 ? std::string("*") : std::to_string(tile[i]));
      result += ')';
    }
    return result + '}';
  }

  static Tiles random(Random &random, unsigned rank) {
    Tiles layout;
    for (unsigned d = 0; d < rank; ++d)
      layout.majorToMinor.push_back(d);
    random.shuffle(layout.majorToMinor);
    int64_t length = rank; // of the sequence
    for (int64_t n = random.below(4); n > 0; --n) {
      std::vector<int64_t> tile;
      for (int64_t t = 1 + random.below(length + 1); t > 0; --t)
        tile.push_back(t > 1 && random.below(5) == 0 ? -1
                                                     : 1 + random.below(5));
      int64_t kept = 0;
      for (int64_t factor : tile)
        kept += factor > 0;
      length = std::max<int64_t>(length - int64_t(tile.size()), 0) + 2 * kept;
      layout.tiles.push_back(tile);
    }
    return layout;
  }
};

TEST(XlaImport, TheExampleOfTheSpecification) {
  LayoutMap map = *import(Notation::Xla, "{1,0:T(2,2)}", {3, 5}).value;
  EXPECT_EQ((*map.forward({2, 3}, {3, 5}))[0], 17);
  EXPECT_EQ((*map.storageExtent({3, 5}))[0], 24);
}

TEST(XlaImport, EveryPointOfRandomTilesIsWhereArithmeticPutsIt) {
  Random random(kSeed);
  int written = 0, fused = 0;
  for (int i = 0; i < 4000 && !testing::Test::HasFailure(); ++i) {
    unsigned rank = random.below(5);
    Tiles tiles = Tiles::random(random, rank);
    Index sizes(rank), known;
    for (int64_t &size : sizes)
      size = 1 + random.below(6);
    for (int64_t size : sizes)
      known.push_back(random.below(2) ? kUnknownSize : size);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + tiles.text() +
                 " on " + testing::PrintToString(sizes));
    LayoutMap map = *import(Notation::Xla, tiles.text(), known).value;
    LayoutMap special = map.specialize(sizes);
    forEachIndex(sizes, [&](const Index &index) {
      auto [offset, extent] = tiles.locate(index, sizes);
      ASSERT_EQ((*map.forward(index, sizes))[0], offset);
      ASSERT_EQ((*special.forward(index, sizes))[0], offset);
      ASSERT_EQ((*map.storageExtent(sizes))[0], extent);
    });
    // Tiles only move elements: the layout is injective, and export finds
    // tiles.
    ASSERT_EQ(proveInjective(map, sizes).answer, ProofResult::Proved);
    Result<std::string> text = write(Notation::Xla, map, sizes);
    if (!text.value) {
      EXPECT_THAT(
          text.fault,
          testing::AnyOf(testing::HasSubstr("neither of one dim nor"),
                         testing::HasSubstr("two values that are stored")));
      continue;
    }
    ++written;
    fused += llvm::StringRef(*text.value).contains('*');
    LayoutMap again = *import(Notation::Xla, *text.value, sizes).value;
    ASSERT_EQ(equalOn(map, again, sizes), ProofResult::Proved) << *text.value;
    ASSERT_EQ(write(Notation::Xla, again, sizes).value, text.value);
  }
  // Without tiles that do not divide each other, nearly all are exported.
  EXPECT_GT(written, 3000);
  EXPECT_GT(fused, 50);
}

} // namespace
