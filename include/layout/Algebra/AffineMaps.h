//===- AffineMaps.h - Layout maps as affine maps ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts the values of a `LayoutMap` to `AffineMap`s, from which IR is
// emitted (L4 of docs/spec.md). Dims are logical indices. Each dynamic dim has
// one symbol for its size, in the order of the dims; the map is then
// semi-affine:
//
//     NCHW16c of ?x32x7x7:
//       (d0, d1, d2, d3)[s0] -> (d0, d1 floordiv 16, d2, d3, d1 mod 16)
//
// Swizzles have no affine form: functions return null for maps with swizzles.
// The forward maps of replicated layouts map to the first replica.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_AFFINEMAPS_H
#define LAYOUT_ALGEBRA_AFFINEMAPS_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::layout {

/// Converts `size`, a polynomial in sizes of dims, to an expression in which
/// sizeOf[d] replaces size(d), the size of dim d. It is never null. A product
/// of two sizes becomes the product of their expressions, which is affine only
/// if one of these is a constant.
AffineExpr toAffineExpr(const SizeExpr &size, llvm::ArrayRef<AffineExpr> sizeOf,
                        MLIRContext *context);

/// Returns true if `value` is affine in the indices: no stride or constant in
/// it depends on the size of a dim. A value with a swizzle, an xor of digits,
/// is affine only if `hasSwizzleExprs`.
bool isAffine(const IndexExpr &value, bool hasSwizzleExprs = false);

/// A callback that returns an affine expression to stand for the value of a
/// swizzle, an xor of digits, which is not affine. If it returns null, the
/// value that has the swizzle is not converted.
using SwizzleToExpr = llvm::function_ref<AffineExpr(const Swizzle &)>;

/// Converts `value` to an affine expression in which dims[d] replaces dim d and
/// sizeOf[d] the size of dim d. If `value` has a swizzle and there is no
/// callback, or the callback returns null, returns null.
AffineExpr toAffineExpr(const IndexExpr &value, llvm::ArrayRef<AffineExpr> dims,
                        llvm::ArrayRef<AffineExpr> sizeOf, MLIRContext *context,
                        SwizzleToExpr swizzleToExpr = nullptr);

/// Converts an affine expression to a sum of digits, in which dims[d] replaces
/// dim d. Returns std::nullopt for symbols, for ceildiv, for products of two
/// non-constants, and for divisors that are not positive constants. `sizes` are
/// the known sizes of the dims that occur in `dims`.
std::optional<IndexExpr> fromAffineExpr(AffineExpr expr,
                                        llvm::ArrayRef<IndexExpr> dims,
                                        Sizes sizes = {});

/// Returns one affine expression per size: a constant, or, for each dynamic
/// size in order, the next symbol s0, s1, ..
llvm::SmallVector<AffineExpr> getSizeExprs(Sizes sizes, MLIRContext *context);

/// Returns the affine map from logical indices to storage coordinates, those of
/// replica 0 if there are several. If `map` has a swizzle, returns null.
AffineMap getForwardMap(const LayoutMap &map, Sizes sizes,
                        MLIRContext *context);

/// Returns the affine map from logical indices to the values of the stored
/// axes, those of replica 0 if there are several. If `map` has a swizzle,
/// returns null.
AffineMap getAxesMap(const LayoutMap &map, Sizes sizes, MLIRContext *context);

/// Inverts `map`: returns every dim, logical dims before replicas, as a sum of
/// digits of the stored axes. Returns std::nullopt if no such formula is found
/// for some dim.
std::optional<std::vector<IndexExpr>> getBackwardValues(const LayoutMap &map,
                                                        Sizes sizes);

/// Returns the affine map from values of the stored axes of `map` to the
/// logical index, for points that are not padding. Returns a null map if no
/// formula of the axes is found for some dim, or if the formula has a swizzle.
AffineMap getBackwardMap(const LayoutMap &map, Sizes sizes,
                         MLIRContext *context);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_AFFINEMAPS_H
