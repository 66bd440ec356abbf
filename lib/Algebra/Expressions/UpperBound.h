//===- BoundedIndex.h - Upper bounds of values ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_EXPRESSIONS_UPPERBOUND_H
#define LAYOUT_LIB_ALGEBRA_EXPRESSIONS_UPPERBOUND_H

#include "layout/Algebra/BoundedIndex.h"

namespace mlir::layout {

/// Returns one more than the maximal value of a digit or a sum on the box, or a
/// higher bound if the maximum is not known. Returns std::nullopt if a value
/// may be negative or no bound is known. Natural extents are not such bounds:
/// strides that may be negative, e.g. `size(a) - 8`, do not increase them. All
/// sizes are dynamic if `sizes` is empty.
std::optional<SizeExpr> getUpperBound(const Digit &digit, Sizes sizes);
std::optional<SizeExpr> getUpperBound(const IndexExpr &value, Sizes sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_EXPRESSIONS_UPPERBOUND_H
