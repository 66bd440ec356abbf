//===- PropertyTest.cpp - Laws of layout maps on random maps --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomMaps.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <map>
#include <numeric>

using namespace layout_test;
using namespace mlir::layout;

namespace {

constexpr uint64_t kSeed = 20240613;

/// Runs `check` on many random maps and reports the one that failed.
template <typename Check>
void forRandomMaps(uint64_t seed, int count, bool nested, Check check) {
  RandomMaps random(seed);
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    unsigned rank = 1 + random.below(3);
    Expr expr = nested ? random.nested(rank) : random.any(rank, 4);
    Index sizes = random.sizes(rank, 7);
    LayoutMap map = buildMap(rank, expr);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", map " + std::to_string(i) +
                 ": " + map.str() + " on " + testing::PrintToString(sizes));
    check(expr, map, sizes, random);
  }
}

TEST(LayoutMapProperty, CanonicalFormKeepsTheMapAndItsExtent) {
  for (bool nested : {true, false})
    forRandomMaps(kSeed + nested, 8000, nested,
                  [](const Expr &expr, const LayoutMap &map, const Index &sizes,
                     RandomMaps &) {
                    ASSERT_EQ((*map.storageExtent(sizes))[0],
                              expr.extent(sizes));
                    LayoutMap special = map.specialize(sizes);
                    forEachIndex(sizes, [&](const Index &index) {
                      int64_t expected = expr.value(index, sizes);
                      ASSERT_EQ((*map.forward(index, sizes))[0], expected);
                      ASSERT_EQ((*special.forward(index, sizes))[0], expected);
                    });
                  });
}

TEST(LayoutMapProperty, CanonicalFormIsIdempotent) {
  forRandomMaps(
      kSeed + 2, 20000, false,
      [](const Expr &, const LayoutMap &map, const Index &sizes, RandomMaps &) {
        Index unknown(sizes.size(), kUnknownSize);
        ASSERT_TRUE(map.specialize(unknown) == map)
            << map.specialize(unknown).str();
        LayoutMap special = map.specialize(sizes);
        ASSERT_TRUE(special.specialize(sizes) == special)
            << special.specialize(sizes).str();
      });
}

/// Digits that do not nest stay digits of digits. The floor is applied first,
/// however the digit is built.
TEST(LayoutMapProperty, TheFloorOfADigitOfADigitStandsInside) {
  IndexExpr mod6 = takeDigit(IndexExpr::dim(0), 1, 6);
  IndexExpr atOnce = takeDigit(mod6, 2, 2);
  IndexExpr oneByOne = takeDigit(takeDigit(mod6, 2, 0), 1, 2);
  EXPECT_EQ(atOnce, oneByOne);
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(*atOnce.evaluate({i}, {12}), i % 6 / 2 % 2);
}

TEST(LayoutMapProperty, NestedMapsThatAgreeOnAllShapesAreEqual) {
  // Few small maps, so that many pairs agree.
  RandomMaps random(kSeed + 3);
  std::map<std::vector<int64_t>, LayoutMap> byTable;
  std::vector<Index> shapes;
  for (int i = 0; i < 24; ++i)
    shapes.push_back({1 + random.below(40), 1 + random.below(40)});
  shapes.push_back({1000, 1001});
  int agreeing = 0;
  for (int i = 0; i < 8000; ++i) {
    Expr expr = random.nested(2);
    std::vector<int64_t> table;
    for (int64_t size = 1; size < 100; ++size) {
      table.push_back(expr.extent({size, 7}));
      table.push_back(expr.extent({5, size}));
    }
    for (const Index &sizes : shapes) {
      table.push_back(expr.extent(sizes));
      for (int64_t a = 0; a < sizes[0]; a += 1 + sizes[0] / 30)
        for (int64_t b = 0; b < sizes[1]; b += 1 + sizes[1] / 30)
          table.push_back(expr.value({a, b}, sizes));
    }
    LayoutMap map = buildMap(2, expr);
    auto [it, isNew] = byTable.try_emplace(table, map);
    if (isNew)
      continue;
    ++agreeing;
    ASSERT_TRUE(it->second == map) << "seed " << kSeed + 3 << ": "
                                   << it->second.str() << " and " << map.str();
    ASSERT_EQ(hash_value(it->second), hash_value(map));
  }
  EXPECT_GT(agreeing, 500);
}

