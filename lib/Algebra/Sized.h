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

/// Whether a stride has no negative part. Only such strides add to a natural
/// extent: `size(a) - 1` does not, though it is never below 0, so that a
/// natural extent bounds a value only where all strides reach upwards.
bool reachesUpwards(const SizeExpr &stride);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_SIZED_H
