//===- WholeAxes.h - Dims stored as whole axes ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dim that is a stored axis of its own size can be padded and sliced in
// storage like in the logical tensor:
//
//   NCHW16c: n, h and w are axes 0, 2 and 3; c is divided and not an axis, but
//   whole tiles of 16 channels are whole positions of axis 1.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_WHOLEAXES_H
#define LAYOUT_INTERFACES_WHOLEAXES_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::layout {

struct WholeAxes {
  /// Per stored axis, the touched dim (one that is padded or sliced) whose
  /// indices, or whole tiles of these, are its positions; std::nullopt for
  /// other axes.
  SmallVector<std::optional<unsigned>> dimOfAxis;
  /// Per stored axis, the number of indices of `dimOfAxis` in one position: the
  /// tile size, or 1 if the dim is not tiled or the axis has no touched dim.
  SmallVector<int64_t> divisorOfAxis;

  /// Converts numbers per dim, e.g. sizes, to numbers per stored axis: that of
  /// its touched dim, divided by its divisor and rounded up, or else the entry
  /// of the axis in `other`. Numbers of dims with a divisor above 1 must be
  /// constants.
  SmallVector<OpFoldResult> permute(ArrayRef<OpFoldResult> ofDims,
                                    ArrayRef<OpFoldResult> other) const;
};

/// Finds the stored axes of the `touched` dims. Returns std::nullopt unless
/// both types have the same map without replicas, each touched dim is an axis
/// of its own, and all other dims have equal sizes. An axis of tiles of
/// `divisor` > 1 indices is accepted only if `isDivisor` is not null and
/// isDivisor(dim, divisor) returns true.
std::optional<WholeAxes> findWholeAxes(
    RankedTensorType a, RankedTensorType b, const llvm::SmallBitVector &touched,
    function_ref<bool(unsigned dim, int64_t divisor)> isDivisor = nullptr);

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_WHOLEAXES_H
