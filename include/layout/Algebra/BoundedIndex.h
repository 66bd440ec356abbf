//===- BoundedIndex.h - Values with extents ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `BoundedIndex` is a value together with the number of storage positions
// that it reserves, padding included. The primitives of a layout (spec section
// 1) are functions on `BoundedIndex`s, and every layout family is a composition
// of them:
//
//     BoundedIndex c = BoundedIndex::dim(1);
//     group({floorDiv(c, 16), mod(c, 16)})   // the value of c, 16 * ceil(C/16)
//
// Laws: 0 <= value < extent if that holds for the operands. Extents depend on
// the extents of the operands, never on the canonicalized value.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_BOUNDEDINDEX_H
#define LAYOUT_ALGEBRA_BOUNDEDINDEX_H

#include "layout/Algebra/IndexExpr.h"

namespace mlir::layout {

struct BoundedIndex {
  IndexExpr value;
  SizeExpr extent;

  static BoundedIndex dim(unsigned d) {
    return {IndexExpr::dim(d), SizeExpr::dim(d)};
  }
  static BoundedIndex constant(const SizeExpr &c) {
    return {IndexExpr(c), c + SizeExpr(1)};
  }
};

/// Adds `lo` empty positions before x and `hi` after it (shift/pad).
BoundedIndex pad(const BoundedIndex &x, int64_t lo, int64_t hi);

/// Returns x floordiv k, with extent ceil(x.extent / k) (split).
BoundedIndex floorDiv(const BoundedIndex &x, int64_t k);
/// Returns x mod k, with extent k (split).
BoundedIndex mod(const BoundedIndex &x, int64_t k);

/// Returns the row-major index of several indices, the last one fastest (fuse).
BoundedIndex group(llvm::ArrayRef<BoundedIndex> elements);

/// Rounds the extent up to a multiple of `k`.
BoundedIndex align(const BoundedIndex &x, int64_t k);

/// Sums up elements times strides (place). The extent ends at the highest
/// position reached; strides with a negative coefficient do not extend it.
BoundedIndex place(llvm::ArrayRef<std::pair<BoundedIndex, SizeExpr>> elements);

/// Computes the swizzle of the lowest bits of the operands (xor). `extent` is a
/// power of two, 2^62 at most; operands are taken mod `extent`.
BoundedIndex xorOf(llvm::ArrayRef<BoundedIndex> operands, int64_t extent);

/// Returns the extent that the value alone implies, i.e. the one of the
/// functions above without padding.
SizeExpr naturalExtent(const Digit &digit);
SizeExpr naturalExtent(const IndexExpr &value);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_BOUNDEDINDEX_H
