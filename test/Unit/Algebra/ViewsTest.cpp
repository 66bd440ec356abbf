//===- ViewsTest.cpp - Laws of views on random maps -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomViews.h"
#include "layout/Algebra/Proof.h"
#include <map>

using namespace layout_test;
using namespace mlir::layout;

namespace {

//===----------------------------------------------------------------------===//
// Every view reads the expected index
//===----------------------------------------------------------------------===//

TEST(Views, TransposeReadsPermutedIndicesAndUndoesItself) {
  forRandomViews(
      kSeed, 2500, 4, 6, [](const Tensor &tensor, RandomMaps &random) {
        unsigned rank = tensor.sizes.size();
        Index permutation = shuffled(rank, random), sizes(rank), back(rank);
        for (unsigned j = 0; j < rank; ++j) {
          sizes[j] = tensor.sizes[permutation[j]];
          back[permutation[j]] = j;
        }
        auto view = transpose(tensor.map, permutation);
        ASSERT_TRUE(view);
        note(tensor, permutation, *view);
        checkView(
            tensor, *view, sizes,
            [&](const Index &index) {
              Index source(rank);
              for (unsigned j = 0; j < rank; ++j)
                source[permutation[j]] = index[j];
              return source;
            },
            random);
        ASSERT_TRUE(*transpose(*view, back) == tensor.map);
      });
}

struct Slice {
  Index offsets, sizes, strides;
};
Slice randomSlice(const Index &full, RandomMaps &random) {
  Slice slice;
  for (int64_t size : full) {
    int64_t offset = random.below(size), stride = 1 + random.below(3);
    int64_t room = size - offset;
    if (random.below(3) == 0) {
      stride = -stride;
      room = offset + 1;
    }
    if (random.below(4) == 0) {
      offset = 0, stride = 1, room = size;
    }
    slice.offsets.push_back(offset);
    slice.strides.push_back(stride);
    int64_t most = (room - 1) / std::abs(stride) + 1;
    slice.sizes.push_back(random.below(3) ? 1 + random.below(most) : most);
  }
  return slice;
}

TEST(Views, SliceReadsInsideTheBoxAndComposes) {
  int same = 0, total = 0;
  forRandomViews(
      kSeed + 1, 3500, 3, 12, [&](const Tensor &tensor, RandomMaps &random) {
        unsigned rank = tensor.sizes.size();
        Slice first = randomSlice(tensor.sizes, random);
        auto inTensor = [&](const Index &index) {
          Index source(rank);
          for (unsigned d = 0; d < rank; ++d)
            source[d] = first.offsets[d] + first.strides[d] * index[d];
          return source;
        };
        // Complete dims can be dynamic, and so can sizes of the slice.
        Index full = tensor.sizes, sizes = first.sizes;
        for (unsigned d = 0; d < rank; ++d) {
          bool whole = first.offsets[d] == 0 && first.strides[d] == 1 &&
                       sizes[d] == full[d];
          if (whole && random.below(2))
            full[d] = kUnknownSize, sizes[d] = kWholeDim;
          else if (random.below(4) == 0)
            sizes[d] = kUnknownSize;
        }
        auto view =
            slice(tensor.map, full, first.offsets, sizes, first.strides);
        ASSERT_TRUE(view);
        note(tensor, first.offsets, *view);
        checkView(tensor, *view, first.sizes, inTensor, random);

        // A slice of a slice is one slice.
        Slice second = randomSlice(first.sizes, random);
        Slice both = second;
        for (unsigned d = 0; d < rank; ++d) {
          both.offsets[d] =
              first.offsets[d] + first.strides[d] * second.offsets[d];
          both.strides[d] = first.strides[d] * second.strides[d];
        }
        auto inner = slice(*view, first.sizes, second.offsets, second.sizes,
                           second.strides);
        auto direct = slice(tensor.map, tensor.sizes, both.offsets, both.sizes,
                            both.strides);
        ASSERT_TRUE(inner && direct);
        ASSERT_EQ(equalOn(*inner, *direct, second.sizes), ProofResult::Proved)
            << inner->str() << " and " << direct->str();
        ++total;
        same +=
            inner->specialize(second.sizes) == direct->specialize(second.sizes);
      });
  // Most maps are even equal in canonical form.
  EXPECT_GT(same, total * 9 / 10);
}

TEST(Views, SliceDropsDimsOfSizeOne) {
  forRandomViews(kSeed + 2, 4000, 4, 6,
                 [](const Tensor &tensor, RandomMaps &random) {
                   unsigned rank = tensor.sizes.size();
                   Slice cut = randomSlice(tensor.sizes, random);
                   Index dropped, kept, keptSizes;
                   for (unsigned d = 0; d < rank; ++d) {
                     if (random.below(2))
                       cut.sizes[d] = 1;
                     if (cut.sizes[d] == 1 && random.below(3)) {
                       dropped.push_back(d);
                     } else {
                       kept.push_back(d);
                       keptSizes.push_back(cut.sizes[d]);
                     }
                   }
                   auto view = slice(tensor.map, tensor.sizes, cut.offsets,
                                     cut.sizes, cut.strides, dropped);
                   ASSERT_TRUE(view);
                   note(tensor, cut.offsets, *view);
                   checkView(
                       tensor, *view, keptSizes,
                       [&](const Index &index) {
                         Index source = cut.offsets;
                         for (size_t k = 0; k < kept.size(); ++k)
                           source[kept[k]] += cut.strides[kept[k]] * index[k];
                         return source;
                       },
                       random);
                 });
}

TEST(Views, ExpandFusesGroupsAndCollapseUndoesIt) {
  int same = 0;
  forRandomViews(
      kSeed + 3, 3500, 3, 24, [&](const Tensor &tensor, RandomMaps &random) {
        const Index &sizes = tensor.sizes;
        auto [groups, newSizes] = randomExpansion(sizes, random);
        Index known = forget(newSizes, random);
        auto view = expandShape(tensor.map, groups, known);
        ASSERT_TRUE(view);
        note(tensor, known, *view);
        checkView(
            tensor, *view, newSizes,
            [&, &groups = groups, &newSizes = newSizes](const Index &index) {
              Index source;
              for (const Group &group : groups)
                source.push_back(
                    fuse(part(index, group), part(newSizes, group)));
              return source;
            },
            random);

        // Collapsing restores the map on the shape, even if sizes are dynamic.
        auto back = collapseShape(*view, groups, known);
        if (!back && !tensor.isNested)
          return; // sums of overlapping digits show no fusion
        ASSERT_TRUE(back);
        ASSERT_EQ(equalOn(*back, tensor.map, sizes), ProofResult::Proved)
            << back->str();
        bool isSame = back->specialize(sizes) == tensor.map.specialize(sizes);
        same += isSame;
        // L5: equal canonical forms, except for shifted or swizzled digits.
        if (tensor.isNested) {
          ASSERT_TRUE(isSame) << back->str();
        }
      });
  EXPECT_GT(same, 11000);
}

TEST(Views, CollapseReadsDigits) {
  int found = 0, dynamic = 0;
  forRandomViews(
      kSeed + 4, 3500, 4, 5, [&](const Tensor &tensor, RandomMaps &random) {
        unsigned rank = tensor.sizes.size();
        Groups groups = randomGroups(rank, random);
        Index sizes = fusedSizes(groups, tensor.sizes);
        Index known = forget(tensor.sizes, random, 6);
        bool innerKnown = true;
        for (const Group &group : groups)
          for (size_t i = 1; i < group.size(); ++i)
            innerKnown &= known[group[i]] >= 0;
        auto view = collapseShape(tensor.map, groups, known);
        ASSERT_TRUE(view || !innerKnown);
        if (!view)
          return;
        ++found;
        dynamic += !innerKnown;
        note(tensor, known, *view);
        checkView(
            tensor, *view, sizes,
            [&](const Index &index) {
              Index source;
              for (size_t g = 0; g < groups.size(); ++g)
                for (int64_t i : split(index[g], part(tensor.sizes, groups[g])))
                  source.push_back(i);
              return source;
            },
            random);
      });
  EXPECT_GT(found, 20000);
  EXPECT_GT(dynamic, 300);
}

//===----------------------------------------------------------------------===//
// Concatenation, composition, inversion
//===----------------------------------------------------------------------===//

TEST(Views, PartsOfAConcatenationAreShiftedSlicesOfTheWhole) {
  int found = 0, total = 0;
  forRandom(kSeed + 5, 4000, [&](RandomMaps &random) {
    unsigned rank = 1 + random.below(3), axis = random.below(rank);
    Index sizes = random.sizes(rank, 4);
    Expr expr = random.nested(rank);
    LayoutMap map = buildMap(rank, expr);
    std::vector<ConcatPart> parts;
    int64_t count = 1 + random.below(3), unit = 1 + random.below(4);
    for (int64_t p = 0; p < count; ++p) {
      ConcatPart part{map, {sizes.begin(), sizes.end()}};
      part.sizes[axis] = unit * (1 + random.below(2));
      if (random.below(3) == 0)
        part.map = map.specialize(part.sizes);
      parts.push_back(part);
    }
    auto result = concat(parts, axis);
    ++total;
    if (!result)
      return;
    ++found;
    trace = [=] { return map.str() + " is " + result->whole.str(); };
    Index whole(parts[0].sizes.begin(), parts[0].sizes.end());
    whole[axis] = 0;
    for (const ConcatPart &part : parts)
      whole[axis] += part.sizes[axis];
    // The whole is a layout, and every part is in its place.
    std::map<int64_t, Index> seen;
    int64_t extent = (*result->whole.storageExtent(whole))[0];
    forEachIndex(whole, [&](const Index &index) {
      int64_t at = (*result->whole.forward(index, whole))[0];
      ASSERT_TRUE(seen.emplace(at, index).second);
      ASSERT_TRUE(0 <= at && at < extent);
    });
    int64_t start = 0;
    for (size_t p = 0; p < parts.size(); ++p) {
      Index partSizes(parts[p].sizes.begin(), parts[p].sizes.end());
      int64_t shift = *result->shifts[p][0].evaluate(partSizes);
      forEachIndex(partSizes, [&](const Index &index) {
        Index inWhole = index;
        inWhole[axis] += start;
        ASSERT_EQ((*result->whole.forward(inWhole, whole))[0],
                  expr.value(index, partSizes) + shift);
      });
      start += partSizes[axis];
    }
  });
  EXPECT_GT(found, total / 3);
}

TEST(Views, SlicesOfAWholeConcatenateToIt) {
  forRandom(kSeed + 6, 2000, [](RandomMaps &random) {
    unsigned rank = 1 + random.below(3), axis = random.below(rank);
    Index sizes = random.sizes(rank, 4);
    LayoutMap map = buildMap(rank, random.nested(rank));
    // Parts with layouts for their own sizes, against slices of the whole.
    std::vector<ConcatPart> parts;
    Index offsets(rank, 0), strides(rank, 1);
    sizes[axis] += 3;
    for (int64_t p = 0; p < 2; ++p) {
      Index partSizes = sizes;
      partSizes[axis] = p == 0 ? 1 + random.below(sizes[axis] - 1)
                               : sizes[axis] - offsets[axis];
      auto place = slice(map, sizes, offsets, partSizes, strides);
      ASSERT_TRUE(place);
      parts.push_back({*place, {partSizes.begin(), partSizes.end()}});
      offsets[axis] += partSizes[axis];
    }
    auto result = concat(parts, axis);
    trace = [=] {
      return map.str() + " on " + testing::PrintToString(sizes) + ": " +
             parts[0].map.str() + " and " + parts[1].map.str();
    };
    // The first part starts the whole, so its layout extends to the rest unless
    // it was cut to a box smaller than its digits.
    if (!result)
      return;
    forEachIndex(sizes, [&](const Index &index) {
      Index local = index;
      int64_t p = index[axis] >= parts[0].sizes[axis];
      if (p)
        local[axis] -= parts[0].sizes[axis];
      Index partSizes(parts[p].sizes.begin(), parts[p].sizes.end());
      ASSERT_EQ((*result->whole.forward(index, sizes))[0],
                (*parts[p].map.forward(local, partSizes))[0] +
                    *result->shifts[p][0].evaluate(partSizes));
    });
  });
}

TEST(Views, ComposeIsFunctionCompositionAndAssociative) {
  forRandom(kSeed + 7, 15000, [](RandomMaps &random) {
    unsigned rank = 1 + random.below(3);
    Index sizes = random.sizes(rank, 5);
    // b stores a list of dims, a lays these out, and c lays out the offset of
    // a.
    Expr stored[3];
    llvm::SmallVector<BoundedIndex> dims;
    Expr first{Expr::Group, 0, 0, {}};
    unsigned count = 1 + random.below(3);
    for (unsigned s = 0; s < count; ++s) {
      stored[s] = random.any(rank, 2);
      dims.push_back(stored[s].build());
      first.args.push_back(stored[s]);
    }
    LayoutMap b = buildMap(rank, first);
    Expr second = random.any(count, 2), third = random.any(1, 2);
    LayoutMap a = buildMap(count, second), c = buildMap(1, third);
    auto ab = compose(a, b, dims);
    auto ca = compose(c, a);
    ASSERT_TRUE(ab && ca);
    auto right = compose(*ca, b, dims), left = compose(c, *ab);
    ASSERT_TRUE(left && right);
    trace = [=] { return a.str() + " after " + b.str() + " is " + ab->str(); };
    Index storedSizes;
    for (unsigned s = 0; s < count; ++s)
      storedSizes.push_back(stored[s].extent(sizes));
    int64_t extent = second.extent(storedSizes);
    if (extent > 100) // the next one is a polynomial of it
      return;
    ASSERT_EQ((*ab->storageExtent(sizes))[0], extent);
    forEachIndex(sizes, [&](const Index &index) {
      Index at;
      for (unsigned s = 0; s < count; ++s)
        at.push_back(stored[s].value(index, sizes));
      int64_t offset = second.value(at, storedSizes);
      ASSERT_EQ((*ab->forward(index, sizes))[0], offset);
      int64_t last = third.value({offset}, {extent});
      ASSERT_EQ((*left->forward(index, sizes))[0], last);
      ASSERT_EQ((*right->forward(index, sizes))[0], last);
    });
  });
}

TEST(Views, InverseLeadsBackFromTheWholeStoredBox) {
  int found = 0, dense = 0;
  forRandom(kSeed + 8, 10000, [&](RandomMaps &random) {
    unsigned rank = 1 + random.below(3);
    Index sizes = random.sizes(rank, 6);
    LayoutMap map = buildMap(rank, random.nested(rank));
    Index known = random.below(2) ? sizes : forget(sizes, random);
    if (random.below(2))
      map = map.specialize(known);
    auto back = inverse(map, {}, known);
    if (!back)
      return;
    ++found;
    trace = [=] {
      return map.str() + " on " + testing::PrintToString(known) + " back is " +
             back->str();
    };
    Index box;
    llvm::SmallVector<BoundedIndex> axes;
    for (const StoredAxis &axis : map.getStoredAxes()) {
      box.push_back(*axis.extent.evaluate(sizes));
      axes.push_back({axis.value, axis.extent});
    }
    // Total and injective on the box, including padding (L1).
    std::map<int64_t, Index> seen;
    int64_t extent = (*back->storageExtent(box))[0];
    forEachIndex(box, [&](const Index &point) {
      int64_t at = (*back->forward(point, box))[0];
      ASSERT_TRUE(seen.emplace(at, point).second);
      ASSERT_TRUE(0 <= at && at < extent);
    });
    // The composition keeps the row-major order of logical indices, and is the
    // row-major map if there is no padding.
    auto both = compose(*back, map, axes);
    ASSERT_TRUE(both);
    int64_t last = -1;
    forEachIndex(sizes, [&](const Index &index) {
      int64_t at = (*both->forward(index, sizes))[0];
      ASSERT_LT(last, at);
      last = at;
    });
    if (hasPadding(map, sizes) == ProofResult::Disproved) {
      ++dense;
      ASSERT_EQ(equalOn(*both, LayoutMap::rowMajor(rank), sizes),
                ProofResult::Proved)
          << both->str();
    }
  });
  EXPECT_GT(found, 4000);
  EXPECT_GT(dense, 1000);
}

//===----------------------------------------------------------------------===//
// Replicas
//===----------------------------------------------------------------------===//

TEST(Views, ReplicatingOverADimAndBroadcastingItIsTheSameStorage) {
  forRandom(kSeed + 9, 10000, [](RandomMaps &random) {
    unsigned rank = 1 + random.below(3), dim = random.below(rank);
    Tensor tensor = randomTensor(random.sizes(rank, 5), random);
    int64_t size = tensor.sizes[dim];
    auto source = replicateOver(tensor.map, dim, tensor.sizes);
    ASSERT_TRUE(source);
    note(tensor, {int64_t(dim)}, *source);
    ASSERT_EQ(source->getReplicas().size(), size_t(size > 1));
    Index sizes = tensor.sizes;
    sizes.erase(sizes.begin() + dim);
    // Replica r of an element is the element at r along the dim.
    forEachIndex(tensor.sizes, [&](const Index &index) {
      Index inSource = index;
      inSource.erase(inSource.begin() + dim);
      if (size > 1)
        inSource.push_back(index[dim]);
      ASSERT_EQ((*source->forward(inSource, sizes))[0],
                tensor.expr.value(index, tensor.sizes));
    });
    auto view = broadcast(*source, dim, size);
    ASSERT_TRUE(view);
    forEachIndex(tensor.sizes, [&](const Index &index) {
      ASSERT_EQ((*view->forward(index, tensor.sizes))[0],
                tensor.expr.value(index, tensor.sizes));
    });
    ASSERT_TRUE(*replicateOver(*view, dim, tensor.sizes) == *source);
  });
}

} // namespace
