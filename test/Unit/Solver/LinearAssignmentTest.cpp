//===- LinearAssignmentTest.cpp - Assignments against all permutations ----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/LinearAssignment.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using namespace mlir::layout;

TEST(LinearAssignment, IsTheBestPermutation) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 400; ++trial) {
    int n = trial % 7, range = trial % 3 ? 100 : 3; // ties, too
    std::vector<llvm::SmallVector<int64_t>> costs(n);
    for (llvm::SmallVector<int64_t> &row : costs)
      for (int c = 0; c < n; ++c)
        row.push_back(int64_t(random() % (2 * range)) - range);
    auto getCost = [&](llvm::ArrayRef<int64_t> columns) {
      int64_t sum = 0;
      for (int r = 0; r < n; ++r)
        sum += costs[r][columns[r]];
      return sum;
    };
    llvm::SmallVector<int64_t> columns(n);
    std::iota(columns.begin(), columns.end(), 0);
    int64_t least = getCost(columns);
    while (std::next_permutation(columns.begin(), columns.end()))
      least = std::min(least, getCost(columns));
    llvm::SmallVector<int64_t> found = solveLinearAssignment(costs);
    EXPECT_EQ(getCost(found), least) << "trial " << trial;
    std::sort(found.begin(), found.end());
    std::sort(columns.begin(), columns.end());
    EXPECT_EQ(found, columns) << "trial " << trial;
  }
}
