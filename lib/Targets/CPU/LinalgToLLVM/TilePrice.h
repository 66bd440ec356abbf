//===- TilePrice.h - What a register tile costs -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modeled cycles of a kernel with one register tile: those of one reduction
// step, summed over all tiles.
//
// Two vector operations and two loads are done per cycle, four cycles pass
// between dependent operations, and each cache moves so many lines per cycle. A
// page of memory that a step begins on, and that no other tile reads, is waited
// for, as are the rows of a matrix that is multiplied by a vector: their tiles
// are as wide as the registers allow.
//
//   conv, 14 pixels x 2 vectors of output channels, 512-bit registers
//     28 accumulators, 2 vectors of weights, 1 broadcast pixel: 31 registers
//     28 operations and 16 loads: 14 cycles, as the loads take 8 beside them
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_TILEPRICE_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_TILEPRICE_H

#include "Kernel.h"
#include "layout/Support/CpuFigures.h"

namespace mlir::layout {

class TilePrice {
public:
  TilePrice(const Kernel &kernel, const CpuFigures &target,
            std::optional<unsigned> lane, int64_t vectorSize);

  /// Whether the registers hold all that is alive in a step.
  bool fits(ArrayRef<int64_t> tile) const;

  /// All dims, in the order in which a step goes through the points of the
  /// tile: each value of the input that is streamed is used by points in a row.
  SmallVector<unsigned> orderPoints(ArrayRef<int64_t> tile) const;

  /// Cycles of the whole kernel in such tiles, the cut ones included.
  double total(ArrayRef<int64_t> tile) const;

  /// Cycles that one step waits for memory where each run of it is on a page of
  /// its own, so that nothing was fetched ahead. Weights are packed, then.
  double pageCycles(ArrayRef<int64_t> tile) const;

private:
  /// How one input is walked through.
  struct Input {
    double elementBytes;
    double tensorBytes;
    /// Bytes between the elements of neighboring iterations, per kernel dim.
    SmallVector<int64_t> stride;
    /// The kernel dims that its map reads.
    SmallVector<bool> moves;
    /// Whether each of its elements belongs to one index of these dims.
    bool isProjection;
    /// Whether it is a constant with lanes along its rows, so that PackWeights
    /// may put one after the other what a tile reads.
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
  bool collides(const Input &input, ArrayRef<int64_t> tile) const;
  double newLines(const Input &input, ArrayRef<int64_t> tile) const;
  double cyclesPerLine(double bytes) const;
  bool isReadOnce(const Input &input, ArrayRef<int64_t> tile) const;
  int64_t stepBytes(const Input &input) const;
  double stepCycles(ArrayRef<int64_t> tile) const;
  double totalFrom(ArrayRef<int64_t> tile, SmallVectorImpl<int64_t> &current,
                   unsigned dim) const;

  const Kernel &kernel;
  const CpuFigures &target;
  std::optional<unsigned> lane;
  int64_t vectorSize;
  /// Vector operations of one step on one point.
  double ops;
  /// The inner reductions that LLVM unrolls.
  SmallVector<unsigned> unrolled;
  double steps = 1;
  SmallVector<Input> inputs;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_TILEPRICE_H
