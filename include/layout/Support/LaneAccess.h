//===- LaneAccess.h - Access patterns of vectorized loops -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides if a loop can be vectorized, and has the sizes of Winograd's
// transforms. Kernel emission and cost models use the same functions and
// constants, so that their answers agree.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_LANEACCESS_H
#define LAYOUT_SUPPORT_LANEACCESS_H

#include "mlir/IR/AffineMap.h"
#include <optional>

namespace mlir::layout {

/// The distance between the elements of a row-major tensor that an op accesses
/// in two consecutive iterations of a loop. It is 0 (Invariant), 1
/// (Contiguous), 2 to 4 within one row, which shuffles can collect (Strided),
/// or anything else (Other).
enum class LaneAccess { Invariant, Contiguous, Strided, Other };

/// The largest distance in elements between vector lanes that are loaded as
/// contiguous vectors and collected by shuffles. Beyond it, collecting takes
/// more shuffles than each loaded vector has used elements.
inline constexpr int64_t kMostLaneStride = 4;

/// Returns the distance in elements between neighboring lanes along `dim` in
/// the tensor that `map` indexes, 0 if `map` does not depend on `dim`. Returns
/// std::nullopt if the lanes are not in one row, or if their distance is
/// negative or above kMostLaneStride, so that shuffles cannot collect them.
inline std::optional<int64_t> findLaneStride(AffineMap map, unsigned dim) {
  if (!map.isFunctionOfDim(dim))
    return 0;
  for (AffineExpr result : map.getResults().drop_back())
    if (result.isFunctionOfDim(dim))
      return std::nullopt;
  AffineExpr lane = getAffineDimExpr(dim, map.getContext());
  for (int64_t stride = 1; stride <= kMostLaneStride; ++stride)
    if (!simplifyAffineExpr(map.getResults().back() - lane * stride,
                            map.getNumDims(), map.getNumSymbols())
             .isFunctionOfDim(dim))
      return stride;
  return std::nullopt;
}

inline LaneAccess classifyLane(AffineMap map, unsigned dim) {
  std::optional<int64_t> stride = findLaneStride(map, dim);
  if (!stride)
    return LaneAccess::Other;
  return *stride == 0   ? LaneAccess::Invariant
         : *stride == 1 ? LaneAccess::Contiguous
                        : LaneAccess::Strided;
}

/// The least number of vector lanes, and of iterations, with which a reduction
/// loop is vectorized by partial sums: combining the lanes at the end takes a
/// few steps.
inline constexpr int64_t kLeastLaneParts = 4;

/// The least number of vectors in a reduction loop with which it is vectorized
/// in preference to a parallel loop with strided accesses. With fewer,
/// combining the lanes at the end takes about as long as the sums.
inline constexpr int64_t kLeastLaneVectors = 2;

/// Returns true if vector lanes along the reduction `dim` can accumulate
/// partial results of an op with the indexing maps `maps`: each access is
/// Invariant or Contiguous along `dim`, and at least one is Contiguous.
template <typename Range>
bool canVectorizeReduction(Range &&maps, unsigned dim) {
  bool isRead = false;
  for (AffineMap map : maps) {
    LaneAccess access = classifyLane(map, dim);
    if (access == LaneAccess::Other || access == LaneAccess::Strided)
      return false;
    isRead |= access == LaneAccess::Contiguous;
  }
  return isRead;
}

/// Returns the number of dims of `shape` without trailing dims of size 1, but
/// at least 1 unless the rank is 0. Trailing unit dims do not separate
/// neighboring elements.
inline unsigned countDimsThatMove(ArrayRef<int64_t> shape) {
  while (shape.size() > 1 && shape.back() == 1)
    shape = shape.drop_back();
  return shape.size();
}

/// The results along each axis of one tile of Winograd's transforms, which are
/// F(2x2, 3x3).
inline constexpr int64_t kWinogradResults = 2;
/// The elements of a transformed tile and of a transformed filter, in each of
/// which input channels are multiplied and summed.
inline constexpr int64_t kWinogradElements = 16;
/// The vector steps, a store and an addition each, that transform a tile of one
/// input channel, or the products of one filter.
inline constexpr int64_t kWinogradSteps = 32;

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_LANEACCESS_H
