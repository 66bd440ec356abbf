//===- Winograd.h - Convolutions with fewer multiplications -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Winograd's F(2x2, 3x3): a convolution with windows of 3x3 that go on by one
// computes four neighboring results from the 4x4 places d that they read as
//
//   A^T ((G g G^T) * (B^T d B)) A
//
// where * multiplies elements, summed over the channels: 16 multiplications for
// four results in place of 36. G g G^T is computed here, of constant filters g.
// The sums over channels are 16 products of matrices, tiles by channels times
// channels by filters, which take nearly all of the time.
//
//   for strips of tiles
//     for channels, tiles           V = B^T d B
//     for filters, as many as vectors of the result have
//       for 16 places, tiles        M = V times the filters, in registers
//       for tiles                   results = A^T M A, finished
//
// V and M of a strip stay in the second cache. Rows, columns and batches may be
// open: then strips are of one length up to that, which fits the registers, and
// what is left at the end is computed by one of a few loops, the shortest that
// has enough tiles. In f32 the transforms only add,
// and halve filters; results differ from those of the plain sum in the order of
// additions, by a few units in the last place of the largest sum.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_WINOGRAD_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_WINOGRAD_H

#include "KernelEmitter.h"

namespace mlir::layout {

struct WinogradPlan {
  /// Which inputs of the root they are.
  unsigned image, filter;
  /// For rows and columns, the dim of the results and that of the window.
  struct Axis {
    unsigned place, window;
  };
  SmallVector<Axis, 2> axes;
  /// The other dims of more than one position: parallel ones of the image,
  /// parallel ones of the filter but for the lanes, and reductions, of which
  /// the last one is contiguous in the image.
  SmallVector<unsigned> batches, filters, channels;
  /// The number of result lanes in one register tile.
  int64_t lanes;
  /// Tiles of 2x2 results: how many there are in one image, or kDynamic, a
  /// strip of them, or the most of one, and in registers at a time.
  int64_t tiles, strip, step;
  /// Of an open image, by how many at a time what is left of a strip may be
  /// computed, in ascending order; the last is `step`.
  SmallVector<int64_t> rests;
};

/// The product of the extents of `dims`, which are known.
int64_t countPositions(const Kernel &kernel, ArrayRef<unsigned> dims);

/// How to compute a kernel by transforms, where that is expected to be faster
/// than `plan`.
std::optional<WinogradPlan> planWinograd(const Kernel &kernel,
                                         const KernelPlan &plan,
                                         const CpuFigures &target);

/// The transformed filters, as a tensor of filters by lanes, 16 places,
/// channels, and the lanes of a register tile.
ElementsAttr transformFilters(const Kernel &kernel, const KernelPlan &plan,
                              const WinogradPlan &winograd);

/// As emitKernel.
SmallVector<Value> emitWinograd(OpBuilder &builder, const Kernel &kernel,
                                const KernelPlan &plan,
                                const WinogradPlan &winograd,
                                const EmitOptions &options);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_WINOGRAD_H
