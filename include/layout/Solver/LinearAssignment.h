//===- LinearAssignment.h - The linear assignment problem -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linear assignment problem: assigns a distinct column to each of n rows so
// that the sum of costs is minimal.
//
//     costs {{4, 1}, {2, 3}}   columns {1, 0}, cost 3
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_LINEARASSIGNMENT_H
#define LAYOUT_SOLVER_LINEARASSIGNMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::layout {

/// Finds a distinct column for each row of the square matrix `costs`, such that
/// the sum of costs[row][column] is minimal. Returns the column of each row.
/// Takes O(n^3) steps. Sums of costs must fit in int64.
llvm::SmallVector<int64_t>
solveLinearAssignment(llvm::ArrayRef<llvm::SmallVector<int64_t>> costs);

} // namespace mlir::layout

#endif // LAYOUT_SOLVER_LINEARASSIGNMENT_H
