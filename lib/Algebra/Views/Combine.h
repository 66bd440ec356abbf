//===- Combine.h - The canonical form of a sum of digits --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_VIEWS_COMBINE_H
#define LAYOUT_LIB_ALGEBRA_VIEWS_COMBINE_H

#include "layout/Algebra/IndexExpr.h"

namespace mlir::layout {

/// Returns the sum of `constant` and `terms` in canonical form: the digits of
/// each source are disjoint, maximal and sorted, and no stride is 0.
IndexExpr combine(SizeExpr constant, std::vector<DigitTerm> terms, Sizes sizes);

/// Returns floor(inner / divisor) mod modulus (0: no mod) as one digit of the
/// source of `inner`, or std::nullopt if it is none, e.g. (c mod 6) mod 4.
std::optional<Digit> composeDigits(const Digit &inner, int64_t divisor,
                                   int64_t modulus);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_VIEWS_COMBINE_H
