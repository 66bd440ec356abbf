//===- RandomViews.h - Random views of random maps --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors with random layouts, random arguments of views, and the check of all
// views: the view must store at an index what the tensor stores at the index
// that the view reads, by integer arithmetic without the library.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TEST_UNIT_ALGEBRA_RANDOMVIEWS_H
#define LAYOUT_TEST_UNIT_ALGEBRA_RANDOMVIEWS_H

#include "RandomMaps.h"
#include "layout/Algebra/Views.h"
#include "gtest/gtest.h"
#include <functional>
#include <numeric>

namespace layout_test {

using mlir::layout::kUnknownSize;
using mlir::layout::LayoutMap;

constexpr uint64_t kSeed = 20250101;

using Group = llvm::SmallVector<int64_t, 2>;
using Groups = std::vector<Group>;
using ReadIndex = std::function<Index(const Index &)>;

/// Converts an index to its row-major number, and back.
inline int64_t fuse(const Index &index, const Index &sizes) {
  int64_t number = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    number = number * sizes[d] + index[d];
  return number;
}
inline Index split(int64_t number, const Index &sizes) {
  Index index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = number % sizes[d];
    number /= sizes[d];
  }
  return index;
}
inline int64_t product(const Index &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

/// Replaces each size by kUnknownSize with probability 1 / oneIn.
inline Index forget(const Index &sizes, RandomMaps &random, int64_t oneIn = 3) {
  Index known = sizes;
  for (int64_t &size : known)
    if (random.below(oneIn) == 0)
      size = kUnknownSize;
  return known;
}

inline Index shuffled(unsigned rank, RandomMaps &random) {
  Index permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  for (unsigned i = rank; i > 1; --i)
    std::swap(permutation[i - 1], permutation[random.below(i)]);
  return permutation;
}

/// The arguments of a random tensor.expand_shape: for each dim the result dims
/// that it is split into, and the sizes of the result.
struct Expansion {
  Groups groups;
  Index sizes;
};
inline Expansion randomExpansion(const Index &sizes, RandomMaps &random) {
  Expansion result;
  for (int64_t size : sizes) {
    Group &group = result.groups.emplace_back();
    auto add = [&](int64_t factor) {
      group.push_back(result.sizes.size());
      result.sizes.push_back(factor);
    };
    for (int64_t factor = 2 + random.below(3); factor > 1; --factor)
      if (size % factor == 0 && random.below(2)) {
        add(factor);
        size /= factor;
      }
    add(size);
    for (size_t i = group.size(); i > 1; --i)
      std::swap(result.sizes[group[i - 1]],
                result.sizes[group[random.below(i)]]);
  }
  return result;
}

/// Draws a partition of dims 0 to rank - 1 into groups.
inline Groups randomGroups(unsigned rank, RandomMaps &random) {
  Groups groups;
  for (unsigned d = 0; d < rank; ++d) {
    if (d == 0 || random.below(2))
      groups.emplace_back();
    groups.back().push_back(d);
  }
  return groups;
}
inline Index part(const Index &list, const Group &group) {
  return Index(list.begin() + group.front(),
               list.begin() + group.front() + group.size());
}
inline Index fusedSizes(const Groups &groups, const Index &sizes) {
  Index result;
  for (const Group &group : groups)
    result.push_back(product(part(sizes, group)));
  return result;
}

/// A random tensor: an expression, its map, and its sizes.
struct Tensor {
  Expr expr;
  LayoutMap map;
  Index sizes;
  bool isNested; // nested digits, without shifts
};

inline bool hasPad(const Expr &expr) {
  return expr.kind == Expr::Pad || llvm::any_of(expr.args, hasPad);
}

inline Tensor randomTensor(const Index &sizes, RandomMaps &random) {
  unsigned rank = sizes.size(), kind = random.below(6);
  Expr expr = kind < 3   ? random.nested(rank)
              : kind < 4 ? random.swizzled(rank)
                         : random.any(rank, 3);
  LayoutMap map = buildMap(rank, expr);
  // Types often have the normal form for some of the sizes.
  if (random.below(4) == 0)
    map = map.specialize(forget(sizes, random));
  return {expr, map, sizes, kind < 3 && !hasPad(expr)};
}

/// Checks `view` on some indices: it stores at i what is stored at read(i), in
/// storage of the same extent.
inline void checkView(const Tensor &tensor, const LayoutMap &view,
                      const Index &viewSizes, const ReadIndex &read,
                      RandomMaps &random) {
  ASSERT_EQ(view.getRank(), viewSizes.size());
  ASSERT_EQ((*view.storageExtent(viewSizes))[0],
            std::max<int64_t>(tensor.expr.extent(tensor.sizes), 0));
  int64_t points = product(viewSizes);
  int64_t step = points <= 8 ? 1 : 1 + random.below(points / 4);
  for (int64_t p = 0; p < points; p += step) {
    Index index = split(p, viewSizes);
    auto at = view.forward(index, viewSizes);
    ASSERT_TRUE(at);
    ASSERT_EQ((*at)[0], tensor.expr.value(read(index), tensor.sizes))
        << testing::PrintToString(index);
  }
}

/// Runs `check(random)` `count` times. A failure prints the text of `trace`.
inline std::function<std::string()> trace;
template <typename Check>
void forRandom(uint64_t seed, int count, Check check) {
  RandomMaps random(seed);
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    trace = nullptr;
    check(random);
    if (testing::Test::HasFailure())
      ADD_FAILURE() << "seed " << seed << ", case " << i << ": "
                    << (trace ? trace() : "");
  }
}
/// Calls check(tensor, random) for kViews views of each of `count` tensors.
constexpr int kViews = 16;
template <typename Check>
void forRandomViews(uint64_t seed, int count, int64_t mostRank,
                    int64_t mostSize, Check check) {
  forRandom(seed, count, [&](RandomMaps &random) {
    Index sizes = random.sizes(1 + random.below(mostRank), mostSize);
    Tensor tensor = randomTensor(sizes, random);
    for (int v = 0; v < kViews && !testing::Test::HasFailure(); ++v)
      check(tensor, random);
  });
}
inline void note(const Tensor &tensor, const Index &view,
                 const LayoutMap &map) {
  trace = [map, view, of = tensor.map, sizes = tensor.sizes] {
    return of.str() + " on " + testing::PrintToString(sizes) + ", view " +
           testing::PrintToString(view) + " is " + map.str();
  };
}

} // namespace layout_test

#endif // LAYOUT_TEST_UNIT_ALGEBRA_RANDOMVIEWS_H
