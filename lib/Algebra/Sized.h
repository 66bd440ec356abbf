//===- Sized.h - What a natural extent counts -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_SIZED_H
#define LAYOUT_LIB_ALGEBRA_SIZED_H

#include "layout/Algebra/Sized.h"

namespace mlir::layout {

/// One more than the highest value that a digit or a sum takes on the box, as
/// sharp as is known. A natural extent is no such bound: strides that may reach
/// downwards, as `size(a) - 8`, add nothing to it. Nothing where a value may be
/// below 0, or where no bound is known. `sizes` may be empty: none is known.
std::optional<SizeExpr> getUpperBound(const Digit &digit, Sizes sizes);
std::optional<SizeExpr> getUpperBound(const IndexExpr &value, Sizes sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_SIZED_H
