//===- ViewExamplesTest.cpp - Views by example, and refusals --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomViews.h"
#include "layout/Algebra/Families/Blocked.h"
#include <map>

using namespace layout_test;
using namespace mlir::layout;

namespace {

/// Returns the reason of a refusal.
template <typename Fn> std::string whyNot(Fn fn) {
  std::string reason;
  auto result = fn(FailureReason(reason));
  EXPECT_EQ(result.has_value(), reason.empty());
  return reason;
}

LayoutMap blocked(llvm::StringRef from, llvm::StringRef to) {
  return parseBlocked(from, to,
                      [](bool, size_t, const llvm::Twine &why) {
                        ADD_FAILURE() << why.str();
                      })
      ->getMap();
}

TEST(Views, ViewsKeepReplicas) {
  // Rows of 8, stored 3 times with a distance of 48.
  BoundedIndex i = BoundedIndex::dim(0), j = BoundedIndex::dim(1),
               r{IndexExpr::dim(2), SizeExpr(3)};
  BoundedIndex offset = group({r, i, j});
  LayoutMap map = LayoutMap::get(
      2, "buffer", {{"offset", offset.value, offset.extent}}, {3});
  Index sizes{6, 8};
  auto at = [](const LayoutMap &view, const Index &index, const Index &sizes) {
    return (*view.forward(index, sizes))[0];
  };
  auto swapped = transpose(map, {1, 0});
  ASSERT_TRUE(swapped);
  EXPECT_EQ(at(*swapped, {5, 2, 1}, {8, 6}), 48 + 2 * 8 + 5);
  auto row = slice(map, sizes, {2, 0}, {1, kWholeDim}, {1, 1}, {0});
  ASSERT_TRUE(row);
  EXPECT_EQ(at(*row, {5, 2}, {8}), 96 + 16 + 5);
  Groups groups{{0, 1}, {2, 3}};
  auto expanded = expandShape(map, groups, {3, 2, kUnknownSize, 4});
  ASSERT_TRUE(expanded);
  EXPECT_EQ(at(*expanded, {2, 1, 1, 3, 2}, {3, 2, 2, 4}), 96 + 5 * 8 + 7);
  EXPECT_TRUE(*collapseShape(*expanded, groups, {3, 2, kUnknownSize, 4}) ==
              map.specialize({kUnknownSize, kUnknownSize}));
  // The replicas of both composed maps stay separate.
  BoundedIndex x{IndexExpr::dim(0), SizeExpr::dim(0)},
      s{IndexExpr::dim(1), SizeExpr(2)};
  BoundedIndex twice = group({s, x});
  LayoutMap second =
      LayoutMap::get(1, "buffer", {{"offset", twice.value, twice.extent}}, {2});
  auto both = compose(second, map);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->getReplicas().size(), 2u);
  std::map<int64_t, int> seen;
  forEachIndex({6, 8, 2, 3}, [&](const Index &index) {
    Index swappedReplicas{index[0], index[1], index[3], index[2]};
    const Index &inOrder =
        both->getReplicas()[0] == 2 ? index : swappedReplicas;
    ++seen[at(*both, inOrder, sizes)];
  });
  EXPECT_EQ(seen.size(), size_t(6 * 8 * 2 * 3));
  EXPECT_EQ((*both->storageExtent(sizes))[0], 6 * 8 * 2 * 3);
}

//===----------------------------------------------------------------------===//
// Worked examples
//===----------------------------------------------------------------------===//

TEST(Views, ChannelsOfATiledTensor) {
  LayoutMap map = blocked("NCHW", "NCHW16c");
  auto view = slice(map, {1, 64, 7, 7}, {0, 16, 0, 0},
                    {kWholeDim, 16, kWholeDim, kWholeDim}, {1, 1, 1, 1});
  ASSERT_TRUE(view);
  EXPECT_EQ((*view->forward({0, 3, 6, 5}, {1, 16, 7, 7}))[0],
            784 + 6 * 112 + 5 * 16 + 3);
  EXPECT_EQ((*view->storageExtent({1, 16, 7, 7}))[0], 3136);
}

