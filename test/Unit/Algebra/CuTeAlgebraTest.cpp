//===- CuTeAlgebraTest.cpp - CuTe's algebra, at every point ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function of the algebra against its definition. A layout is the list of
// its offsets by linear index, computed by plain arithmetic on extents and
// strides.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/CuTeAlgebra.h"
#include "RandomViews.h"
#include <set>

using namespace layout_test;
using namespace mlir::layout;

namespace {

/// The modes of one dim, fastest first.
struct Leaf {
  int64_t extent, stride;
};
using Leaves = std::vector<std::vector<Leaf>>; // of each dim

/// Returns the offset of each linear index: the first leaf of the first dim is
/// fastest.
Index getOffsets(const Leaves &leaves) {
  Index offsets{0};
  for (const std::vector<Leaf> &dim : leaves)
    for (const Leaf &leaf : dim) {
      Index more;
      for (int64_t i = 0; i < leaf.extent; ++i)
        for (int64_t offset : offsets)
          more.push_back(offset + i * leaf.stride);
      offsets = std::move(more);
    }
  return offsets;
}

IntegerLayout build(const Leaves &leaves) {
  llvm::SmallVector<std::pair<BoundedIndex, SizeExpr>> placed;
  IntegerLayout result;
  for (const std::vector<Leaf> &dim : leaves) {
    int64_t lo = 1;
    for (const Leaf &leaf : dim) {
      placed.push_back(
          {mod(floorDiv(BoundedIndex::dim(result.shape.size()), lo),
               leaf.extent),
           SizeExpr(leaf.stride)});
      lo *= leaf.extent;
    }
    result.shape.push_back(lo);
  }
  BoundedIndex offset = place(placed);
  result.map = LayoutMap::get(leaves.size(), "buffer",
                              {{"offset", offset.value, offset.extent}});
  return result;
}

/// Returns the offsets of a layout according to the library.
Index read(const IntegerLayout &layout) {
  Index offsets, shape(layout.shape.rbegin(), layout.shape.rend());
  forEachIndex(shape, [&](const Index &reversed) {
    Index index(reversed.rbegin(), reversed.rend());
    offsets.push_back((*layout.map.forward(index, layout.shape))[0]);
  });
  return offsets;
}

std::string describe(const Leaves &leaves) {
  std::string text;
  for (const std::vector<Leaf> &dim : leaves) {
    text += "(";
    for (const Leaf &leaf : dim)
      text +=
          " " + std::to_string(leaf.extent) + ":" + std::to_string(leaf.stride);
    text += " )";
  }
  return text;
}

/// Draws digits with strides in random order and some holes.
Leaves randomLeaves(RandomMaps &random, int64_t most = 3,
                    bool withHoles = true) {
  Leaves leaves(1 + random.below(most));
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t d = 0; d < leaves.size(); ++d)
    for (int64_t n = 1 + random.below(2); n > 0; --n) {
      places.push_back({d, leaves[d].size()});
      leaves[d].push_back({1 + random.below(4), 0});
    }
  Index order = shuffled(places.size(), random);
  int64_t stride = 1;
  for (int64_t at : order) {
    auto [d, k] = places[at];
    if (withHoles && random.below(4) == 0)
      stride *= 2;
    // Not a multiple of the lower strides, so that nothing can fill the hole.
    if (withHoles && random.below(8) == 0)
      stride += 1;
    leaves[d][k].stride = stride;
    stride *= leaves[d][k].extent;
  }
  return leaves;
}

bool isInjective(const Index &offsets) {
  return std::set<int64_t>(offsets.begin(), offsets.end()).size() ==
         offsets.size();
}

TEST(CuTeAlgebraTest, CoalescingKeepsTheFunction) {
  forRandom(31, 300, [&](RandomMaps &random) {
    Leaves leaves = randomLeaves(random);
    trace = [&] { return describe(leaves); };
    auto line = coalesce(build(leaves));
    ASSERT_TRUE(line);
    ASSERT_EQ(line->shape.size(), 1u);
    ASSERT_EQ(read(*line), getOffsets(leaves));
  });
}

