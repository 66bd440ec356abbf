//===- Box.h - Iteration over the indices of a shape ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The box of a shape is the set of its logical indices. It is iterated in
// row-major order, the last dim fastest:
//
//     forEachIndex({2, 2}, visit)   // (0, 0) (0, 1) (1, 0) (1, 1)
//
// A shape without dims has one index; a shape with a size 0 has none.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_BOX_H
#define LAYOUT_ALGEBRA_BOX_H

#include "layout/Algebra/IndexExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::layout {

/// Returns the number of indices of a shape, the product of `sizes`, or
/// std::nullopt if a size is dynamic or the number exceeds int64.
inline std::optional<int64_t> countIndices(Sizes sizes) {
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return std::nullopt;
  if (llvm::is_contained(sizes, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

/// Advances `index` to the next index of the shape in row-major order. After
/// the last one, returns false and wraps to the first.
inline bool increment(llvm::MutableArrayRef<int64_t> index, Sizes sizes) {
  for (size_t d = sizes.size(); d-- > 0;) {
    if (++index[d] < sizes[d])
      return true;
    index[d] = 0;
  }
  return false;
}

/// Returns the n-th index of the shape in row-major order, from 0 on.
inline llvm::SmallVector<int64_t> getIndex(int64_t n, Sizes sizes) {
  llvm::SmallVector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; n /= sizes[d])
    index[d] = n % sizes[d];
  return index;
}

/// Calls visit(index) for every index of a static shape in row-major order
/// until it returns false. Returns true if it never did.
template <typename Visit> bool forEachIndex(Sizes sizes, Visit visit) {
  if (llvm::is_contained(sizes, 0))
    return true;
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  do {
    if (!visit(llvm::ArrayRef<int64_t>(index)))
      return false;
  } while (increment(index, sizes));
  return true;
}

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_BOX_H
