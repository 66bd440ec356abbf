//===- LinearAssignment.h - Who does what at the least cost -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linear assignment problem: each of n rows takes a column of its own so
// that the sum of costs is least.
//
//     costs {{4, 1}, {2, 3}}   columns {1, 0}, cost 3
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_LINEARASSIGNMENT_H
#define LAYOUT_SOLVER_LINEARASSIGNMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
namespace layout {

/// The column of each row of a square matrix, in O(n^3). Sums of costs stay in
/// int64.
llvm::SmallVector<int64_t>
solveLinearAssignment(llvm::ArrayRef<llvm::SmallVector<int64_t>> costs);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SOLVER_LINEARASSIGNMENT_H