TEST(CuTeAlgebraTest, CompositionIsOneAfterTheOther) {
  int64_t composed = 0;
  forRandom(32, 600, [&](RandomMaps &random) {
    Leaves outer = randomLeaves(random), inner = randomLeaves(random, 2);
    trace = [&] { return describe(outer) + " after " + describe(inner); };
    Index a = getOffsets(outer), b = getOffsets(inner), expected;
    bool isInside = llvm::all_of(
        b, [&](int64_t offset) { return offset < int64_t(a.size()); });
    auto result = composition(build(outer), build(inner));
    ASSERT_EQ(result.has_value(), isInside);
    if (!result)
      return;
    ++composed;
    for (int64_t offset : b)
      expected.push_back(a[offset]);
    ASSERT_EQ(read(*result), expected);
    ASSERT_EQ(result->shape, build(inner).shape);
  });
  EXPECT_GT(composed, 100);
}

/// Returns the increasing list whose sums with `offsets` cover 0 .. m - 1 once
/// each, for the least m >= `size`, or std::nullopt if two sums collide.
std::optional<Index> fill(const Index &offsets, int64_t size) {
  std::set<int64_t> ahead; // covered, beyond the first free one
  Index shifts;
  int64_t free = 0;
  while (free < size || !ahead.empty()) {
    for (int64_t offset : offsets)
      if (free + offset < free || !ahead.insert(free + offset).second)
        return std::nullopt;
    shifts.push_back(free);
    while (!ahead.empty() && *ahead.begin() == free) {
      ahead.erase(ahead.begin());
      ++free;
    }
    // Offsets without 0 never cover it.
    if (shifts.back() == free || shifts.size() > 4000)
      return std::nullopt;
  }
  return shifts;
}

TEST(CuTeAlgebraTest, ComplementsFillTheRest) {
  int64_t yes = 0, no = 0;
  forRandom(33, 600, [&](RandomMaps &random) {
    Leaves leaves = randomLeaves(random);
    int64_t size = 1 + random.below(200);
    trace = [&] { return describe(leaves) + " in " + std::to_string(size); };
    auto expected = fill(getOffsets(leaves), size);
    auto result = complement(build(leaves), size);
    ASSERT_EQ(result.has_value(), expected.has_value());
    ++(result ? yes : no);
    if (result) {
      ASSERT_EQ(read(*result), *expected);
    }
  });
  EXPECT_GT(yes, 200);
  EXPECT_GT(no, 50);
}

TEST(CuTeAlgebraTest, InversesUndo) {
  int64_t left = 0;
  forRandom(34, 600, [&](RandomMaps &random) {
    Leaves leaves = randomLeaves(random);
    trace = [&] { return describe(leaves); };
    Index offsets = getOffsets(leaves);
    ASSERT_TRUE(isInjective(offsets));
    IntegerLayout layout = build(leaves);
    auto back = leftInverse(layout);
    ASSERT_TRUE(back);
    ++left;
    Index indices = read(*back);
    for (size_t k = 0; k < offsets.size(); ++k)
      ASSERT_EQ(indices.at(offsets[k]), int64_t(k));

    std::map<int64_t, int64_t> indexOf;
    for (size_t k = 0; k < offsets.size(); ++k)
      indexOf[offsets[k]] = k;
    Index expected;
    for (auto [offset, index] : indexOf)
      if (offset == int64_t(expected.size()))
        expected.push_back(index);
    auto right = rightInverse(layout);
    ASSERT_TRUE(right);
    ASSERT_EQ(read(*right), expected);
  });
  EXPECT_GT(left, 300);
}

