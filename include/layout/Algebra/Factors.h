//===- Factors.h - A box as a product ---------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where no digit mixes the dims of one group with those of another one, sums of
// digits are sums of shares, one of each group: what holds of all indices of a
// box is seen at those of its factors, which are far fewer.
//
//     (i, j, r) -> x = (i + 1 - 2 * r) floordiv 3, offset = [i mod 3, j]
//       factors {i, r} and {j}: 9 * 2 + 100 indices, not 9 * 2 * 100
//
// Laws: every dim is in one factor; value(index) - value(0) is the sum of the
// same at the index of each factor, which is 0 in all other dims.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FACTORS_H
#define LAYOUT_ALGEBRA_FACTORS_H

#include "layout/Algebra/IndexExpr.h"

namespace mlir {
namespace layout {

struct Factor {
  llvm::SmallVector<unsigned> dims;
  /// The sizes of all dims, 1 for those of other factors.
  llvm::SmallVector<int64_t> box;

  /// The logical dims and the replicas of a map of that rank.
  llvm::ArrayRef<unsigned> getLogicalDims(unsigned rank) const;
  llvm::ArrayRef<unsigned> getReplicas(unsigned rank) const;
};

/// The factors of `box` for sums over its dims. Dims from `rank` on are
/// replicas: they go with the logical dim of one of the `axes` that has one
/// alone, as together they say where an index is.
std::vector<Factor> findFactors(llvm::ArrayRef<IndexExpr> values,
                                llvm::ArrayRef<IndexExpr> axes, Sizes box,
                                unsigned rank);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_FACTORS_H