TEST(LayoutMapProperty, ProofsOfInjectivityAreTrue) {
  int proven = 0, total = 0;
  for (bool nested : {true, false})
    forRandomMaps(kSeed + 4 + nested, 6000, nested,
                  [&](const Expr &expr, const LayoutMap &map,
                      const Index &sizes, RandomMaps &) {
                    std::map<int64_t, Index> seen;
                    bool injective = true;
                    forEachIndex(sizes, [&](const Index &index) {
                      injective &=
                          seen.emplace(expr.value(index, sizes), index).second;
                    });
                    bool byConstruction =
                        isInjectiveByConstruction(map.specialize(sizes), sizes);
                    ASSERT_TRUE(injective || !byConstruction);
                    PairProof proof = proveInjective(map, sizes);
                    ASSERT_EQ(proof.answer, injective ? ProofResult::Proved
                                                      : ProofResult::Disproved);
                    if (!injective) {
                      ASSERT_NE(proof.first, proof.second);
                      ASSERT_EQ(map.forward(proof.first, sizes),
                                map.forward(proof.second, sizes));
                    }
                    // A proof without sizes must hold for these sizes.
                    Index unknown(sizes.size(), kUnknownSize);
                    if (isInjectiveByConstruction(map, unknown)) {
                      ASSERT_TRUE(injective);
                    }
                    if (nested) {
                      ++total;
                      proven += byConstruction;
                    }
                  });
  // All nested layouts are injective, and the proof by construction finds all
  // of them.
  EXPECT_EQ(proven, total);
}

TEST(LayoutMapProperty, BackwardInvertsForwardAndKnowsPadding) {
  forRandomMaps(kSeed + 6, 200, true,
                [](const Expr &expr, const LayoutMap &map, const Index &sizes,
                   RandomMaps &) {
                  std::map<int64_t, Index> image;
                  forEachIndex(sizes, [&](const Index &index) {
                    image[expr.value(index, sizes)] = index;
                  });
                  int64_t extent = expr.extent(sizes);
                  for (int64_t x = -1; x <= extent; ++x) {
                    auto index = map.backward({x}, sizes);
                    auto it = image.find(x);
                    ASSERT_EQ(index.has_value(), it != image.end()) << x;
                    if (index) {
                      ASSERT_EQ(Index(index->begin(), index->end()),
                                it->second);
                    }
                  }
                  ProofResult padded = hasPadding(map, sizes);
                  ASSERT_EQ(padded, int64_t(image.size()) == extent
                                        ? ProofResult::Disproved
                                        : ProofResult::Proved);
                });
}

TEST(LayoutMapProperty, StoredAxesAreTheCoordinateInRowMajorOrder) {
  for (bool nested : {true, false})
    forRandomMaps(kSeed + 7 + nested, 10000, nested,
                  [](const Expr &expr, const LayoutMap &map, const Index &sizes,
                     RandomMaps &) {
                    forEachIndex(sizes, [&](const Index &index) {
                      int64_t offset = 0, size = 1;
                      for (const StoredAxis &axis : map.getStoredAxes()) {
                        int64_t extent = *axis.extent.evaluate(sizes);
                        int64_t value = *axis.value.evaluate(index, sizes);
                        ASSERT_LE(0, value);
                        ASSERT_LT(value, extent);
                        offset = offset * extent + value;
                        size *= extent;
                      }
                      ASSERT_EQ(offset, expr.value(index, sizes));
                      ASSERT_EQ(size, expr.extent(sizes));
                    });
                  });
}

