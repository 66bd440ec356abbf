//===- StepsTest.cpp - Strides, segments and alignments -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries on random maps against their definitions, applied to every index of
// the box; expressions are evaluated as written (RandomMaps.h).
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Steps.h"
#include "RandomViews.h"
#include "layout/Algebra/LogicalShape.h"
#include <set>

using namespace layout_test;
using namespace mlir::layout;

namespace {

/// A map with one coordinate per expression.
struct Point {
  std::vector<Expr> exprs;
  LayoutMap map;

  static Point get(unsigned rank, std::vector<Expr> exprs) {
    std::vector<Coordinate> coordinates;
    for (const Expr &expr : exprs) {
      BoundedIndex sized = expr.build();
      coordinates.push_back({"c" + std::to_string(coordinates.size()),
                             sized.value, sized.extent});
    }
    LayoutMap map = LayoutMap::get(rank, "space", std::move(coordinates));
    return {std::move(exprs), std::move(map)};
  }
  Index at(const Index &index, const Index &sizes) const {
    Index point;
    for (const Expr &expr : exprs)
      point.push_back(expr.value(index, sizes));
    return point;
  }
};

Point randomPoint(unsigned rank, RandomMaps &random) {
  std::vector<Expr> exprs;
  for (int64_t c = 1 + random.below(2); c > 0; --c) {
    int64_t kind = random.below(4);
    exprs.push_back(kind < 2   ? random.nested(rank)
                    : kind < 3 ? random.swizzled(rank)
                               : random.any(rank, 3));
  }
  return Point::get(rank, std::move(exprs));
}

/// Returns the changes of a coordinate at each position along a dim.
using Changes = std::map<int64_t, std::set<int64_t>>;
Changes getChanges(const Point &point, unsigned c, unsigned dim,
                   const Index &sizes) {
  Changes changes;
  forEachIndex(sizes, [&](const Index &index) {
    if (index[dim] == 0)
      return;
    Index before = index;
    --before[dim];
    changes[index[dim]].insert(point.at(index, sizes)[c] -
                               point.at(before, sizes)[c]);
  });
  return changes;
}

/// Returns the greatest block length, or 0 if the segment never ends.
int64_t getBreaks(const Point &point, unsigned along, unsigned dim,
                  const Index &sizes) {
  int64_t every = 0;
  for (unsigned c = 0; c < point.exprs.size(); ++c)
    for (auto &[position, by] : getChanges(point, c, dim, sizes))
      if (by != std::set<int64_t>{c == along})
        every = std::gcd(every, position);
  return every;
}

int64_t alignmentOf(const Point &point, unsigned c, const Index &blocks,
                    const Index &sizes) {
  int64_t result = 0;
  forEachIndex(sizes, [&](const Index &index) {
    for (size_t d = 0; d < index.size(); ++d)
      if (index[d] % blocks[d] != 0)
        return;
    result = std::gcd(result, point.at(index, sizes)[c]);
  });
  return result;
}

TEST(StepsTest, StridesAreTheOnlyChangeAlongADim) {
  int64_t strides = 0, none = 0;
  forRandom(20261122, 600, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(3), 9);
    Point point = randomPoint(sizes.size(), random);
    trace = [&, text = point.map.str()] {
      return text + " on " + testing::PrintToString(sizes);
    };
    for (unsigned c = 0; c < point.exprs.size(); ++c)
      for (unsigned d = 0; d < sizes.size(); ++d) {
        std::set<int64_t> all;
        for (auto &[position, by] : getChanges(point, c, d, sizes))
          all.insert(by.begin(), by.end());
        auto steps = getSteps(point.map, c, d, sizes);
        ASSERT_TRUE(steps);
        ASSERT_EQ(steps->size(), all.size());
        auto stride = getStride(*steps);
        ASSERT_EQ(stride.has_value(), all.size() < 2) << "dim " << d;
        if (stride) {
          ASSERT_EQ(stride->getConstant(), all.empty() ? 0 : *all.begin());
        }
        ++(stride ? strides : none);
      }
  });
  EXPECT_GT(strides, 500);
  EXPECT_GT(none, 200);
}

TEST(StepsTest, RunsEndAtMultiplesOfTheirLength) {
  int64_t whole = 0, blocks = 0;
  forRandom(7, 1000, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(3), 12);
    Point point = randomPoint(sizes.size(), random);
    trace = [&, text = point.map.str()] {
      return text + " on " + testing::PrintToString(sizes);
    };
    unsigned along = random.below(point.exprs.size());
    for (unsigned d = 0; d < sizes.size(); ++d) {
      int64_t every = getBreaks(point, along, d, sizes);
      auto run = getRun(point.map, along, d, sizes);
      ASSERT_TRUE(run);
      ASSERT_EQ(run->isWhole, every == 0) << "dim " << d;
      ASSERT_EQ(run->length, every == 0 ? sizes[d] : every) << "dim " << d;
      whole += every == 0 && sizes[d] > 1;
      blocks += every > 1;
    }
  });
  EXPECT_GT(whole, 100);
  EXPECT_GT(blocks, 50);
}

