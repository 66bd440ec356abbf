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

/// Adds `lo` empty positions before x and `hi` after it: returns x + lo, whose
/// extent is that of x plus lo + hi.
BoundedIndex pad(const BoundedIndex &x, int64_t lo, int64_t hi);

/// Returns x floordiv k, with extent ceil(x.extent / k).
BoundedIndex floorDiv(const BoundedIndex &x, int64_t k);
/// Returns x mod k, with extent k.
BoundedIndex mod(const BoundedIndex &x, int64_t k);

/// Fuses indices: returns the row-major index over `elements`, the last one
/// fastest. Its extent is the product of theirs.
BoundedIndex group(llvm::ArrayRef<BoundedIndex> elements);

/// Returns `x` with its extent rounded up to a multiple of `k`, so that the
/// added positions are padding.
BoundedIndex align(const BoundedIndex &x, int64_t k);

/// Returns the sum of each element times its stride. The extent is one more
/// than the highest value, for which elements with a stride that may be
/// negative count as 0.
BoundedIndex place(llvm::ArrayRef<std::pair<BoundedIndex, SizeExpr>> elements);

/// Returns the bitwise xor of the operands, each taken mod `extent`. `extent`,
/// also that of the result, is a power of two, at most 2^62.
BoundedIndex xorOf(llvm::ArrayRef<BoundedIndex> operands, int64_t extent);

/// Returns the number of positions that the form of a value implies, without
/// align or pad: k for x mod k, ceil(extent of x / k) for x floordiv k, and
/// size(d) for dim d. A swizzle of b bits has 2^b positions. A sum has one more
/// than its highest value, for which terms with a stride that may be negative
/// count as 0.
SizeExpr naturalExtent(const Digit &digit);
SizeExpr naturalExtent(const IndexExpr &value);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_BOUNDEDINDEX_H
