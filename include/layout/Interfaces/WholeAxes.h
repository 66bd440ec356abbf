//===- WholeAxes.h - Dims that storage keeps in one piece -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dim that is a stored axis of its own, of its own size, can be padded and
// sliced in storage as it would be in the logical tensor:
//
//   NCHW16c: n, h and w are axes 0, 2 and 3; c is cut and no axis, but whole
//   tiles of 16 channels are whole positions of axis 1.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_WHOLEAXES_H
#define LAYOUT_INTERFACES_WHOLEAXES_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir {
namespace layout {

struct WholeAxes {
  /// Per stored axis, the touched dim that it is ..
  SmallVector<std::optional<unsigned>> dimOfAxis;
  /// .. and how many indices of the dim one position of the axis holds.
  SmallVector<int64_t> divisorOfAxis;

  /// Per stored axis, the entry of its dim in such positions, rounded up;
  /// `other` for the remaining axes. Entries of dims with a divisor above 1 are
  /// constants.
  SmallVector<OpFoldResult> permute(ArrayRef<OpFoldResult> ofDims,
                                    ArrayRef<OpFoldResult> other) const;
};

/// The axes of the `touched` dims if two types store by the same map, every
/// touched dim is a whole axis, and all other dims have equal sizes. Where
/// `isDivisor(dim, divisor)` allows it, an axis of whole tiles of that many
/// indices will do.
std::optional<WholeAxes> findWholeAxes(
    RankedTensorType a, RankedTensorType b, const llvm::SmallBitVector &touched,
    function_ref<bool(unsigned dim, int64_t divisor)> isDivisor = nullptr);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTERFACES_WHOLEAXES_H
