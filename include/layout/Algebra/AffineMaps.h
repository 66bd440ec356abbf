//===- AffineMaps.h - Layout maps as affine maps ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The second face of L4: the numbers of `LayoutMap` as `AffineMap`s, from
// which IR is emitted. Dims are logical indices; there is one symbol for the
// size of every dynamic dim, in the order of the dims, and the map is then
// semi-affine:
//
//     NCHW16c of ?x32x7x7:
//       (d0, d1, d2, d3)[s0] -> (d0, d1 floordiv 16, d2, d3, d1 mod 16)
//
// Swizzles have no affine form: what would need one is null. The forward maps
// of replicated layouts lead to the first replica.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_AFFINEMAPS_H
#define LAYOUT_ALGEBRA_AFFINEMAPS_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/AffineMap.h"

namespace mlir {
namespace layout {

/// `size` with size(d) replaced by sizeOf[d].
AffineExpr toAffineExpr(const SizeExpr &size, llvm::ArrayRef<AffineExpr> sizeOf,
                        MLIRContext *context);

/// Whether no stride and no constant in `value` depends on a size, and where
/// swizzles have no expression that stands for them, nothing is swizzled.
bool isAffine(const IndexExpr &value, bool hasSwizzleExprs = false);

/// Makes an expression that stands for a swizzle.
using SwizzleToExpr = llvm::function_ref<AffineExpr(const Swizzle &)>;

/// `value` with dim d replaced by dims[d] and size(d) by sizeOf[d]; null where
/// it is swizzled and nothing stands for that.
AffineExpr toAffineExpr(const IndexExpr &value, llvm::ArrayRef<AffineExpr> dims,
                        llvm::ArrayRef<AffineExpr> sizeOf, MLIRContext *context,
                        SwizzleToExpr swizzleToExpr = nullptr);

/// An index expression as a sum of digits, dim d being dims[d]; nothing for
/// symbols and for divisors that are not positive constants. `sizes` are what
/// is known of the dims that `dims` speak of.
std::optional<IndexExpr> fromAffineExpr(AffineExpr expr,
                                        llvm::ArrayRef<IndexExpr> dims,
                                        Sizes sizes = {});

/// size(d) as an expression: a constant, or the symbol of a dynamic dim.
llvm::SmallVector<AffineExpr> getSizeExprs(Sizes sizes, MLIRContext *context);

/// Logical index -> storage coordinates.
AffineMap getForwardMap(const LayoutMap &map, Sizes sizes,
                        MLIRContext *context);

/// Logical index -> values of the stored axes.
AffineMap getAxesMap(const LayoutMap &map, Sizes sizes, MLIRContext *context);

/// Every dim, replicas after the logical ones, as a sum of digits of the stored
/// axes. Nothing where no formula exists by construction.
std::optional<std::vector<IndexExpr>> getBackwardValues(const LayoutMap &map,
                                                        Sizes sizes);

/// Values of the stored axes -> logical index, for points that are not
/// padding. Null where no formula exists by construction. With dynamic sizes
/// the axes of `map` itself are meant, as in `getAxesMap`.
AffineMap getBackwardMap(const LayoutMap &map, Sizes sizes,
                         MLIRContext *context);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_AFFINEMAPS_H
