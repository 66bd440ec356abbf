//===- LinearAssignment.cpp - The linear assignment problem ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/LinearAssignment.h"
#include <limits>
#include <vector>

using namespace mlir::layout;

/// The Hungarian method: rows are added one by one, each along a shortest
/// augmenting path. Dual prices of rows and columns keep reduced costs >= 0.
/// Column n represents the added row.
llvm::SmallVector<int64_t> mlir::layout::solveLinearAssignment(
    llvm::ArrayRef<llvm::SmallVector<int64_t>> costs) {
  constexpr int64_t none = -1;
  int64_t n = costs.size();
  std::vector<int64_t> rowPrice(n, 0), columnPrice(n + 1, 0);
  std::vector<int64_t> rowOf(n + 1, none);
  for (int64_t row = 0; row < n; ++row) {
    std::vector<int64_t> distance(n, std::numeric_limits<int64_t>::max());
    std::vector<int64_t> before(n, none);
    std::vector<bool> isReached(n + 1, false);
    int64_t column = n;
    rowOf[n] = row;
    while (rowOf[column] != none) {
      isReached[column] = true;
      int64_t current = rowOf[column], next = none;
      for (int64_t c = 0; c < n; ++c) {
        if (isReached[c])
          continue;
        int64_t reduced =
            costs[current][c] - rowPrice[current] - columnPrice[c];
        if (reduced < distance[c]) {
          distance[c] = reduced;
          before[c] = column;
        }
        if (next == none || distance[c] < distance[next])
          next = c;
      }
      int64_t step = distance[next];
      for (int64_t c = 0; c <= n; ++c) {
        if (isReached[c]) {
          rowPrice[rowOf[c]] += step;
          columnPrice[c] -= step;
        } else if (c < n) {
          distance[c] -= step;
        }
      }
      column = next;
    }
    for (; column != n; column = before[column])
      rowOf[column] = rowOf[before[column]];
  }
  llvm::SmallVector<int64_t> columns(n);
  for (int64_t c = 0; c < n; ++c)
    columns[rowOf[c]] = c;
  return columns;
}