TEST(Views, DynamicDimsThatStorageFusesCollapse) {
  int64_t any = kUnknownSize;
  auto collapsed = [&](const LayoutMap &map, const Groups &groups,
                       const Index &sizes) {
    auto view = collapseShape(map, groups, sizes);
    return view ? view->str() : std::string("no");
  };
  LayoutMap plain = LayoutMap::rowMajor(4);
  // All dims, batch and rows, rows and columns: all sizes are dynamic.
  EXPECT_EQ(collapsed(plain, {{0, 1, 2, 3}}, {any, any, any, any}),
            LayoutMap::rowMajor(1).str());
  EXPECT_EQ(collapsed(plain, {{0, 1}, {2, 3}}, {any, any, any, any}),
            LayoutMap::rowMajor(2).str());
  // Heads: a static dim outside of a dynamic one, and inside.
  EXPECT_EQ(collapsed(plain, {{0}, {1}, {2, 3}}, {any, any, 4, any}),
            LayoutMap::rowMajor(3).str());
  EXPECT_EQ(collapsed(plain, {{0}, {1, 2, 3}}, {any, 3, any, 4}),
            LayoutMap::rowMajor(2).str());
  // Channels in tiles: pixels fuse with pixels, but not with channels.
  LayoutMap tiled = blocked("NCHW", "NCHW16c");
  EXPECT_EQ(collapsed(tiled, {{0}, {1}, {2, 3}}, {any, any, any, any}),
            blocked("NCW", "NCW16c").str());
  EXPECT_EQ(collapsed(tiled, {{0}, {1, 2}, {3}}, {any, any, any, any}), "no");
  EXPECT_EQ(collapsed(blocked("NCHW", "NHWC"), {{0}, {1, 2}, {3}},
                      {any, any, any, any}),
            "no");
  // Dims of size 1 do not matter.
  EXPECT_EQ(collapsed(blocked("NCHW", "NHWC"), {{0}, {1, 2}, {3}},
                      {any, any, 1, any}),
            blocked("NCW", "NWC").str());
}

TEST(Views, InverseOfABlockedLayoutIsTheBlockedLayoutBack) {
  for (auto [from, to, box] :
       {std::make_tuple(
            "NCHW", "NCHW16c",
            Index{kUnknownSize, kUnknownSize, kUnknownSize, kUnknownSize, 16}),
        std::make_tuple("OIHW", "OIHW4i16o4i",
                        Index{kUnknownSize, kUnknownSize, kUnknownSize,
                              kUnknownSize, 4, 16, 4}),
        std::make_tuple(
            "NCHW", "NHWC",
            Index{kUnknownSize, kUnknownSize, kUnknownSize, kUnknownSize})}) {
    LayoutMap map = blocked(from, to);
    auto back = inverse(map);
    ASSERT_TRUE(back) << to;
    EXPECT_TRUE(back->specialize(box) == blocked(to, from).specialize(box))
        << back->str() << " and " << blocked(to, from).str();
  }
}

TEST(Views, EqualPartsCanLieOneAfterTheOther) {
  // Three row-major 2x4 tensors along dim 1 are not a row-major 2x12 tensor.
  ConcatPart part{LayoutMap::rowMajor(2), {2, 4}};
  auto result = concat({part, part, part}, 1);
  ASSERT_TRUE(result);
  for (int64_t p = 0; p < 3; ++p) {
    EXPECT_EQ(*result->shifts[p][0].getConstant(), 8 * p);
    EXPECT_EQ((*result->whole.forward({1, 4 * p + 3}, {2, 12}))[0], 8 * p + 7);
  }
  // Along dim 0 they are, for any size of dim 1.
  part.sizes[1] = kUnknownSize;
  result = concat({part, part, part}, 0);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->whole == LayoutMap::rowMajor(2));
  EXPECT_TRUE(result->shifts[2][0] == SizeExpr(4) * SizeExpr::dim(1));
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(Views, NoLayoutBroadcastsWithoutReplicas) {
  // A map that reads a 2-element row-major tensor twice is not injective.
  LayoutMap map = LayoutMap::rowMajor(1);
  EXPECT_EQ(
      whyNot([&](FailureReason e) { return broadcast(map, 1, 2, e); }),
      "a dim of size 2 cannot repeat the same elements: a layout is injective "
      "(L1), so the storage must hold a replica for each index; convert the "
      "tensor to a layout that replicates over the dim, or "
      "copy it");
  for (int64_t size : {0, 1})
    EXPECT_TRUE(broadcast(map, 1, size)) << size;
  EXPECT_NE(whyNot([&](FailureReason e) {
              return broadcast(map, 0, kUnknownSize, e);
            }).find("a dim of dynamic size"),
            std::string::npos);
  auto three = replicateOver(LayoutMap::rowMajor(2), 0, {3, 5});
  EXPECT_TRUE(broadcast(*three, 0, 3));
  EXPECT_FALSE(broadcast(*three, 0, 2));
}

