//===- Sized.h - Values with extents: how a map is written ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `Sized` is a value together with the number of storage positions that it
// reserves, padding included. The primitives of a layout (spec section 1) are
// functions on `Sized`s, and every layout family is a composition of them:
//
//     Sized c = Sized::dim(1);
//     group({floorDiv(c, 16), mod(c, 16)})   // the value of c, 16 * ceil(C/16)
//
// Laws: 0 <= value < extent wherever that holds of the operands; extents are
// those of the operands, never of the value that canonicalization finds.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_SIZED_H
#define LAYOUT_ALGEBRA_SIZED_H

#include "layout/Algebra/IndexExpr.h"

namespace mlir {
namespace layout {

struct Sized {
  IndexExpr value;
  SizeExpr extent;

  static Sized dim(unsigned d) { return {IndexExpr::dim(d), SizeExpr::dim(d)}; }
  static Sized constant(const SizeExpr &c) {
    return {IndexExpr(c), c + SizeExpr(1)};
  }
};

/// shift/pad: `lo` empty positions before x, `hi` after it.
Sized pad(const Sized &x, int64_t lo, int64_t hi);

/// split: the digit above `k` positions, extent ceil(x / k) ..
Sized floorDiv(const Sized &x, int64_t k);
/// .. and the one below, extent k.
Sized mod(const Sized &x, int64_t k);

/// fuse: row-major, the last element fastest.
Sized group(llvm::ArrayRef<Sized> elements);

/// Rounds the extent up to a multiple of `k`.
Sized align(const Sized &x, int64_t k);

/// place: sum of elements times strides. The extent is that of the highest
/// position reached; strides with a negative coefficient reach downwards.
Sized place(llvm::ArrayRef<std::pair<Sized, SizeExpr>> elements);

/// xor: the swizzle of the lowest bits of the operands. `extent` is a power of
/// two, 2^62 at most; an operand is taken mod `extent`.
Sized xorOf(llvm::ArrayRef<Sized> operands, int64_t extent);

/// The extent that the value alone implies: what the functions above give
/// where nothing was padded.
SizeExpr naturalExtent(const Digit &digit);
SizeExpr naturalExtent(const IndexExpr &value);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_SIZED_H
