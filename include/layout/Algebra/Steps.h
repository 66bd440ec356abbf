//===- Steps.h - How storage changes along a dim ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A *step* along dim d goes from an index to the one that is 1 further in d. It
// changes a coordinate by some amount, and the amounts are all that strides,
// contiguous runs, vector widths and alignments are made of:
//
//     NCHW16c of 1x32x7x7, offset along c:
//       by 1        to every index that is no multiple of 16
//       by 769      to multiples of 16: -15 + 784
//     so c has no stride, its runs are of 16, and blocks of 16 channels start
//     at multiples of 16 elements
//
// Indices, runs, widths and alignments count elements. A coordinate is a
// position in `LayoutMap::getCoordinates`. `sizes` are those of the logical
// dims, kUnknownSize where dynamic; an answer then holds for all sizes, and is
// the best one that does. All answers hold for every replica.
//
// Laws:
//  * each answer is one of the normal form on the shape, so layouts that are
//    equal there have the same;
//  * nothing (std::nullopt) means that the answer is not known within the bound
//    or does not fit 64 bits. It is never a guess. Always known on static
//    shapes where the digits of each dim are its own and nest, and where the
//    dims that share a digit have at most `kMaxPoints` indices.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_STEPS_H
#define LAYOUT_ALGEBRA_STEPS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Algebra/Views.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

struct Step {
  /// What the coordinate gains.
  SizeExpr by;
  /// The greatest common divisor of the positions along the dim that are
  /// reached by such a step.
  int64_t every = 1;
};

/// Each amount once. None for a dim of at most one index.
using Steps = llvm::SmallVector<Step, 2>;

std::optional<Steps> getSteps(const LayoutMap &map, unsigned coordinate,
                              unsigned dim, Sizes sizes);

/// The stride where there is one: the only amount, and 0 where there is none.
std::optional<SizeExpr> getStride(const Steps &steps);

/// One digit as it is placed: what a dim without a stride has instead.
struct PlacedPart {
  std::string digit; // `d1 floordiv 16`
  SizeExpr extent, stride;
};
llvm::SmallVector<PlacedPart> getPlacedParts(const LayoutMap &map,
                                             unsigned coordinate, Sizes sizes);

/// Blocks of consecutive indices that start at multiples of `length` and lie
/// one after the other along a coordinate, the other coordinates being the
/// same; the last block may be shorter.
struct Run {
  /// The greatest one: all of the dim (kUnknownSize where that is dynamic), or
  /// less.
  int64_t length = 1;
  bool isWhole = false;
};

/// The run along one dim.
std::optional<Run> getRun(const LayoutMap &map, unsigned coordinate,
                          unsigned dim, Sizes sizes);

/// The run of all indices in row-major order, which counts as one dim; why
/// there is no answer goes to `error`.
std::optional<Run> getRowMajorRun(const LayoutMap &map, unsigned coordinate,
                                  Sizes sizes, Refusal error = {});

/// The greatest integer that divides the coordinate at every index whose entry
/// d is a multiple of blocks[d] (each at least 1); 0 where that is position 0
/// alone. Where sizes are dynamic, the greatest that is read off the strides.
std::optional<int64_t> getAlignment(const LayoutMap &map, unsigned coordinate,
                                    llvm::ArrayRef<int64_t> blocks,
                                    Sizes sizes);

/// The greatest power of two, `most` at most, so that blocks of as many indices
/// along the dim are runs that start at multiples of it: what one aligned
/// vector access takes. No more than the least one that holds the whole dim.
std::optional<int64_t> getVectorWidth(const LayoutMap &map, unsigned coordinate,
                                      unsigned dim, Sizes sizes, int64_t most);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_STEPS_H
