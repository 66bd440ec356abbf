//===- Steps.h - Strides, runs and alignments -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A *step* along dim d goes from an index to its successor in d. It changes a
// coordinate by some amount. Strides, contiguous runs, vector widths and
// alignments are derived from these amounts:
//
//     NCHW16c of 1x32x7x7, offset along c:
//       by 1        to every index that is not a multiple of 16
//       by 769      to multiples of 16: -15 + 784
//     so c has no stride, its runs have length 16, and blocks of 16 channels
//     start at multiples of 16 elements
//
// Indices, runs, widths and alignments count elements. `coordinate` is a
// position in `LayoutMap::getCoordinates`. `sizes` are those of the logical
// dims, kUnknownSize if dynamic. An answer then holds for all sizes, and is the
// best one that does. Answers hold for every replica.
//
// Laws:
//  * each answer is computed from the normal form on the shape, so that layouts
//    that are equal there have the same answer;
//  * std::nullopt means that the answer is not known within the bound or does
//    not fit 64 bits. On static shapes the answer is always known if the
//    mixed-radix digits of each dim depend on no other dim and nest, and
//    otherwise if the dims that share a digit have at most `kMaxPoints`
//    indices.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_STEPS_H
#define LAYOUT_ALGEBRA_STEPS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Algebra/Views.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

struct Step {
  /// The increment of a coordinate when the index along a dim grows by one.
  SizeExpr by;
  /// The greatest common divisor of all indices of the dim that a step of this
  /// increment reaches, e.g. 16 for the steps into a new block of 16.
  int64_t every = 1;
};

/// The steps along a dim from each index to the next, one entry per increment
/// of a coordinate. Empty if the dim has at most one index.
using Steps = llvm::SmallVector<Step, 2>;

std::optional<Steps> getSteps(const LayoutMap &map, unsigned coordinate,
                              unsigned dim, Sizes sizes);

/// Returns the stride: the only increment, or 0 if there are no steps. Returns
/// std::nullopt if there are several increments.
std::optional<SizeExpr> getStride(const Steps &steps);

/// A digit of a coordinate, as text, with its extent and stride. A list of
/// these describes a coordinate in which a dim has no single stride.
struct PlacedPart {
  std::string digit; // `d1 floordiv 16`
  SizeExpr extent, stride;
};
llvm::SmallVector<PlacedPart> getPlacedParts(const LayoutMap &map,
                                             unsigned coordinate, Sizes sizes);

/// Blocks of consecutive indices of one dim that start at multiples of
/// `length`. In a block, one coordinate increases by 1 per index, and the other
/// coordinates are constant. The last block may be shorter.
struct Run {
  /// The maximal length of the blocks, in indices: the size of the dim
  /// (kUnknownSize if dynamic) if `isWhole`, or less.
  int64_t length = 1;
  bool isWhole = false;
};

/// Returns the longest run (see Run) of indices of `dim` along the coordinate,
/// or std::nullopt if it is not known.
std::optional<Run> getRun(const LayoutMap &map, unsigned coordinate,
                          unsigned dim, Sizes sizes);

/// Returns the longest run along the coordinate of all indices in row-major
/// order, as if they were one dim. Returns std::nullopt if it is not known, and
/// reports to `error` if that is because the dims cannot be fused.
std::optional<Run> getRowMajorRun(const LayoutMap &map, unsigned coordinate,
                                  Sizes sizes, FailureReason error = {});

/// Returns the greatest integer that divides the coordinate at every index
/// whose entry d is a multiple of blocks[d] >= 1, or 0 if no position but 0 is
/// reached. If sizes are dynamic, returns the greatest divisor that the strides
/// prove. Returns std::nullopt if the increments of the coordinate are not
/// known.
std::optional<int64_t> getAlignment(const LayoutMap &map, unsigned coordinate,
                                    llvm::ArrayRef<int64_t> blocks,
                                    Sizes sizes);

/// Returns the largest power of two w <= `most` such that blocks of w indices
/// along the dim are runs that start at multiples of w, i.e. fit one aligned
/// vector access. It is at most the size of the dim, rounded up to a power of
/// two. Returns std::nullopt if the runs or their alignment are not known.
std::optional<int64_t> getVectorWidth(const LayoutMap &map, unsigned coordinate,
                                      unsigned dim, Sizes sizes, int64_t most);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_STEPS_H
