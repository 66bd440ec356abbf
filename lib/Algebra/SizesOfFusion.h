//===- SizesOfFusion.h - Sizes of dims that become one ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strides and extents of a map, said by the size of the fusion of some dims
// where they were said by the sizes of these dims. With (a, 16) fused to t:
//
//     48 * size(a)          3 * size(t)
//     ceil(size(a), 4)      ceil(size(t), 64)
//     size(a) * size(b)     ceil(size(t), 16) * size(b)
//
// Law: the value is the same wherever size(t) is the product of those sizes.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_SIZESOFFUSION_H
#define LAYOUT_LIB_ALGEBRA_SIZESOFFUSION_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir {
namespace layout {

struct SizesOfFusion {
  /// The product of the sizes of the run that are symbols (at least one) ..
  SizeExpr symbols;
  /// .. and of those that are numbers.
  int64_t factor;
  /// The size of the fusion.
  SizeExpr total;
  /// Whether a size is a symbol of the run. One that does not occur in whole
  /// products of them cannot be said: the answer is overflow.
  llvm::function_ref<bool(unsigned)> isInRun;

  SizeExpr apply(const SizeExpr &size) const;
  IndexExpr apply(const IndexExpr &value) const;
  LayoutMap apply(const LayoutMap &map) const;

private:
  SizeExpr apply(const SizeExpr::Ceil &ceil) const;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ALGEBRA_SIZESOFFUSION_H
