//===- TileCostModel.h - The cost of a register tile ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates the cycles of a kernel with one register tile: the cycles of one
// reduction step, summed over all tiles.
//
//   step = (norm(work / 2, loads / 2, latency, memory) + 0.5)
//          * (1 + 0.004 * segments)
//
//   work      vector operations, and shuffles for strided lanes
//   loads     vector loads, including those of vectors that cross a line
//   latency   4 cycles between dependent operations of a reduction, else 0
//   memory    new cache lines * cycles per line, 100 for each page that a step
//             starts and no other tile reads, as in matrix-vector products
//   segments  contiguous segments of memory that the step reads
//
// Example: conv, 14 pixels x 2 vectors of output channels, 512-bit registers
//   28 accumulators, 2 vectors of weights, 1 broadcast pixel: 31 registers
//   28 operations and 16 loads: 14 cycles, because the loads take only 8
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_TILECOSTMODEL_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_TILECOSTMODEL_H

#include "Kernels/Kernel.h"
#include "layout/Support/CpuModelParams.h"

namespace mlir::layout {

class TileCostModel {
public:
  TileCostModel(const Kernel &kernel, const CpuModelParams &target,
                std::optional<unsigned> lane, int64_t vectorSize);

  /// Returns true if the vector registers hold all live values of one reduction
  /// step of a `tile`: accumulators, inputs and temporaries. Without a
  /// reduction, returns true if the tile computes at most 4 vectors (or
  /// scalars) of results.
  bool fits(ArrayRef<int64_t> tile) const;

  /// Returns all dims in the order in which a step visits the points of the
  /// tile, outermost first. The dims that move the streamed input
  /// (findStreamed), if there is one, come first. All uses of one of its values
  /// are then consecutive, and it needs one register.
  SmallVector<unsigned> orderPoints(ArrayRef<int64_t> tile) const;

  /// Returns the estimated cycles of the whole kernel with this tile, partial
  /// tiles included.
  double total(ArrayRef<int64_t> tile) const;

  /// Returns the cycles that one step waits for memory because segments that it
  /// reads start on pages that were not prefetched. Counts inputs larger than
  /// L2 of which no two tiles read the same element, and in which the innermost
  /// reduction advances by at least a page. Excludes constants that packWeights
  /// may store in the order in which tiles read them.
  double pageCycles(ArrayRef<int64_t> tile) const;

private:
  /// The access pattern of one input tensor: its sizes in bytes, and the stride
  /// of each kernel dim in it.
  struct Input {
    double elementBytes;
    double tensorBytes;
    /// For each kernel dim, the bytes between the elements that successive
    /// iterations along it read.
    SmallVector<int64_t> stride;
    /// True for each kernel dim that the map uses.
    SmallVector<bool> moves;
    /// True if the map is a projected permutation.
    bool isProjection;
    /// True for a constant whose last dim is on the lanes, so that packWeights
    /// may store it in the order in which tiles read it.
    bool isPackable;
  };

  void addInput(unsigned number);
  int64_t vectorsAlong(unsigned dim, int64_t extent) const;
  int64_t points(ArrayRef<int64_t> tile) const;
  int64_t distinct(const Input &input, ArrayRef<int64_t> tile) const;
  bool isReadAgain(const Input &input, ArrayRef<int64_t> tile) const;
  const Input *findStreamed(ArrayRef<int64_t> tile) const;
  int64_t runsOfMemory(const Input &input, ArrayRef<int64_t> tile) const;
  double laneStride(const Input &input) const;
  double loadsPerValue(const Input &input) const;
  bool hasConflicts(const Input &input, ArrayRef<int64_t> tile) const;
  double newLines(const Input &input, ArrayRef<int64_t> tile) const;
  double cyclesPerLine(double bytes) const;
  bool isReadOnce(const Input &input, ArrayRef<int64_t> tile) const;
  int64_t stepBytes(const Input &input) const;
  double stepCycles(ArrayRef<int64_t> tile) const;
  double totalFrom(ArrayRef<int64_t> tile, SmallVectorImpl<int64_t> &current,
                   unsigned dim) const;

  const Kernel &kernel;
  const CpuModelParams &target;
  std::optional<unsigned> lane;
  int64_t vectorSize;
  /// The vector operations of one reduction step on one point (vector) of a
  /// tile.
  double ops;
  /// The innermost reduction dims, innermost first, as many as have at most 32
  /// iterations together. LLVM is assumed to unroll them.
  SmallVector<unsigned> unrolled;
  double steps = 1;
  SmallVector<Input> inputs;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_TILECOSTMODEL_H
