//===- CuTeAlgebra.h - CuTe's algebra of integer layouts --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CuTe treats a layout as a function from 0 .. size - 1 to offsets: index k is
// split into the dims, the *first* one fastest. These operations are those of
// CuTe's algebra, for maps with the single coordinate `offset` on static
// shapes, swizzles included:
//
//     A = (4,2):(1,5), i.e. offset = d0 + 5 * d1 on 4x2
//       coalesce      k mod 4 + 5 * (k floordiv 4) on 8
//       left inverse  k mod 5 + 4 * (k floordiv 5) on 9: 0 1 2 3 . 4 5 6 7
//       complement    none: the hole between its 4 offsets of 5 stays empty
//     (2,2):(1,6) has the complement (3):(2) in 12, and 12:1 divided by 3:4
//     is (3,4):(4,1)
//
// A nested mode of CuTe is one dim here, whose digits are the leaves. A result
// is an arbitrary integer map; it is a tensor layout only if it is injective.
// Extents of results end at the highest offset.
//
// Laws, at every index:
//  * coalesce(A)(k) = A(k), on one dim;
//  * composition(A, B)(i) = A(B(i)), on the shape of B;
//  * complement(A, n) = B increases from B(0) = 0, and A(a) + B(b) takes each
//    value of 0 .. m - 1 exactly once, where m is the least possible number
//    >= n;
//  * leftInverse(A)(A(k)) = k;  A(rightInverse(A)(k)) = k for the maximal
//    range of k from 0 in which every k is an offset of A;
//  * for a division of A by tiles B, with C = complement(B, size(A)):
//    (i, j) maps to A(B(i) + C(j)); for a product, with C = complement(A,
//    size(A) * (last offset of B + 1)): (i, j) maps to A(i) + C(B(j)).
//
// If no result exists, or none is found by construction, a function returns
// std::nullopt and reports the reason, as in Views.h.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_CUTEALGEBRA_H
#define LAYOUT_ALGEBRA_CUTEALGEBRA_H

#include "layout/Algebra/Views.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// A map from indices of a static shape to offsets in linear memory.
struct IntegerLayout {
  LayoutMap map;
  llvm::SmallVector<int64_t> shape;
};

using IntegerLayoutOr = std::optional<IntegerLayout>;

/// Fuses all dims of `a` to one, the first dim fastest. The result maps each
/// number below the size of `a` to an offset of `a`.
IntegerLayoutOr coalesce(const IntegerLayout &a, FailureReason error = {});

/// Returns the layout i -> a(b(i)) on the shape of `b`. All dims of `a` are
/// first fused to one, the first dim fastest. Fails unless every offset of `b`
/// is proven to be an index of `a`, from 0 to its size - 1.
IntegerLayoutOr composition(const IntegerLayout &a, const IntegerLayout &b,
                            FailureReason error = {});

/// Returns the layout b of one dim such that a(i) + b(j) takes each value below
/// m exactly once, for the least possible m that is at least `size`. Fails if
/// there is no such layout or none is known.
IntegerLayoutOr complement(const IntegerLayout &a, int64_t size,
                           FailureReason error = {});

/// Returns the left inverse: maps every offset up to the highest one of `a` to
/// the index of `a`, coalesced to one dim, that has this offset. Values at
/// offsets that `a` does not have are unspecified. Fails if no formula of the
/// index is found.
IntegerLayoutOr leftInverse(const IntegerLayout &a, FailureReason error = {});
/// Returns the right inverse: maps each offset k < n to the index of `a`,
/// coalesced to one dim, with this offset. n is the largest number such that
/// `a` has all offsets below n. Fails if `a` does not have offset 0, if no
/// formula of the index is found, or if finding n takes a search beyond 2^20
/// offsets.
IntegerLayoutOr rightInverse(const IntegerLayout &a, FailureReason error = {});

/// The grouping of the result dims of divide(): each dim becomes a tile T and a
/// rest R. A group (..) is one dim of the result, its first member fastest.
enum class DivideForm {
  Flat,    // T0, T1, .., R0, R1, ..
  Logical, // (T0, R0), (T1, R1), ..
  Zipped,  // (T0, T1, ..), (R0, R1, ..)
  Tiled,   // (T0, T1, ..), R0, R1, ..
};
/// Splits each dim d of `a` by tiles[d], a layout of the indices in one tile,
/// into the index in the tile and the number of the tile: 12:1 by 3:4 is
/// (3,4):(4,1). Fails if the tile and its complement do not cover the dim
/// exactly.
IntegerLayoutOr divide(const IntegerLayout &a,
                       llvm::ArrayRef<IntegerLayout> tiles, DivideForm form,
                       FailureReason error = {});

/// Coalesces `a` to one dim and splits it by `tile`, a layout of the indices in
/// one tile. Dim 0 of the result is the index in the tile, dim 1 the number of
/// the tile. Fails if the tile and its complement do not cover the dim exactly.
IntegerLayoutOr logicalDivide(const IntegerLayout &a, const IntegerLayout &tile,
                              FailureReason error = {});

/// Repeats `a` once per index of `b`. Dim 0 of the result is the index in `a`,
/// dim 1 the index in `b`. Copy j is shifted by C(b(j)), where C is
/// complement(a, size of `a` * (highest offset of `b` + 1)). Fails if C is not
/// known or an offset does not fit int64.
IntegerLayoutOr logicalProduct(const IntegerLayout &a, const IntegerLayout &b,
                               FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_CUTEALGEBRA_H
