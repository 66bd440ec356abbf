//===- IntegerSets.h - Proofs by integer set arithmetic ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides statements about all indices of a box by Presburger arithmetic (isl).
// The values are tuples of `IndexExpr`s, such as the coordinates of a map:
//
//     proveInjective({8 * i + 2 * j}, sizes = {3, 5})
//       Disproved: (0, 4) and (1, 0) give the same values
//
// Laws:
//  * Proved holds for every index and for every choice of the dynamic sizes;
//  * Disproved has a counterexample: indices, and the sizes of their box;
//  * Unknown: a stride is not constant (it depends on a dynamic size, or
//    overflowed int64), a digit is a swizzle, or the effort exceeded its bound.
//    Sums are unbounded: values beyond int64 are decided like any others.
//
// The effort is bounded in solver steps, not in time, so that answers do not
// depend on the machine; it takes about 0.3 s at most. Each call creates its
// own solver, so that threads do not interfere.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_INTEGERSETS_H
#define LAYOUT_ALGEBRA_INTEGERSETS_H

#include "layout/Algebra/Proof.h"

namespace mlir::layout::sets {

struct Statement {
  ProofResult answer = ProofResult::Unknown;
  /// The counterexample if the answer is Disproved: the sizes of the box, and
  /// an index in it.
  llvm::SmallVector<int64_t> sizes, index;
  /// The second index of the counterexample if the statement is about two
  /// indices, e.g. that they have different values; else empty.
  llvm::SmallVector<int64_t> other;
};

using Values = llvm::ArrayRef<IndexExpr>;

/// Decides if different indices of the box have different tuples of values.
Statement proveInjective(Values values, Sizes sizes);

/// Decides if a(index) == b(index) at every index of the box.
Statement proveEqual(Values a, Values b, Sizes sizes);

/// Decides if 0 <= values(index) < extents at every index of the box.
Statement proveWithin(Values values, llvm::ArrayRef<SizeExpr> extents,
                      Sizes sizes);

/// Decides if inverse(values(index)) == index at every index of the box; dim k
/// of `inverse` stands for values[k].
Statement proveInverse(Values values, Values inverse, Sizes sizes);

/// Decides if no index of the box has the values `point`, i.e. if `point` is
/// padding. For Disproved, `index` has these values.
Statement proveUnused(Values values, llvm::ArrayRef<int64_t> point,
                      Sizes sizes);

} // namespace mlir::layout::sets

#endif // LAYOUT_ALGEBRA_INTEGERSETS_H
