//===- TritonTest.cpp - Linear layouts against arithmetic -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include <map>
#include <set>

using namespace layout_test;

namespace {

constexpr uint64_t kSeed = 20240704;

const char *const kNames[] = {"register", "lane", "warp", "block"};

/// Numeric bases, with the logical index of a storage point.
struct Bases {
  Index shape;
  std::vector<std::vector<Index>> bases; // by coordinate

  Index locate(const Index &point) const {
    Index index(shape.size(), 0);
    for (size_t c = 0; c < bases.size(); ++c)
      for (size_t b = 0; b < bases[c].size(); ++b)
        if (point[c] >> b & 1)
          for (size_t d = 0; d < shape.size(); ++d)
            index[d] ^= bases[c][b][d];
    return index;
  }
  Index extents() const {
    Index result;
    for (const std::vector<Index> &ofCoordinate : bases)
      result.push_back(int64_t(1) << ofCoordinate.size());
    return result;
  }
  std::string text() const {
    std::string result;
    auto list = [](const Index &numbers) {
      std::string text;
      for (int64_t number : numbers)
        text += (text.empty() ? "" : ",") + std::to_string(number);
      return "[" + text + "]";
    };
    for (size_t c = 0; c < bases.size(); ++c) {
      result += bases.size() == 1 ? "offset" : kNames[c];
      result += "=[";
      for (size_t b = 0; b < bases[c].size(); ++b)
        result += (b ? "," : "") + list(bases[c][b]);
      result += "] ";
    }
    return result + ": " + list(shape);
  }

  /// Draws a spanning set of bases: the unit vectors of the shape and `extra`
  /// random ones, mixed by sums, over `coordinates` coordinates.
  static Bases random(Random &random, int64_t extra, size_t coordinates) {
    Bases layout;
    std::vector<Index> all;
    for (int64_t rank = random.below(4), d = 0; d < rank; ++d) {
      layout.shape.push_back(int64_t(1) << random.below(4));
      for (int64_t i = 1; i < layout.shape.back(); i *= 2) {
        all.push_back(Index(rank, 0));
        all.back()[d] = i;
      }
    }
    for (; extra > 0; --extra) {
      all.push_back(Index(layout.shape.size(), 0));
      for (size_t d = 0; d < layout.shape.size(); ++d)
        if (random.below(2))
          all.back()[d] = random.below(layout.shape[d]);
    }
    random.shuffle(all);
    for (int64_t mixes = random.below(6); mixes > 0 && all.size() > 1;
         --mixes) {
      size_t to = random.below(all.size()), from = random.below(all.size());
      for (size_t d = 0; to != from && d < layout.shape.size(); ++d)
        all[to][d] ^= all[from][d];
    }
    layout.bases.resize(coordinates);
    for (const Index &basis : all)
      layout.bases[random.below(coordinates)].push_back(basis);
    return layout;
  }
};

TEST(TritonImport, TheExampleOfTheHeader) {
  const char *text = "register=[[0,1],[0,2]] lane=[[0,4],[1,0],[2,0]] "
                     "warp=[[0,0]] block=[] : [4,8]";
  LayoutMap map = *import(Notation::Triton, text, {4, 8}).value;
  EXPECT_EQ(map.getReplicas(), llvm::ArrayRef<int64_t>({2}));
  auto point = [](int64_t r, int64_t l, int64_t w, int64_t b) {
    return llvm::SmallVector<int64_t>{r, l, w, b};
  };
  EXPECT_EQ(map.forward({0, 7, 0}, {4, 8}), point(3, 1, 0, 0));
  EXPECT_EQ(map.forward({0, 7, 1}, {4, 8}), point(3, 1, 1, 0));
  EXPECT_EQ(map.forward({3, 0, 1}, {4, 8}), point(0, 6, 1, 0));
  EXPECT_EQ(write(Notation::Triton, map, {4, 8}).value, text);
}

TEST(TritonImport, EveryStoragePointHoldsTheSumOfItsBases) {
  Random random(kSeed);
  int replicated = 0;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    Bases bases = Bases::random(random, random.below(3),
                                random.below(4) ? std::size(kNames) : 1);
    // Linear memory with several positions per element cannot be converted to,
    // but is a valid linear layout.
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + bases.text());
    Result<LayoutMap> map = import(Notation::Triton, bases.text(), bases.shape);
    ASSERT_TRUE(map.value) << map.fault;
    auto extents = *map.value->storageExtent(bases.shape);
    ASSERT_EQ(Index(extents.begin(), extents.end()), bases.extents());
    std::map<Index, std::set<Index>> points;
    forEachIndex(bases.extents(), [&](const Index &point) {
      points[bases.locate(point)].insert(point);
    });
    auto replicas = map.value->getReplicas();
    replicated += !replicas.empty();
    forEachIndex(bases.shape, [&](const Index &index) {
      std::set<Index> stored;
      forEachIndex(
          Index(replicas.begin(), replicas.end()), [&](const Index &replica) {
            Index all = index;
            all.insert(all.end(), replica.begin(), replica.end());
            auto point = *map.value->forward(all, bases.shape);
            ASSERT_TRUE(
                stored.insert(Index(point.begin(), point.end())).second);
          });
      ASSERT_EQ(stored, points[index]) << testing::PrintToString(index);
    });
    ASSERT_EQ(proveInjective(*map.value, bases.shape).answer,
              ProofResult::Proved);
    ASSERT_EQ(write(Notation::Triton, *map.value, bases.shape).value,
              bases.text());
  }
  EXPECT_GT(replicated, 500);
}

TEST(TritonExport, BlockedAndSwizzledBuffersOfPowersOfTwo) {
  Index sizes{8, 16};
  for (const char *text :
       {"Sw<2,0,3> o 0 o (8,16):(16,1)", "((2,4),(4,4)):((16,32),(1,4))",
        "Sw<3,1,3> o 0 o (8,16):(1,8)"}) {
    LayoutMap map = *import(Notation::CuTe, text, sizes).value;
    Result<std::string> bases = write(Notation::Triton, map, sizes);
    ASSERT_TRUE(bases.value) << bases.fault;
    LayoutMap again = *import(Notation::Triton, *bases.value, sizes).value;
    forEachIndex(sizes, [&](const Index &index) {
      ASSERT_EQ(again.forward(index, sizes), map.forward(index, sizes));
    });
    EXPECT_EQ(write(Notation::CuTe, again, sizes).value,
              write(Notation::CuTe, map, sizes).value);
  }
}

} // namespace