/// Returns true if a layout of the fused dims can put every element where `map`
/// does, with the same storage extent, on all `shapes`: the positions must
/// depend only on the fused index and size.
bool dependsOnFusionAlone(const LayoutMap &map,
                          const std::vector<Index> &shapes) {
  std::map<int64_t, int64_t> extents;
  std::map<std::pair<int64_t, int64_t>, int64_t> offsets;
  bool depends = true;
  for (const Index &sizes : shapes) {
    int64_t size = product(sizes), extent = (*map.storageExtent(sizes))[0];
    depends &= extents.emplace(size, extent).first->second == extent;
    forEachIndex(sizes, [&](const Index &index) {
      int64_t offset = (*map.forward(index, sizes))[0];
      auto key = std::make_pair(size, fuse(index, sizes));
      depends &= offsets.emplace(key, offset).first->second == offset;
    });
  }
  return depends;
}

TEST(Views, NoCollapseOfDynamicDimsMeansThatNoneExists) {
  // All small nested layouts of two dims of unknown sizes.
  std::vector<Index> shapes;
  for (int64_t a = 1; a <= 12; ++a)
    for (int64_t b = 1; b <= 12; ++b)
      shapes.push_back({a, b});
  int exists = 0, total = 0;
  forRandom(kSeed + 10, 1500, [&](RandomMaps &random) {
    Expr expr = random.nested(2);
    // Half of them are layouts of the fused index.
    if (random.below(2)) {
      Expr one = random.nested(1);
      LayoutMap fused = buildMap(1, one);
      Groups groups{{0, 1}};
      auto map = expandShape(fused, groups, {kUnknownSize, kUnknownSize});
      ASSERT_TRUE(map);
      auto view = collapseShape(*map, groups, {kUnknownSize, kUnknownSize});
      ASSERT_TRUE(view) << fused.str();
      ASSERT_TRUE(*view == fused) << fused.str() << " is now " << view->str();
      return;
    }
    LayoutMap map = buildMap(2, expr);
    trace = [=] { return map.str(); };
    Groups groups{{0, 1}};
    auto view = collapseShape(map, groups, {kUnknownSize, kUnknownSize});
    ++total;
    exists += view.has_value();
    ASSERT_EQ(view.has_value(), dependsOnFusionAlone(map, shapes));
  });
  EXPECT_GT(exists, 0);
  EXPECT_LT(exists, total);
}

/// Expects that `fn` is refused for a reason that contains `part`.
template <typename Fn> void expectNo(llvm::StringRef part, Fn fn) {
  std::string reason = whyNot(fn);
  EXPECT_NE(reason.find(part.str()), std::string::npos)
      << "'" << reason << "' does not say '" << part.str() << "'";
}

using E = FailureReason;
constexpr int64_t any = kUnknownSize, huge = int64_t(1) << 62;

TEST(Views, BadPermutationsAreRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  LayoutMap none;
  expectNo("no layout is given", [&](E e) { return transpose(none, {}, e); });
  expectNo("3 dims for a layout of rank 2",
           [&](E e) { return transpose(map, {0, 1, 2}, e); });
  expectNo("entry 0 of the permutation is repeated",
           [&](E e) { return transpose(map, {0, 0}, e); });
  expectNo("entry -1 of the permutation is not a dim",
           [&](E e) { return transpose(map, {-1, 0}, e); });
}

