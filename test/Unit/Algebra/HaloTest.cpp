//===- HaloTest.cpp - Blocks of a mesh with halos -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Meshes with halos against counted ranges: the devices that hold each index,
// and its position there.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Families/Mesh.h"
#include "layout/Algebra/Proof.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <map>
#include <set>

using namespace mlir::layout;

namespace {

using Point = std::vector<int64_t>;

/// Returns the points of each index of one dim over x, the position first.
std::map<int64_t, std::set<Point>> hold(int64_t size, int64_t parts,
                                        Halo halo) {
  int64_t block = std::max<int64_t>((size + parts - 1) / parts, 1);
  std::map<int64_t, std::set<Point>> points;
  for (int64_t x = 0; x < parts; ++x) {
    int64_t first = block * x - halo.before;
    for (int64_t at = 0; at < halo.before + block + halo.after; ++at)
      if (first + at >= 0 && first + at < size)
        points[first + at].insert({x, at});
  }
  return points;
}

Mesh makeMesh(std::vector<MeshAxis> axes,
              std::vector<std::vector<unsigned>> splits,
              std::vector<Halo> halos) {
  Mesh mesh;
  mesh.axes = std::move(axes);
  mesh.splits = std::move(splits);
  mesh.setHalos(std::move(halos));
  return mesh;
}

LayoutMap getMap(const Mesh &mesh, Sizes sizes) {
  std::string why;
  auto local = mesh.getLocalShape(sizes, why);
  EXPECT_TRUE(local) << why;
  return mesh.getMap(LayoutMap::rowMajor(sizes.size()), sizes, *local);
}

TEST(Halo, AnIndexIsWhereTheRangesSay) {
  for (int64_t size : {1, 2, 5, 9, 11})
    for (int64_t parts = 1; parts < 6; ++parts)
      for (int64_t before = 0; before < 13; before += 1 + before)
        for (int64_t after = 0; after < 13; after += 1 + after) {
          Halo halo{before, after};
          LayoutMap map =
              getMap(makeMesh({{"x", parts}}, {{0}}, {halo}), {size});
          auto evaluator = Evaluator::ofCoordinates(map, {size});
          ASSERT_TRUE(evaluator) << map.str();
          std::map<int64_t, std::set<Point>> found;
          llvm::SmallVector<int64_t> box = map.getBox({size});
          for (int64_t i = 0; i < size; ++i)
            for (int64_t r = 0; r < (box.size() > 1 ? box[1] : 1); ++r) {
              int64_t index[] = {i, r};
              Point point(2);
              evaluator->evaluate(index, point.data());
              found[i].insert(point);
            }
          auto expected = hold(size, parts, halo);
          ASSERT_EQ(found, expected) << map.str() << " of " << size;
          ASSERT_EQ(proveInjective(map, {size}).answer, ProofResult::Proved);
          ASSERT_EQ(isWithinExtents(map, {size}), ProofResult::Proved)
              << map.str();
          int64_t count = 0;
          for (const auto &[i, points] : expected) {
            count += points.size();
            for (const Point &point : points) {
              auto index = map.backward(point, {size});
              ASSERT_TRUE(index);
              ASSERT_EQ(index->front(), i);
            }
          }
          ASSERT_EQ(countPoints(map, {size}), count) << map.str();
          int64_t stored =
              *map.getCoordinates().back().extent.evaluate({size}) * parts;
          ASSERT_EQ(hasPadding(map, {size}), stored > count
                                                 ? ProofResult::Proved
                                                 : ProofResult::Disproved);
        }
}

TEST(Halo, LargeTensorsAreProvenByFactors) {
  Mesh mesh = makeMesh({{"y", 4}, {"x", 4}, {"c", 3}}, {{}, {}, {0}, {1}},
                       {{}, {}, {3, 3}, {1, 2}});
  llvm::SmallVector<int64_t> sizes = {8, 64, 224, 224};
  LayoutMap map = getMap(mesh, sizes);
  EXPECT_EQ(proveInjective(map, sizes).answer, ProofResult::Proved);
  EXPECT_EQ(isWithinExtents(map, sizes), ProofResult::Proved);
  // 3 blocks of 56 rows have a predecessor, and 3 a successor.
  int64_t rows = 224 + 3 * 3 + 3 * 3, columns = 224 + 3 * 1 + 3 * 2;
  EXPECT_EQ(countPoints(map, sizes), 8 * 64 * rows * columns * 3);
  EXPECT_EQ(hasPadding(map, sizes), ProofResult::Proved);
}

TEST(Halo, OnePointOfTwoIndicesIsFound) {
  // Like a halo whose storage is one position too short.
  IndexExpr y = add(IndexExpr::dim(0), scale(IndexExpr::dim(1), SizeExpr(-1)));
  y = add(y, IndexExpr(SizeExpr(1)));
  LayoutMap map = LayoutMap::get(1, "mesh",
                                 {{"x", takeDigit(y, 3, 0), SizeExpr(4)},
                                  {"offset", takeDigit(y, 1, 3), SizeExpr(3)}},
                                 {2});
  PairProof proof = proveInjective(map, {8});
  ASSERT_EQ(proof.answer, ProofResult::Disproved);
  EXPECT_NE(proof.first.front(), proof.second.front());
  EXPECT_EQ(map.forward(proof.first, {8}), map.forward(proof.second, {8}));
}

TEST(Halo, OneRelationIsEqualWhateverItsReplicas) {
  auto twice = LayoutMap::get(
      1, "buffer", {{"offset", IndexExpr::dim(0), SizeExpr::dim(0)}}, {2});
  LayoutMap once = LayoutMap::rowMajor(1);
  EXPECT_EQ(equalOn(twice, once, {5}), ProofResult::Proved);
  Mesh narrow = makeMesh({{"x", 3}}, {{0}}, {{1, 0}}),
       wide = makeMesh({{"x", 3}}, {{0}}, {{0, 1}});
  EXPECT_EQ(equalOn(getMap(narrow, {9}), getMap(wide, {9}), {9}),
            ProofResult::Disproved);
}

} // namespace
