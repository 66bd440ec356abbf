//===- RandomShapes.h - Random shapes and their indices ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers of the oracles of layout families: random numbers, and boxes as lists
// of indices.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TEST_UNIT_ALGEBRA_RANDOMSHAPES_H
#define LAYOUT_TEST_UNIT_ALGEBRA_RANDOMSHAPES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <random>

namespace layout_test {

using SmallIndex = llvm::SmallVector<int64_t>;

class RandomShapes {
public:
  explicit RandomShapes(uint64_t seed) : engine(seed) {}
  int64_t below(int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(engine);
  }
  template <typename T> void shuffle(T &items) {
    std::shuffle(items.begin(), items.end(), engine);
  }
  SmallIndex shape(size_t rank, int64_t most) {
    SmallIndex sizes(rank);
    for (int64_t &size : sizes)
      size = 1 + below(most);
    return sizes;
  }

private:
  std::mt19937_64 engine;
};

/// Returns all indices of a tensor of this shape in row-major order.
inline std::vector<SmallIndex> allIndices(llvm::ArrayRef<int64_t> shape) {
  std::vector<SmallIndex> indices{{}};
  for (int64_t size : shape) {
    std::vector<SmallIndex> longer;
    for (const SmallIndex &index : indices)
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    indices = std::move(longer);
  }
  return indices;
}

} // namespace layout_test

#endif // LAYOUT_TEST_UNIT_ALGEBRA_RANDOMSHAPES_H