TEST(LayoutMapProperty, AffineMapsAgreeWithNumbers) {
  mlir::MLIRContext context;
  forRandomMaps(
      kSeed + 9, 4000, true,
      [&](const Expr &expr, const LayoutMap &map, const Index &sizes,
          RandomMaps &random) {
        Index known = sizes, symbols;
        for (int64_t &size : known)
          if (random.below(2)) {
            symbols.push_back(size);
            size = kUnknownSize;
          }
        mlir::AffineMap forward = getForwardMap(map, known, &context);
        mlir::AffineMap axes = getAxesMap(map, known, &context);
        mlir::AffineMap backward = getBackwardMap(map, known, &context);
        forEachIndex(sizes, [&](const Index &index) {
          auto fold = [&](mlir::AffineMap affine, const Index &dims,
                          const Index &extra) {
            llvm::SmallVector<mlir::Attribute> operands, results;
            mlir::Builder builder(&context);
            for (const Index &part : {dims, extra})
              for (int64_t x : part)
                operands.push_back(builder.getIndexAttr(x));
            Index numbers;
            if (mlir::failed(affine.constantFold(operands, results)))
              return numbers;
            for (mlir::Attribute result : results)
              numbers.push_back(mlir::cast<mlir::IntegerAttr>(result).getInt());
            return numbers;
          };
          ASSERT_EQ(fold(forward, index, symbols),
                    Index{expr.value(index, sizes)});
          if (backward) {
            ASSERT_EQ(fold(backward, fold(axes, index, symbols), {}), index);
          }
        });
      });
}

TEST(LayoutMapProperty, UnpackInvertsPack) {
  forRandomMaps(
      kSeed + 10, 4000, true,
      [](const Expr &expr, const LayoutMap &map, const Index &sizes,
         RandomMaps &) {
        int64_t points = std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                                         std::multiplies<int64_t>());
        std::vector<int16_t> logical(points), back(points);
        std::iota(logical.begin(), logical.end(), int16_t(1));
        std::vector<int16_t> storage(*getStorageSize(map, sizes), 0);
        auto bytes = [](std::vector<int16_t> &data) {
          return llvm::MutableArrayRef<char>(
              reinterpret_cast<char *>(data.data()),
              data.size() * sizeof(int16_t));
        };
        ASSERT_TRUE(pack(map, sizes, 2, bytes(logical), bytes(storage)));
        int64_t position = 0;
        forEachIndex(sizes, [&](const Index &index) {
          ASSERT_EQ(storage[expr.value(index, sizes)], logical[position++]);
        });
        ASSERT_TRUE(unpack(map, sizes, 2, bytes(storage), bytes(back)));
        ASSERT_EQ(logical, back);
        ASSERT_FALSE(pack(map, sizes, 4, bytes(logical), bytes(storage)));
      });
}

TEST(LayoutMapProperty, EqualityOnAShapeIsTheTruth) {
  RandomMaps random(kSeed + 11);
  int equal = 0;
  for (int i = 0; i < 10000; ++i) {
    unsigned rank = 1 + random.below(3);
    Index sizes = random.sizes(rank, 4);
    Expr a = random.nested(rank), b = random.nested(rank);
    bool same = a.extent(sizes) == b.extent(sizes);
    forEachIndex(sizes, [&](const Index &index) {
      same &= a.value(index, sizes) == b.value(index, sizes);
    });
    LayoutMap x = buildMap(rank, a), y = buildMap(rank, b);
    ASSERT_EQ(equalOn(x, y, sizes),
              same ? ProofResult::Proved : ProofResult::Disproved)
        << "seed " << kSeed + 11 << ": " << x.str() << " and " << y.str()
        << " on " << testing::PrintToString(sizes);
    equal += same;
  }
  EXPECT_GT(equal, 250);
}

} // namespace