TEST(Views, BadSlicesAreRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  auto cut = [&](E e, int64_t full, int64_t offset, int64_t size,
                 int64_t stride) {
    return slice(map, {4, full}, {0, offset}, {4, size}, {1, stride}, {}, e);
  };
  expectNo("3 sizes for a layout of rank 2", [&](E e) {
    return slice(map, {4, 4}, {0, 0}, {1, 1, 1}, {1, 1}, {}, e);
  });
  expectNo("starts at 8, outside of the tensor, whose size is 8 there",
           [&](E e) { return cut(e, 8, 8, 1, 1); });
  expectNo("starts at -1", [&](E e) { return cut(e, 8, -1, 1, 1); });
  expectNo("takes 3 indices from 4 on with stride 2, some outside",
           [&](E e) { return cut(e, 8, 4, 3, 2); });
  expectNo("takes 4 indices from 2 on with stride -1, some outside",
           [&](E e) { return cut(e, 8, 2, 4, -1); });
  expectNo("some outside", [&](E e) { return cut(e, 8, 0, huge, 2); });
  expectNo("some outside", [&](E e) { return cut(e, 8, 0, 3, INT64_MIN); });
  expectNo("has stride 0", [&](E e) { return cut(e, 8, 0, 2, 0); });
  expectNo("has the negative size -2",
           [&](E e) { return cut(e, 8, 0, -2, 1); });
  expectNo("is taken whole: its offset must be 0",
           [&](E e) { return cut(e, 8, 1, kWholeDim, 1); });
  expectNo("has the negative full size -3",
           [&](E e) { return cut(e, -3, 0, 1, 1); });
  expectNo("cuts dim 1, whose size is dynamic",
           [&](E e) { return cut(e, any, 0, 4, 1); });
  // Two unknown sizes are not equal.
  for (int64_t stride : {1, 3})
    expectNo("cuts dim 1, whose size is dynamic",
             [&](E e) { return cut(e, any, 0, any, stride); });
  expectNo("do not fit 64 bits", [&](E e) {
    return slice(map, {huge, huge}, {0, 0}, {2, 2}, {1, 1}, {}, e);
  });
  expectNo("cannot drop dim 0 of the slice", [&](E e) {
    return slice(map, {4, 4}, {0, 0}, {2, 1}, {1, 1}, {0}, e);
  });
  expectNo("cannot drop dim 5", [&](E e) {
    return slice(map, {4, 4}, {0, 0}, {2, 1}, {1, 1}, {5}, e);
  });
}

TEST(Views, BadExpansionsAreRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  auto expand = [&](E e, const Groups &groups, const Index &sizes) {
    return expandShape(map, groups, sizes, e);
  };
  expectNo("1 groups for a layout of rank 2",
           [&](E e) { return expand(e, {{0, 1}}, {2, 2}); });
  expectNo("a group is empty", [&](E e) { return expand(e, {{0}, {}}, {2}); });
  expectNo("dim 2 is in the place of dim 1",
           [&](E e) { return expand(e, {{0}, {2}}, {2, 2, 2}); });
  expectNo("groups of 2 dims for 3 sizes",
           [&](E e) { return expand(e, {{0}, {1}}, {2, 2, 2}); });
  expectNo("dim 1 has the negative size -7",
           [&](E e) { return expand(e, {{0}, {1}}, {2, -7}); });
  expectNo("do not fit 64 bits", [&](E e) {
    return expand(e, {{0}, {1, 2, 3}}, {2, huge, huge, huge});
  });
  expectNo("without groups all sizes are 1", [&](E e) {
    return expandShape(LayoutMap::rowMajor(0), {}, {2}, e);
  });
}

TEST(Views, BadCollapsesAreRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  auto collapse = [&](E e, const Groups &groups, const Index &sizes) {
    return collapseShape(map, groups, sizes, e);
  };
  expectNo("3 sizes for a layout of rank 2",
           [&](E e) { return collapse(e, {{0, 1}}, {2, 2, 2}); });
  expectNo("groups of 1 dims for 2 sizes",
           [&](E e) { return collapse(e, {{0}}, {2, 2}); });
  expectNo("do not fit 64 bits", [&](E e) {
    return collapseShape(LayoutMap::rowMajor(3), Groups{{0, 1, 2}},
                         {2, huge, huge}, e);
  });
  expectNo("do not fit 64 bits", [&](E e) {
    return collapseShape(LayoutMap::rowMajor(4), Groups{{0, 1, 2, 3}},
                         {2, huge, huge, any}, e);
  });
  expectNo("a dynamic size",
           [&](E e) { return getCollapseView(Groups{{0, 1}}, {2, any}, e); });
}

