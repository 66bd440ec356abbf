//===- NameTest.cpp - Names describe layout maps --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interop/Name.h"
#include "Support.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace layout_test;

namespace {

constexpr uint64_t kSeed = 20261123;

LayoutMap importTag(const std::string &tag, size_t rank) {
  return *import(Notation::OneDnn, tag, Index(rank, kUnknownSize)).value;
}

TEST(Name, LinearMemoryHasItsTag) {
  struct Row {
    const char *tag;
    size_t rank;
    const char *name;
  };
  for (Row row : {Row{"a", 1, "a"},
                  {"ba", 2, "ba"},
                  {"aBc16b", 3, "abc16b"},
                  {"abcd", 4, "nchw"},
                  {"acdb", 4, "nhwc"},
                  {"aBcd16b", 4, "nchw16c"},
                  {"ABcd16b16a", 4, "oihw16i16o"},
                  {"ABcd4b16a4b", 4, "oihw4i16o4i"},
                  {"Abcd16a", 4, "oihw16o"},
                  // Tensors of other dims may have this layout.
                  {"aDbc16d", 4, "adbc16d"},
                  {"ABcD16a16b4d", 4, "abcd16a16b4d"},
                  {"aBcde16b", 5, "abcde16b"}})
    EXPECT_EQ(makeName(importTag(row.tag, row.rank)), row.name) << row.tag;
}

TEST(Name, LinearMemoryOfOneShapeHasNone) {
  EXPECT_EQ(makeName(*import(Notation::CuTe, "(3,5):(1,3)", {3, 5}).value), "");
}

TEST(Name, AnImageHasItsKindInEveryOrder) {
  // A map that several kinds have, each in its order, has the name of the
  // first.
  std::vector<std::pair<LayoutMap, std::string>> named;
  for (llvm::StringRef kindName : getRgbaImageNames()) {
    RgbaImageKind kind = *getRgbaImageKind(kindName);
    size_t rank = getLetters(kind).size();
    std::vector<unsigned> order(rank);
    std::iota(order.begin(), order.end(), 0);
    Index unknown(rank, kUnknownSize);
    do {
      // Kinds that require a size have no map for an unknown one.
      auto image = getRgbaImage(kind, order, unknown, nullptr);
      if (!image)
        continue;
      named.emplace_back(image->getMap(rank), makeName(kind));
      auto first = llvm::find_if(named, [&](const auto &entry) {
        return entry.first == named.back().first;
      });
      EXPECT_EQ(makeName(first->first), first->second);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(Name, OfATagMeansTheSameTag) {
  std::mt19937_64 random(kSeed);
  auto below = [&](uint64_t n) { return random() % n; };
  for (int round = 0; round < 2000; ++round) {
    size_t rank = 1 + below(5);
    std::string order = std::string("abcde").substr(0, rank), blocks;
    if (below(2))
      std::shuffle(order.begin(), order.end(), random);
    for (size_t count = below(4); count > 0; --count)
      blocks += std::to_string(2 + below(15)) + char('a' + below(rank));
    auto withCase = [](const std::string &name) {
      std::string tag = name;
      size_t end = std::min(name.find_first_of("0123456789"), name.size());
      for (size_t i = 0; i < end; ++i)
        if (name.find(name[i], end) != std::string::npos)
          tag[i] = llvm::toUpper(tag[i]);
      return tag;
    };
    LayoutMap map = importTag(withCase(order + blocks), rank);
    std::string name = makeName(map);
    EXPECT_TRUE(importTag(withCase(name), rank) == map)
        << "seed " << kSeed << ": " << order << blocks << " is named " << name;
  }
}

} // namespace
