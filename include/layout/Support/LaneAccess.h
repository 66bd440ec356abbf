//===- LaneAccess.h - What a vector along a loop touches --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are emitted, and ops priced, by the same answer to the question
// whether a loop can be put on the lanes of vectors.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_LANEACCESS_H
#define LAYOUT_SUPPORT_LANEACCESS_H

#include "mlir/IR/AffineMap.h"

namespace mlir {
namespace layout {

/// How `map`, from loops to the index of a row-major tensor, moves when loop
/// `dim` advances by one: not at all, to the next element, or elsewhere.
enum class LaneAccess { Invariant, Contiguous, Other };

inline LaneAccess classifyLane(AffineMap map, unsigned dim) {
  if (!map.isFunctionOfDim(dim))
    return LaneAccess::Invariant;
  for (AffineExpr result : map.getResults().drop_back())
    if (result.isFunctionOfDim(dim))
      return LaneAccess::Other;
  AffineExpr rest = simplifyAffineExpr(
      map.getResults().back() - getAffineDimExpr(dim, map.getContext()),
      map.getNumDims(), map.getNumSymbols());
  return rest.isFunctionOfDim(dim) ? LaneAccess::Other : LaneAccess::Contiguous;
}

/// Parts of a result take a few steps to combine: fewer are not worth lanes.
inline constexpr int64_t kLeastLaneParts = 4;

/// Whether the lanes of vectors along the reduction `dim` can each accumulate a
/// part of a result, as far as `maps`, those of its op, go.
template <typename Range> bool canHoldParts(Range &&maps, unsigned dim) {
  bool isRead = false;
  for (AffineMap map : maps) {
    LaneAccess access = classifyLane(map, dim);
    if (access == LaneAccess::Other)
      return false;
    isRead |= access == LaneAccess::Contiguous;
  }
  return isRead;
}

/// How many dims a tensor has up to the last one with more than one position:
/// what comes behind does not keep neighbors apart.
inline unsigned countDimsThatMove(ArrayRef<int64_t> shape) {
  while (shape.size() > 1 && shape.back() == 1)
    shape = shape.drop_back();
  return shape.size();
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_LANEACCESS_H
