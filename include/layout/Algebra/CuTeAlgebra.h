//===- CuTeAlgebra.h - Layouts as functions of one integer ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CuTe reads a layout as a function from 0 .. size - 1 to offsets: index k is
// spread over the dims, the *first* one fastest. Its algebra is then one of
// functions, and here it is one of maps with the coordinate `offset` alone, on
// static shapes, swizzles included:
//
//     A = (4,2):(1,5), that is offset = d0 + 5 * d1 on 4x2
//       coalesce      k mod 4 + 5 * (k floordiv 4) on 8
//       left inverse  k mod 5 + 4 * (k floordiv 5) on 9: 0 1 2 3 . 4 5 6 7
//       complement    none: its 4 offsets of 5 leave a hole that nothing fills
//     (2,2):(1,6) has in 12 the complement (3):(2), and 12:1 divided by 3:4 is
//     (3,4):(4,1)
//
// Where CuTe's modes nest, a mode is one dim here whose digits are its leaves.
// A result is any map of integers; it is a layout of a tensor where it is
// injective. Extents of results end with the highest offset.
//
// Laws, at every index:
//  * coalesce(A)(k) = A(k), on one dim;
//  * composition(A, B)(i) = A(B(i)), on the shape of B;
//  * complement(A, n) = B increases from B(0) = 0, and A(a) + B(b) takes each
//    of 0 .. m - 1 exactly once, m being the least such number that is n or
//    more;
//  * leftInverse(A)(A(k)) = k;  A(rightInverse(A)(k)) = k, for the most k that
//    begin with 0 and are all offsets of A;
//  * of a division of A by tiles B, with C = complement(B, size(A)):
//    (i, j) is A(B(i) + C(j)); of a product, with C = complement(A, size(A) *
//    (last offset of B + 1)): (i, j) is A(i) + C(B(j)).
//
// What has no answer, or none that is found by construction, is a "no" with its
// reason, as in Views.h.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_CUTEALGEBRA_H
#define LAYOUT_ALGEBRA_CUTEALGEBRA_H

#include "layout/Algebra/Views.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

/// A map in linear memory on a static shape.
struct IntegerLayout {
  LayoutMap map;
  llvm::SmallVector<int64_t> shape;
};

using IntegerLayoutOr = std::optional<IntegerLayout>;

/// The same function on one dim.
IntegerLayoutOr coalesce(const IntegerLayout &a, Refusal error = {});

/// First b, then a. The offsets of b are indices of a.
IntegerLayoutOr composition(const IntegerLayout &a, const IntegerLayout &b,
                            Refusal error = {});

/// What fills the offsets 0 to size - 1 around those of `a`, on one dim.
IntegerLayoutOr complement(const IntegerLayout &a, int64_t size,
                           Refusal error = {});

/// From offsets back to indices: of all offsets up to the highest one, where
/// those that `a` does not use give any integer ..
IntegerLayoutOr leftInverse(const IntegerLayout &a, Refusal error = {});
/// .. and of the offsets from 0 on that `a` uses without a gap.
IntegerLayoutOr rightInverse(const IntegerLayout &a, Refusal error = {});

/// A tile for each dim of `a`, whose complement in the size of the dim exists
/// and fills just that size. Results differ in how they group dims, of which a
/// tile and its rest are T and R for each dim; what is grouped is one dim, the
/// first member fastest.
enum class DivideForm {
  Flat,    // T0, T1, .., R0, R1, ..
  Logical, // (T0, R0), (T1, R1), ..
  Zipped,  // (T0, T1, ..), (R0, R1, ..)
  Tiled,   // (T0, T1, ..), R0, R1, ..
};
IntegerLayoutOr divide(const IntegerLayout &a,
                       llvm::ArrayRef<IntegerLayout> tiles, DivideForm form,
                       Refusal error = {});

/// The same of `a` as a whole: two dims, the index in the tile and the tile.
IntegerLayoutOr logicalDivide(const IntegerLayout &a, const IntegerLayout &tile,
                              Refusal error = {});

/// `a`, repeated as `b` says: two dims, the index in `a` and the repetition.
IntegerLayoutOr logicalProduct(const IntegerLayout &a, const IntegerLayout &b,
                               Refusal error = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_CUTEALGEBRA_H