TEST(StepsTest, RowMajorRunsAreThoseOfOneDim) {
  forRandom(8, 400, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(3), 7);
    Point point = randomPoint(sizes.size(), random);
    trace = [&, text = point.map.str()] {
      return text + " on " + testing::PrintToString(sizes);
    };
    unsigned along = random.below(point.exprs.size());
    int64_t every = 0, count = product(sizes);
    for (int64_t n = 1; n < count; ++n) {
      Index last = point.at(split(n - 1, sizes), sizes);
      ++last[along];
      if (point.at(split(n, sizes), sizes) != last)
        every = std::gcd(every, n);
    }
    auto run = getRowMajorRun(point.map, along, sizes);
    ASSERT_TRUE(run);
    ASSERT_EQ(run->length, every == 0 ? count : every);
  });
}

TEST(StepsTest, AlignmentsAndWidthsAreTheGreatestThatHold) {
  int64_t wide = 0;
  forRandom(9, 500, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(3), 12);
    Point point = randomPoint(sizes.size(), random);
    trace = [&, text = point.map.str()] {
      return text + " on " + testing::PrintToString(sizes);
    };
    unsigned c = random.below(point.exprs.size());
    Index blocks(sizes.size());
    for (int64_t &block : blocks)
      block = 1 + random.below(6);
    auto alignment = getAlignment(point.map, c, blocks, sizes);
    ASSERT_TRUE(alignment);
    ASSERT_EQ(*alignment, alignmentOf(point, c, blocks, sizes))
        << testing::PrintToString(blocks);

    unsigned d = random.below(sizes.size());
    int64_t most = 1 + random.below(20), expected = 1,
            every = getBreaks(point, c, d, sizes);
    for (int64_t width = 2; width <= most && width < 2 * sizes[d]; width *= 2) {
      Index starts(sizes.size(), 1);
      starts[d] = width;
      if ((every == 0 || every % width == 0) &&
          alignmentOf(point, c, starts, sizes) % width == 0)
        expected = width;
    }
    auto width = getVectorWidth(point.map, c, d, sizes, most);
    ASSERT_TRUE(width);
    ASSERT_EQ(*width, expected) << "dim " << d << ", most " << most;
    wide += expected > 1;
  });
  EXPECT_GT(wide, 20);
}

/// An answer for unknown sizes must hold for all sizes.
TEST(StepsTest, AnswersForUnknownSizesHoldOfAllSizes) {
  int64_t known = 0;
  forRandom(10, 500, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(3), 8);
    Point point = randomPoint(sizes.size(), random);
    Index dynamic = forget(sizes, random, 2);
    unsigned c = random.below(point.exprs.size()),
             d = random.below(sizes.size());
    trace = [&, text = point.map.str()] {
      return text + " on " + testing::PrintToString(dynamic) + ", dim " +
             std::to_string(d);
    };
    auto steps = getSteps(point.map, c, d, dynamic);
    auto run = getRun(point.map, c, d, dynamic);
    Index blocks(sizes.size(), 1);
    blocks[d] = 1 + random.below(4);
    auto alignment = getAlignment(point.map, c, blocks, dynamic);
    known += steps && run && alignment;
    for (int n = 0; n < 4; ++n) {
      Index some = sizes;
      for (size_t i = 0; i < some.size(); ++i)
        if (dynamic[i] == kUnknownSize)
          some[i] = 1 + random.below(20);
      std::optional<SizeExpr> stride;
      if (steps)
        stride = getStride(*steps);
      for (auto &[position, by] : getChanges(point, c, d, some))
        for (int64_t change : by) {
          if (stride) {
            ASSERT_EQ(stride->evaluate(some), change);
          }
          ASSERT_TRUE(!steps || llvm::any_of(*steps, [&, at = position](
                                                         const Step &step) {
            return step.by.evaluate(some) == change && at % step.every == 0;
          }));
        }
      if (run) {
        int64_t every = getBreaks(point, c, d, some);
        ASSERT_TRUE(run->isWhole ? every == 0 : every % run->length == 0)
            << testing::PrintToString(some);
      }
      if (alignment) {
        int64_t exact = alignmentOf(point, c, blocks, some);
        ASSERT_TRUE(*alignment == 0 ? exact == 0 : exact % *alignment == 0)
            << testing::PrintToString(some);
      }
    }
  });
  EXPECT_GT(known, 200);
}

LayoutMap blocked16() {
  BoundedIndex n = BoundedIndex::dim(0), c = BoundedIndex::dim(1),
               h = BoundedIndex::dim(2), w = BoundedIndex::dim(3);
  BoundedIndex offset = group({n, floorDiv(c, 16), h, w, mod(c, 16)});
  return LayoutMap::get(4, "buffer", {{"offset", offset.value, offset.extent}});
}

