//===- Winograd.h - Convolutions with fewer multiplications -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements Winograd's F(2x2, 3x3). A convolution with 3x3 windows of stride 1
// computes four neighboring results from the 4x4 places d that they read as
//
//   A^T ((G g G^T) * (B^T d B)) A
//
// where * multiplies elements, summed over the channels: 16 multiplications
// instead of 36 for four results. G g G^T is computed here, from constant
// filters g. The sums over channels are 16 matrix products, tiles by channels
// times channels by filters, which take nearly all of the time.
//
//   for strips of tiles
//     for channels, tiles           V = B^T d B
//     for blocks of filters, of the lanes of a register tile
//       for 16 places, tiles        M = V times the filters, in registers
//       for tiles                   results = A^T M A, finished
//
// V and M of a strip stay in L2. Rows, columns and batches may be dynamic. All
// strips then have one length, a multiple of the register tile, and the
// smallest of a few loops that has enough tiles computes the remainder.
//
// In f32, the transforms only add, and halve filters. The order of additions
// differs, and results do by a few units in the last place of the largest sum.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_WINOGRAD_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_WINOGRAD_H

#include "Emitters/KernelEmitter.h"

namespace mlir::layout {

struct WinogradPlan {
  /// The numbers of the root's inputs that are the image and the filter.
  unsigned image, filter;
  /// For rows or columns: the parallel kernel dim of their positions in the
  /// result (`place`), and the reduction dim of the 3x3 window.
  struct Axis {
    unsigned place, window;
  };
  SmallVector<Axis, 2> axes;
  /// The other dims of more than one position, except that of the lanes:
  /// `batches` are the parallel dims of the image, `filters` those of the
  /// filter, and `channels` the reductions. The last of `channels` is
  /// contiguous in the image.
  SmallVector<unsigned> batches, filters, channels;
  /// The number of filters in one register tile, which are on vector lanes.
  int64_t lanes;
  /// Numbers of tiles, each with 2x2 results: in one image, or kDynamic; in a
  /// strip, i.e. transformed together, or the maximum for dynamic images; and
  /// in registers at a time.
  int64_t tiles, strip, step;
  /// For a dynamic image, the numbers of tiles that the loops for the remainder
  /// of a strip compute, in ascending order; empty for a static one. The
  /// remainder has less than `step` tiles. The smallest loop with enough tiles
  /// computes it, and computes unused tiles, too, if it has more. The largest
  /// one has `step` tiles, so that there always is such a loop.
  SmallVector<int64_t> rests;
};

/// Returns the product of the extents of `dims`, which must be static.
int64_t countPositions(const Kernel &kernel, ArrayRef<unsigned> dims);

/// Plans a kernel by Winograd's transforms. Returns std::nullopt if it is not a
/// 3x3 convolution with stride 1 and constant filters, if channels or filters
/// are not whole vectors, or if that is not expected to be faster than `plan`.
std::optional<WinogradPlan> planWinograd(const Kernel &kernel,
                                         const KernelPlan &plan,
                                         const CpuModelParams &target);

/// Returns the transformed filters as a tensor of blocks of filters, 16
/// elements of a transformed 3x3 filter, input channels, and filters of a
/// block. The last are the lanes of a register tile.
ElementsAttr transformFilters(const Kernel &kernel, const KernelPlan &plan,
                              const WinogradPlan &winograd);

/// Emits the kernel as transforms and 16 matrix products, and returns the new
/// results of its last stage.
SmallVector<Value> emitWinograd(OpBuilder &builder, const Kernel &kernel,
                                const KernelPlan &plan,
                                const WinogradPlan &winograd,
                                const EmitOptions &options);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_WINOGRAD_H