TEST(Views, BadReplicasAreRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  expectNo("position 3 of rank 2",
           [&](E e) { return broadcast(map, 3, 1, e); });
  expectNo("no dim 2", [&](E e) { return replicateOver(map, 2, {2, 2}, e); });
  expectNo("has no static size",
           [&](E e) { return replicateOver(map, 0, {any, 2}, e); });
  expectNo("is empty", [&](E e) { return replicateOver(map, 0, {0, 2}, e); });
  expectNo("1 sizes", [&](E e) { return replicateOver(map, 0, {2}, e); });
}

TEST(Views, BadConcatenationsAreRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  ConcatPart part{map, {2, 3}};
  auto join = [&](E e, std::vector<ConcatPart> parts, int64_t axis) {
    return concat(parts, axis, e);
  };
  expectNo("at least one part", [&](E e) { return join(e, {}, 0); });
  expectNo("no dim 2", [&](E e) { return join(e, {part}, 2); });
  expectNo("part 0 differ in the size of dim 1",
           [&](E e) { return join(e, {part, {map, {2, 4}}}, 0); });
  expectNo("the same rank, space", [&](E e) {
    return join(e, {part, {LayoutMap::rowMajor(1), {2}}}, 0);
  });
  expectNo("dynamic size along dim 0",
           [&](E e) { return join(e, {part, {map, {any, 3}}}, 0); });
  expectNo("does not fit 64 bits", [&](E e) {
    return join(e, {{map, {huge, 3}}, {map, {huge, 3}}}, 0);
  });
  // Contiguous rows of 3 and of 4 elements.
  expectNo("no layout of the whole keeps every part",
           [&](E e) { return join(e, {{map, {2, 3}}, {map, {2, 4}}}, 1); });
}

TEST(Views, BadCompositionsAndInversesAreRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  expectNo("a layout of rank 2 cannot follow one with 0 stored dims and 1 "
           "coordinates",
           [&](E e) { return compose(map, map, {}, e); });
  // i floordiv 2 alone maps two indices to one position.
  BoundedIndex half = floorDiv(BoundedIndex::dim(0), 2);
  LayoutMap lossy =
      LayoutMap::get(1, "buffer", {{"offset", half.value, half.extent}});
  expectNo("not a formula of its stored dims",
           [&](E e) { return inverse(lossy, {}, {}, e); });
  // The positions below an index of unknown stride are not counted.
  BoundedIndex reversed = place({{BoundedIndex::dim(0), SizeExpr(-1)},
                                 {BoundedIndex::constant(0), SizeExpr(1)}});
  reversed = place({{reversed, SizeExpr(1)},
                    {BoundedIndex::constant(SizeExpr::dim(0)), SizeExpr(1)}});
  LayoutMap downwards = LayoutMap::get(
      1, "buffer", {{"offset", reversed.value, reversed.extent}});
  expectNo("no inverse layout",
           [&](E e) { return inverse(downwards, {}, {}, e); });
  expectNo("2 sizes", [&](E e) { return inverse(lossy, {}, {2, 2}, e); });
  expectNo("without elements",
           [&](E e) { return inverse(map, {}, {0, 2}, e); });
  expectNo("several positions", [&](E e) {
    return inverse(*replicateOver(map, 0, {2, 2}), {}, {}, e);
  });
}

TEST(Views, EmptyTensorsHaveViews) {
  LayoutMap map = blocked("NCHW", "NCHW16c");
  auto none = slice(map, {1, 32, 7, 7}, {0, 32, 0, 0},
                    {kWholeDim, 0, kWholeDim, kWholeDim}, {1, 1, 1, 1});
  ASSERT_TRUE(none);
  EXPECT_EQ((*none->storageExtent({1, 0, 7, 7}))[0], 1568);
  Groups groups{{0, 1}, {2}, {3}};
  auto view = collapseShape(map, groups, {2, 0, 7, 7});
  ASSERT_TRUE(view);
  EXPECT_EQ((*view->storageExtent({0, 7, 7}))[0], 0);
  EXPECT_TRUE(expandShape(*view, groups, {2, 0, 7, 7}));
  EXPECT_TRUE(expandShape(*view, groups, {0, kUnknownSize, 7, 7}));
}

} // namespace