TEST(StepsTest, UnknownSizesOfABlockedLayout) {
  Index dynamic(4, kUnknownSize);
  LayoutMap map = blocked16();
  auto run = getRun(map, 0, 1, dynamic);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->length, 16);
  EXPECT_FALSE(run->isWhole);
  EXPECT_EQ(getVectorWidth(map, 0, 1, dynamic, 64), 16);
  EXPECT_EQ(getAlignment(map, 0, {1, 16, 1, 1}, dynamic), 16);
  EXPECT_EQ(getAlignment(map, 0, {1, 8, 1, 1}, dynamic), 8);
  EXPECT_EQ(getAlignment(map, 0, {1, 3, 1, 1}, {1, 64, 7, 7}), 1);
  auto stride = getStride(*getSteps(map, 0, 2, dynamic));
  ASSERT_TRUE(stride);
  EXPECT_EQ(*stride, SizeExpr(16) * SizeExpr::dim(3));
}

TEST(StepsTest, SizesNearTheEndOf64Bits) {
  LayoutMap map = LayoutMap::rowMajor(2);
  int64_t big = int64_t(1) << 61;
  EXPECT_EQ(getStride(*getSteps(map, 0, 0, {2, big}))->getConstant(), big);
  EXPECT_EQ(getRun(map, 0, 1, {2, big})->length, big);
  EXPECT_EQ(getRowMajorRun(map, 0, {2, big})->length, 2 * big);
  EXPECT_FALSE(getRowMajorRun(map, 0, {4, big}));
  EXPECT_EQ(getVectorWidth(map, 0, 1, {2, big}, 1 << 10), 1 << 10);
}

//===----------------------------------------------------------------------===//
// Stored dims and back
//===----------------------------------------------------------------------===//

TEST(LogicalShapeTest, IsTheGreatestWithThatStoredShape) {
  int64_t found = 0;
  forRandom(11, 300, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(2), 20);
    Expr expr = random.nested(sizes.size());
    llvm::SmallVector<BoundedIndex> dims;
    Index stored;
    for (const Expr &arg : expr.args) {
      dims.push_back(arg.build());
      stored.push_back(arg.extent(sizes));
    }
    trace = [&, text = buildMap(sizes.size(), expr).str()] {
      return text + " stored as " + testing::PrintToString(stored);
    };
    auto isStoredSo = [&](const Index &shape) {
      for (size_t k = 0; k < stored.size(); ++k)
        if (expr.args[k].extent(shape) != stored[k])
          return false;
      return true;
    };
    Index dynamic(sizes.size(), kUnknownSize);
    auto shape = getLogicalShape(dims, stored, dynamic);
    if (!shape)
      return;
    ++found;
    Index greatest(shape->begin(), shape->end());
    ASSERT_TRUE(isStoredSo(greatest)) << testing::PrintToString(greatest);
    for (size_t d = 0; d < sizes.size(); ++d) {
      ASSERT_GE(greatest[d], sizes[d]);
      Index more = greatest;
      ++more[d];
      ASSERT_FALSE(isStoredSo(more)) << testing::PrintToString(more);
    }
  });
  EXPECT_GT(found, 150);
}

TEST(LogicalShapeTest, RefusesWhatTheStoredShapeDoesNotTell) {
  BoundedIndex h = BoundedIndex::dim(0), w = BoundedIndex::dim(1);
  std::string why;
  auto keep = [&](const llvm::Twine &reason) { why = reason.str(); };
  Index dynamic(2, kUnknownSize);
  EXPECT_FALSE(getLogicalShape({group({h, w})}, {12}, dynamic, keep));
  EXPECT_NE(why.find("does not determine the size of dim 0"),
            std::string::npos);
  auto shape = getLogicalShape({group({h, w})}, {12}, {kUnknownSize, 3});
  ASSERT_TRUE(shape);
  EXPECT_EQ((*shape)[0], 4);
  EXPECT_FALSE(getLogicalShape({group({h, w})}, {13}, {kUnknownSize, 3}, keep));
  EXPECT_NE(why.find("no logical shape is stored with 13"), std::string::npos);
  EXPECT_FALSE(getLogicalShape({h, w}, {1}, dynamic, keep));
}

TEST(LogicalShapeTest, StoredIndicesComeBack) {
  forRandom(12, 150, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(3), 6);
    Expr expr = random.nested(sizes.size());
    llvm::SmallVector<BoundedIndex> dims;
    Index extents;
    for (const Expr &arg : expr.args) {
      dims.push_back(arg.build());
      extents.push_back(arg.extent(sizes));
    }
    LayoutMap map = buildMap(sizes.size(), expr);
    trace = [&, text = map.str()] {
      return text + " on " + testing::PrintToString(sizes);
    };
    LayoutMap stored = getMapOfStoredDims(map, dims);
    std::map<Index, Index> logical;
    forEachIndex(sizes, [&](const Index &index) {
      Index at;
      for (const Expr &arg : expr.args)
        at.push_back(arg.value(index, sizes));
      logical[at] = index;
    });
    if (product(extents) > 2000)
      return;
    forEachIndex(extents, [&](const Index &at) {
      auto index = stored.backward(at, sizes);
      auto expected = logical.find(at);
      ASSERT_EQ(index.has_value(), expected != logical.end());
      if (index) {
        ASSERT_EQ(Index(index->begin(), index->end()), expected->second);
      }
    });
  });
}

} // namespace