/// The left inverse is known to be wrong at offsets that the layout skips.
TEST(CuTeAlgebraTest, LeftInverseOfAStrideThatDividesNothing) {
  Leaves leaves{{{4, 1}}, {{2, 5}}};
  auto back = leftInverse(build(leaves));
  ASSERT_TRUE(back);
  Index indices = read(*back);
  EXPECT_EQ(indices.size(), 9u);
  indices.erase(indices.begin() + 4);
  EXPECT_EQ(indices, (Index{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(read(*rightInverse(build(leaves))), (Index{0, 1, 2, 3}));
  std::string why;
  EXPECT_FALSE(complement(build(leaves), 20, [&](const llvm::Twine &reason) {
    why = reason.str();
  }));
  EXPECT_NE(why.find("stride 5 is not a multiple of the 4 offsets"),
            std::string::npos);
}

TEST(CuTeAlgebraTest, SwizzlesAreFunctionsToo) {
  BoundedIndex i = BoundedIndex::dim(0), j = BoundedIndex::dim(1);
  BoundedIndex offset = group({i, xorOf({i, j}, 4)});
  IntegerLayout swizzled{
      LayoutMap::get(2, "buffer", {{"offset", offset.value, offset.extent}}),
      {4, 4}};
  Index expected, inverse(16);
  for (int64_t b = 0; b < 4; ++b)
    for (int64_t a = 0; a < 4; ++a) {
      inverse[4 * a + (a ^ b)] = expected.size();
      expected.push_back(4 * a + (a ^ b));
    }
  EXPECT_EQ(read(*coalesce(swizzled)), expected);
  EXPECT_EQ(read(*leftInverse(swizzled)), inverse);
  EXPECT_EQ(read(*rightInverse(swizzled)), inverse);
  EXPECT_EQ(read(*complement(swizzled, 40)), (Index{0, 16, 32}));
}

/// Not a list of modes: the last digit of 17 indices is partial.
TEST(CuTeAlgebraTest, NonDivisibleLayoutsHaveInverses) {
  BoundedIndex x = BoundedIndex::dim(0);
  BoundedIndex offset = group({mod(x, 4), floorDiv(x, 4)});
  IntegerLayout nonDivisible{
      LayoutMap::get(1, "buffer", {{"offset", offset.value, offset.extent}}),
      {17}};
  Index offsets, first;
  for (int64_t k = 0; k < 17; ++k)
    offsets.push_back(k % 4 * 5 + k / 4);
  Index back = read(*leftInverse(nonDivisible));
  for (int64_t k = 0; k < 17; ++k)
    EXPECT_EQ(back.at(offsets[k]), k);
  // Offsets 0 to 8 exist; 9 would be index 17.
  for (int64_t k = 0; k < 9; ++k)
    first.push_back(std::find(offsets.begin(), offsets.end(), k) -
                    offsets.begin());
  EXPECT_EQ(read(*rightInverse(nonDivisible)), first);
  EXPECT_FALSE(complement(nonDivisible, 20));
}

/// Draws a tile of a dim: leaves that divide its size.
Leaves randomTile(RandomMaps &random) {
  Leaves tile = randomLeaves(random, 1, /*withHoles=*/false);
  int64_t scale = 1 + random.below(2);
  for (Leaf &leaf : tile[0])
    leaf.stride *= scale;
  return tile;
}

TEST(CuTeAlgebraTest, DivisionSaysWhereEachTileLies) {
  int64_t divided = 0;
  forRandom(35, 300, [&](RandomMaps &random) {
    Leaves leaves = randomLeaves(random, 2);
    Index offsets = getOffsets(leaves);
    IntegerLayout layout = build(leaves);
    Leaves tile = randomTile(random);
    trace = [&] { return describe(leaves) + " by " + describe(tile); };
    Index inTile = getOffsets(tile);
    auto rest = fill(inTile, offsets.size());
    bool divides = rest && rest->size() * inTile.size() == offsets.size();
    auto result = logicalDivide(layout, build(tile));
    ASSERT_EQ(result.has_value(), divides);
    if (!divides)
      return;
    ++divided;
    Index expected;
    for (int64_t r : *rest)
      for (int64_t t : inTile)
        expected.push_back(offsets[t + r]);
    ASSERT_EQ(read(*result), expected);
    ASSERT_EQ(result->shape,
              (llvm::SmallVector<int64_t>{int64_t(inTile.size()),
                                          int64_t(rest->size())}));
  });
  EXPECT_GT(divided, 30);
}

TEST(CuTeAlgebraTest, FormsOfDivisionGroupTheSameDims) {
  int64_t divided = 0;
  forRandom(36, 600, [&](RandomMaps &random) {
    Leaves leaves = randomLeaves(random, 2);
    Index offsets = getOffsets(leaves);
    IntegerLayout layout = build(leaves);
    std::vector<IntegerLayout> tiles;
    std::vector<Index> inTile, rest;
    for (int64_t size : layout.shape) {
      Leaves tile = randomTile(random);
      tiles.push_back(build(tile));
      inTile.push_back(getOffsets(tile));
      auto others = fill(inTile.back(), size);
      if (!others || int64_t(others->size() * inTile.back().size()) != size) {
        EXPECT_FALSE(divide(layout, tiles, DivideForm::Flat));
        return;
      }
      rest.push_back(*others);
    }
    ++divided;
    trace = [&] { return describe(leaves); };
    size_t rank = tiles.size();
    Index parts; // T0, T1, .., R0, R1, ..
    for (const Index &list : inTile)
      parts.push_back(list.size());
    for (const Index &list : rest)
      parts.push_back(list.size());
    auto check = [&](DivideForm form, std::vector<Index> groups) {
      auto result = divide(layout, tiles, form);
      ASSERT_TRUE(result);
      Index order, shape, found = read(*result);
      for (const Index &group : groups) {
        shape.push_back(1);
        for (int64_t part : group) {
          order.push_back(part);
          shape.back() *= parts[part];
        }
      }
      ASSERT_EQ(Index(result->shape.begin(), result->shape.end()), shape);
      for (int64_t n = 0; n < int64_t(found.size()); ++n) {
        Index at(2 * rank);
        int64_t left = n;
        for (int64_t part : order) {
          at[part] = left % parts[part];
          left /= parts[part];
        }
        int64_t index = 0, below = 1;
        for (size_t d = 0; d < rank; ++d) {
          index += below * (inTile[d][at[d]] + rest[d][at[rank + d]]);
          below *= layout.shape[d];
        }
        ASSERT_EQ(found[n], offsets[index]) << "form " << int(form);
      }
    };
    if (rank == 1) {
      check(DivideForm::Flat, {{0}, {1}});
      check(DivideForm::Logical, {{0, 1}});
      check(DivideForm::Zipped, {{0}, {1}});
      check(DivideForm::Tiled, {{0}, {1}});
    } else {
      check(DivideForm::Flat, {{0}, {1}, {2}, {3}});
      check(DivideForm::Logical, {{0, 2}, {1, 3}});
      check(DivideForm::Zipped, {{0, 1}, {2, 3}});
      check(DivideForm::Tiled, {{0, 1}, {2}, {3}});
    }
  });
  EXPECT_GT(divided, 40);
}

TEST(CuTeAlgebraTest, ProductsRepeatTheFirst) {
  int64_t products = 0;
  forRandom(37, 300, [&](RandomMaps &random) {
    Leaves first = randomLeaves(random, 2), second = randomLeaves(random, 1);
    trace = [&] { return describe(first) + " times " + describe(second); };
    Index a = getOffsets(first), b = getOffsets(second);
    int64_t cosize = *std::max_element(b.begin(), b.end()) + 1;
    auto rest = fill(a, a.size() * cosize);
    auto result = logicalProduct(build(first), build(second));
    ASSERT_EQ(result.has_value(), rest && cosize <= int64_t(rest->size()));
    if (!result)
      return;
    ++products;
    Index expected;
    for (int64_t j : b)
      for (int64_t offset : a)
        expected.push_back(offset + (*rest)[j]);
    ASSERT_EQ(read(*result), expected);
  });
  EXPECT_GT(products, 100);
}

TEST(CuTeAlgebraTest, WhatIsNoFunctionOfAnIntegerIsRefused) {
  std::string why;
  auto keep = [&](const llvm::Twine &reason) { why = reason.str(); };
  LayoutMap map = LayoutMap::rowMajor(2);
  EXPECT_FALSE(coalesce({map, {4, kUnknownSize}}, keep));
  EXPECT_NE(why.find("sizes must be static"), std::string::npos);
  EXPECT_FALSE(coalesce({map, {4, 0}}, keep));
  EXPECT_FALSE(coalesce({map, {4}}, keep));
  EXPECT_NE(why.find("rank"), std::string::npos);
  EXPECT_FALSE(coalesce({map, {int64_t(1) << 40, int64_t(1) << 40}}, keep));
  EXPECT_NE(why.find("64 bits"), std::string::npos);
  EXPECT_FALSE(complement({map, {4, 4}}, 0, keep));
  EXPECT_FALSE(divide({map, {4, 4}}, {}, DivideForm::Flat, keep));
  EXPECT_NE(why.find("one for each dim"), std::string::npos);
  // A stride of 0 does not distinguish indices.
  EXPECT_FALSE(leftInverse(build({{{2, 1}, {2, 0}}}), keep));
  EXPECT_NE(why.find("no inverse"), std::string::npos);
  BoundedIndex x = BoundedIndex::dim(0);
  IntegerLayout mesh{
      LayoutMap::get(1, "mesh",
                     {{"x", x.value, x.extent}, {"y", x.value, x.extent}}),
      {4}};
  EXPECT_FALSE(coalesce(mesh, keep));
  EXPECT_NE(why.find("one coordinate"), std::string::npos);
  // Close to the limit of 64 bits: correct, or refused.
  int64_t big = int64_t(1) << 61;
  IntegerLayout far = build({{{2, big}}});
  EXPECT_EQ(read(*coalesce(far)), (Index{0, big}));
  EXPECT_FALSE(complement(build({{{8, big}}}), 4, keep));
}

} // namespace
