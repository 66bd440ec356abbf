//===- EmitIndex.h - Layout maps as IR --------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a `LayoutMap` as operations on values of index type (L4 of
// docs/spec.md). Sums of mixed-radix digits become `affine.apply`, swizzles
// `arith.xori`:
//
//     buffer(i, xor(i, j : 4)), stored axes:
//       %a = arith.andi %i, %c3    %b = arith.andi %j, %c3
//       axes: %i, arith.xori %a, %b
//
// `sizes` are the sizes of the logical dims, one each; static sizes are
// constants.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_UTILS_EMITINDEX_H
#define LAYOUT_DIALECT_LAYOUT_UTILS_EMITINDEX_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/Builders.h"

namespace mlir::layout {

/// Emits the value of each expression in `values` at the index `dims`: dims[d]
/// is the index along dim d. `sizes` has the size of each dim.
SmallVector<Value> emitValues(OpBuilder &b, Location loc,
                              ArrayRef<IndexExpr> values, ValueRange dims,
                              ArrayRef<OpFoldResult> sizes);

/// Emits the storage coordinates of a logical index of a tensor of the given
/// `sizes`. `index` may have one more entry per replica dim; missing entries
/// select the first replica.
SmallVector<Value> emitForward(OpBuilder &b, Location loc, const LayoutMap &map,
                               ValueRange index, ArrayRef<OpFoldResult> sizes);

/// Emits the position of a logical index along each stored axis of `map`.
/// `index` may have one more entry per replica dim, as in `emitForward`.
SmallVector<Value> emitStoredAxes(OpBuilder &b, Location loc,
                                  const LayoutMap &map, ValueRange index,
                                  ArrayRef<OpFoldResult> sizes);

/// Splits `coordinate`, a row-major number over axes of the given `extents`,
/// slowest first, and emits its index along each axis.
SmallVector<Value> emitDigits(OpBuilder &b, Location loc, Value coordinate,
                              ArrayRef<OpFoldResult> extents);

/// A logical index that was emitted for a storage position.
struct EmittedIndex {
  SmallVector<Value> index; // one value per logical dim
  /// An i1 that is true if the position holds an element, not padding. It is a
  /// null value if no check is emitted.
  Value isElement;
};

/// Emits the logical index of the element whose position along each stored axis
/// of `map` is given by `position`. Emits the padding check only if
/// `checkPadding`. Returns failure, with nothing emitted, if the inverse of the
/// map on `shape` has no formula.
FailureOr<EmittedIndex>
emitBackward(OpBuilder &b, Location loc, const LayoutMap &map,
             ArrayRef<int64_t> shape, ValueRange position,
             ArrayRef<OpFoldResult> sizes, bool checkPadding);

/// Emits the logical index of the element at a storage point, given by one
/// coordinate each in `point`, and the padding check. The coordinates may be
/// arbitrary: `isElement` is false outside of the storage. Returns failure,
/// with nothing emitted, if the inverse of the map on `shape` has no formula.
FailureOr<EmittedIndex> emitBackwardOfPoint(OpBuilder &b, Location loc,
                                            const LayoutMap &map,
                                            ArrayRef<int64_t> shape,
                                            ValueRange point,
                                            ArrayRef<OpFoldResult> sizes);

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_UTILS_EMITINDEX_H
