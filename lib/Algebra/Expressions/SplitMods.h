//===- SplitMods.h - Split digits of sums -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_EXPRESSIONS_SPLITMODS_H
#define LAYOUT_LIB_ALGEBRA_EXPRESSIONS_SPLITMODS_H

#include "layout/Algebra/IndexExpr.h"

namespace mlir::layout {

/// Rewrites (g * a + b) mod (g * m), with 0 <= b < g on the box of `sizes`, to
/// g * (a mod m) + b, so that digits of sums become digits of the summands.
///
///     (3 * d0 + d1) mod 6, d1 < 3:   3 * (d0 mod 2) + d1
IndexExpr splitMods(const IndexExpr &value, Sizes sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_EXPRESSIONS_SPLITMODS_H
