//===- IntegerSets.h - Proofs by integer set arithmetic ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Statements about all indices of a box, decided by Presburger arithmetic
// (isl). The values are tuples of `IndexExpr`s, such as the coordinates of a
// map:
//
//     proveInjective({8 * i + 2 * j}, sizes = {3, 5})
//       No: (0, 4) and (1, 0) give the same values
//
// Laws:
//  * Yes holds of every index, for every choice of the dynamic sizes;
//  * No comes with a counterexample: indices, and the sizes of the box that
//    they lie in;
//  * Unknown: a stride is no number (it holds a dynamic size, or left int64), a
//    digit is a swizzle, or the effort left its bound. Sums have no bound:
//    those beyond int64 are decided like any other.
//
// The effort is counted in steps of the solver, not in time, so the answers do
// not depend on the machine; about 0.3 s at most. Each call has a solver of its
// own: calls from several threads do not meet.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_INTEGERSETS_H
#define LAYOUT_ALGEBRA_INTEGERSETS_H

#include "layout/Algebra/Proof.h"

namespace mlir {
namespace layout {
namespace sets {

struct Statement {
  Answer answer = Answer::Unknown;
  /// For No: the box, and the index that breaks the statement ..
  llvm::SmallVector<int64_t> sizes, index;
  /// .. together with this one, where the statement is about two.
  llvm::SmallVector<int64_t> other;
};

using Values = llvm::ArrayRef<IndexExpr>;

/// Two indices that differ give values that differ.
Statement proveInjective(Values values, Sizes sizes);

/// a(index) is b(index).
Statement proveEqual(Values a, Values b, Sizes sizes);

/// 0 <= values(index) < extents.
Statement proveWithin(Values values, llvm::ArrayRef<SizeExpr> extents,
                      Sizes sizes);

/// inverse(values(index)) is the index: dim k of `inverse` is values[k].
Statement proveInverse(Values values, Values inverse, Sizes sizes);

/// No index has the values `point`: it is padding. For No, `index` has them.
Statement proveUnused(Values values, llvm::ArrayRef<int64_t> point,
                      Sizes sizes);

} // namespace sets
} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_INTEGERSETS_H
