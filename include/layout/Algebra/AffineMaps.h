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

/// Converts `size` to an affine expression, with sizeOf[d] for size(d).
AffineExpr toAffineExpr(const SizeExpr &size, llvm::ArrayRef<AffineExpr> sizeOf,
                        MLIRContext *context);

/// Returns true if no stride or constant in `value` depends on a size. Swizzles
/// are allowed only if `hasSwizzleExprs`.
bool isAffine(const IndexExpr &value, bool hasSwizzleExprs = false);

/// A callback that returns the expression for a swizzle.
using SwizzleToExpr = llvm::function_ref<AffineExpr(const Swizzle &)>;

/// Converts `value`, with dims[d] for dim d and sizeOf[d] for size(d). Returns
/// null if `value` has a swizzle and there is no callback.
AffineExpr toAffineExpr(const IndexExpr &value, llvm::ArrayRef<AffineExpr> dims,
                        llvm::ArrayRef<AffineExpr> sizeOf, MLIRContext *context,
                        SwizzleToExpr swizzleToExpr = nullptr);

/// Converts an affine expression to a sum of digits, with dims[d] for dim d.
/// Returns std::nullopt for symbols and for divisors that are not positive
/// constants. `sizes` are the known sizes of the dims that occur in `dims`.
std::optional<IndexExpr> fromAffineExpr(AffineExpr expr,
                                        llvm::ArrayRef<IndexExpr> dims,
                                        Sizes sizes = {});

/// Returns each size as an expression: a constant, or the symbol of a dynamic
/// dim.
llvm::SmallVector<AffineExpr> getSizeExprs(Sizes sizes, MLIRContext *context);

/// Returns the map from logical indices to storage coordinates.
AffineMap getForwardMap(const LayoutMap &map, Sizes sizes,
                        MLIRContext *context);

/// Returns the map from logical indices to the values of the stored axes.
AffineMap getAxesMap(const LayoutMap &map, Sizes sizes, MLIRContext *context);

/// Returns every dim, logical dims before replicas, as a sum of digits of the
/// stored axes, or std::nullopt if no formula exists by construction.
std::optional<std::vector<IndexExpr>> getBackwardValues(const LayoutMap &map,
                                                        Sizes sizes);

/// Returns the map from values of the stored axes to the logical index, for
/// points that are not padding, or null if no formula exists by construction.
/// If sizes are dynamic, the axes are those of `map`, as in `getAxesMap`.
AffineMap getBackwardMap(const LayoutMap &map, Sizes sizes,
                         MLIRContext *context);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_AFFINEMAPS_H
