//===- SizesOfFusion.h - Sizes of fused dims --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites strides and extents of a map from the sizes of some dims to the size
// of their fusion. With (a, 16) fused to t:
//
//     48 * size(a)          3 * size(t)
//     ceil(size(a), 4)      ceil(size(t), 64)
//     size(a) * size(b)     ceil(size(t), 16) * size(b)
//
// Law: the value is unchanged if size(t) is the product of those sizes.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_VIEWS_SIZESOFFUSION_H
#define LAYOUT_LIB_ALGEBRA_VIEWS_SIZESOFFUSION_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir::layout {

struct SizesOfFusion {
  /// The product of the dynamic sizes of the fused dims, at least one of which
  /// is dynamic.
  SizeExpr symbols;
  /// The product of the static sizes of the fused dims.
  int64_t factor;
  /// The size of the one dim that replaces the fused dims.
  SizeExpr total;
  /// Returns true if a dim is one of the fused dims.
  llvm::function_ref<bool(unsigned)> isInRun;

  /// Returns the argument with `total` in place of the sizes of the fused dims.
  /// A term in which the dynamic sizes of these dims do not all occur equally
  /// often cannot be rewritten and becomes overflow.
  SizeExpr apply(const SizeExpr &size) const;
  IndexExpr apply(const IndexExpr &value) const;
  LayoutMap apply(const LayoutMap &map) const;

private:
  SizeExpr apply(const SizeExpr::Ceil &ceil) const;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_VIEWS_SIZESOFFUSION_H
