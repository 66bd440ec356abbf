//===- Factors.h - Factorize a box by its digits ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If no mixed-radix digit mixes dims of two groups, a sum of digits is a sum of
// contributions, one of each group. Properties of all indices of a box then
// follow from the indices of its factors, which are far fewer.
//
//     (i, j, r) -> x = (i + 1 - 2 * r) floordiv 3, offset = [i mod 3, j]
//       factors {i, r} and {j}: 9 * 2 + 100 indices, not 9 * 2 * 100
//
// Laws: every dim is in one factor; value(index) - value(0) is the sum, over
// all factors, of that difference at the index with all other dims 0.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FACTORS_H
#define LAYOUT_ALGEBRA_FACTORS_H

#include "layout/Algebra/IndexExpr.h"

namespace mlir::layout {

struct Factor {
  llvm::SmallVector<unsigned> dims;
  /// One size per dim of the whole box: that of a dim of this factor, and 1 for
  /// all other dims.
  llvm::SmallVector<int64_t> box;

  /// Returns the logical dims of this factor: those below `rank`, the rank of
  /// the tensor.
  llvm::ArrayRef<unsigned> getLogicalDims(unsigned rank) const;
  /// Returns the replica dims of this factor: those from `rank` on, the rank of
  /// the tensor.
  llvm::ArrayRef<unsigned> getReplicas(unsigned rank) const;
};

/// Partitions the dims of `box` into the smallest factors such that no digit of
/// `values` depends on dims of two. So each value is a sum of one contribution
/// per factor. Dims from `rank` on are replicas. If an entry of `axes` depends
/// on exactly one logical dim, the replicas in it are in the factor of that
/// dim.
std::vector<Factor> findFactors(llvm::ArrayRef<IndexExpr> values,
                                llvm::ArrayRef<IndexExpr> axes, Sizes box,
                                unsigned rank);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_FACTORS_H
