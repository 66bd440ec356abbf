//===- SplitMods.h - Sums under a mod, as digits of their own ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_SPLITMODS_H
#define LAYOUT_LIB_ALGEBRA_SPLITMODS_H

#include "layout/Algebra/IndexExpr.h"

namespace mlir {
namespace layout {

/// The same value on the box of `sizes`, where (g * a + b) mod (g * m) with
/// 0 <= b < g is written as g * (a mod m) + b: digits of sums become digits of
/// what is summed.
///
///     (3 * d0 + d1) mod 6, d1 < 3:   3 * (d0 mod 2) + d1
IndexExpr splitMods(const IndexExpr &value, Sizes sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ALGEBRA_SPLITMODS_H
