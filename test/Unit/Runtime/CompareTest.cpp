//===- CompareTest.cpp - Differences of arrays ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/Compare.h"
#include "layout/Runtime/Npy.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <vector>

using namespace mlir;
using namespace mlir::layout;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Array makeArray(ArrayRef<float> values) {
  Array array(ElementKind::F32, {int64_t(values.size())});
  llvm::copy(values, reinterpret_cast<float *>(array.data()));
  return array;
}

Difference compare(ArrayRef<float> a, ArrayRef<float> b) {
  return layout::compare(makeArray(a), makeArray(b));
}

/// The largest difference, relative to the largest element of the first array.
TEST(Compare, TakesTheLargestDifferenceAndTheScaleOfTheFirst) {
  Difference difference = compare({1, -8, 2, 0.5}, {1, -4, 1, 0.5});
  EXPECT_EQ(difference.maxAbs, 4);
  EXPECT_EQ(difference.maxRel, 0.5);
  EXPECT_TRUE(difference.isWithin(0.5));
  EXPECT_FALSE(difference.isWithin(0.499));

  difference = compare({1, 2}, {1, 4});
  EXPECT_EQ(difference.maxRel, 1);
  difference = compare({0.25, 0}, {0.25, 0.125});
  EXPECT_EQ(difference.maxRel, 0.5);
}

TEST(Compare, EqualArraysDoNotDiffer) {
  const std::vector<float> arrays[] = {{0, 0}, {kInfinity, -kInfinity, 3}, {}};
  for (ArrayRef<float> values : arrays) {
    Difference difference = compare(values, values);
    EXPECT_EQ(difference.maxAbs, 0);
    EXPECT_EQ(difference.maxRel, 0);
  }
}

/// A difference from zeros is infinitely large, and so is one from an infinity.
TEST(Compare, DiffersWithoutAScale) {
  Difference difference = compare({0, 0}, {0, 1e-6});
  EXPECT_TRUE(std::isinf(difference.maxRel));
  EXPECT_FALSE(difference.isWithin(1e30));
  difference = compare({1, kInfinity}, {1, 2});
  EXPECT_TRUE(std::isinf(difference.maxRel));
}

/// NaN differs from everything, including NaN.
TEST(Compare, NotANumberIsNeverWithin) {
  for (auto [a, b] :
       {std::pair(kNaN, 1.0f), std::pair(1.0f, kNaN), std::pair(kNaN, kNaN)}) {
    Difference difference = compare({1, a}, {1, b});
    EXPECT_TRUE(std::isnan(difference.maxRel));
    EXPECT_FALSE(difference.isWithin(kInfinity));
  }
}

} // namespace
