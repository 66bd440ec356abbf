//===- EmitIndex.h - Layout maps as IR --------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The third face of L4: the numbers of a `LayoutMap` as operations on values
// of index type. Sums of digits become `affine.apply`, swizzles `arith.xori`:
//
//     buffer(i, xor(i, j : 4)), stored axes:
//       %a = arith.andi %i, %c3    %b = arith.andi %j, %c3
//       axes: %i, arith.xori %a, %b
//
// `sizes` are those of the logical dims, one each, constants where static.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_UTILS_EMITINDEX_H
#define LAYOUT_DIALECT_LAYOUT_UTILS_EMITINDEX_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/Builders.h"

namespace mlir {
namespace layout {

/// Each of `values` where dim d is dims[d].
SmallVector<Value> emitValues(OpBuilder &b, Location loc,
                              ArrayRef<IndexExpr> values, ValueRange dims,
                              ArrayRef<OpFoldResult> sizes);

/// The storage coordinates of a logical index, and its stored axes. `index` may
/// go on with the numbers of the replicas; else the first one is meant.
SmallVector<Value> emitForward(OpBuilder &b, Location loc, const LayoutMap &map,
                               ValueRange index, ArrayRef<OpFoldResult> sizes);
SmallVector<Value> emitStoredAxes(OpBuilder &b, Location loc,
                                  const LayoutMap &map, ValueRange index,
                                  ArrayRef<OpFoldResult> sizes);

/// The digits of a coordinate inside of the storage, which is row-major over
/// axes of these extents, slowest first.
SmallVector<Value> emitDigits(OpBuilder &b, Location loc, Value coordinate,
                              ArrayRef<OpFoldResult> extents);

struct EmittedIndex {
  SmallVector<Value> index; // logical
  /// i1: the position holds an element, not padding. Null where it always does.
  Value isElement;
};

/// The logical index at a position given by its stored axes. Fails, emitting
/// nothing, where the map has no inverse by construction on `shape`. The check
/// for padding is emitted only if asked for.
FailureOr<EmittedIndex>
emitBackward(OpBuilder &b, Location loc, const LayoutMap &map,
             ArrayRef<int64_t> shape, ValueRange position,
             ArrayRef<OpFoldResult> sizes, bool checkPadding);

/// The same at a storage point given by its coordinates, which may be any
/// numbers: outside of the storage there is no element.
FailureOr<EmittedIndex> emitBackwardOfPoint(OpBuilder &b, Location loc,
                                            const LayoutMap &map,
                                            ArrayRef<int64_t> shape,
                                            ValueRange point,
                                            ArrayRef<OpFoldResult> sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_DIALECT_LAYOUT_UTILS_EMITINDEX_H
