//===- KernelPlan.h - The register tile of a kernel -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the part of a kernel's parallel space that is in registers, e.g.
//
//   conv, 1x4x56x56x16 result, f32, 256-bit registers
//     lanes:  the last digit, 2 vectors of 8
//     blocks: 4 neighbors along the image row, so 8 accumulators
//
// The choice is the cheapest tile of TileCostModel that fits the registers. Ops
// are not matched by name.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_KERNELPLAN_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_KERNELPLAN_H

#include "Kernels/Kernel.h"
#include "layout/Support/CpuModelParams.h"
#include "layout/Support/LaneAccess.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::layout {

struct KernelPlan {
  /// The dim of the vector lanes, or std::nullopt for scalar code. The lanes of
  /// a reduction hold partial results, which are combined at its end.
  std::optional<unsigned> lane;
  /// The number of elements of one vector.
  int64_t vectorSize = 1;
  /// The number of elements of one vector in a register. It is less than
  /// `vectorSize` if vectors have several registers, for long chains of ops.
  int64_t registerSize = 1;
  /// The number of elements of the register tile along every kernel dim. It is
  /// 1 along reductions, except one whose iterations are on vector lanes.
  SmallVector<int64_t> tile;
  /// The parallel dims, outermost loop first.
  SmallVector<unsigned> order;
  /// Splits the outermost reduction into parts of `steps` iterations, so that
  /// tensors that inner loops share stay in a nearer cache. The loop over parts
  /// is outside of the loops `order[level]`, `order[level + 1]`, .. Between
  /// parts, the memory of the result holds the sums.
  struct Parts {
    unsigned dim;
    int64_t steps;
    unsigned level;
  };
  std::optional<Parts> parts;
  /// All dims, in the order in which a step visits the points of a tile,
  /// outermost first.
  SmallVector<unsigned> pointOrder;
};

/// Returns true if an element has the same bits in memory and in a vector: an
/// index, or 8, 16, 32, .. bits. An i1 is one byte of memory, but one bit of a
/// vector.
bool isWholeBytes(Type element);

/// Returns Invariant if the element that `extract` reads in the body of `stage`
/// stays the same when the kernel dim `dim` advances by one. Returns Contiguous
/// if it is the next element of the last dim, and of whole bytes
/// (isWholeBytes). Returns Other in all other cases.
LaneAccess classifyExtract(const Stage &stage, tensor::ExtractOp extract,
                           unsigned dim);

/// The elements that lanes read relative to the first one, whose number is a
/// multiple of the period, offsets.size().
struct LanePattern {
  SmallVector<int64_t> offsets;
  /// The elements between lane i and lane i + period.
  int64_t step;

  int64_t getOffset(int64_t lane) const {
    int64_t period = offsets.size();
    return offsets[lane % period] + lane / period * step;
  }
};

/// Returns the pattern of the lanes along `dim` in the tensor that `map`
/// indexes, if `dim` occurs only in the last subscript, where it adds a value
/// that repeats, or increases, every 2, 4, 8, 16 or 32 lanes, as in
///
///   (c, h, w) -> (c, h floordiv 2, w floordiv 2)   0 0, step 1 along w
///   (n, q) -> (n * 18 + (q mod 4) * 2)             0 2 4 6, step 0 along q
///
/// Returns std::nullopt for other maps, and if lanes are too far apart to load
/// all elements between them.
std::optional<LanePattern> findLanePattern(AffineMap map, unsigned dim);

/// Returns the last parallel dim that all stages can hold in vectors with no
/// access worse than `worst`, or std::nullopt if there is none. Results are
/// always contiguous along it.
std::optional<unsigned>
findParallelLane(const Kernel &kernel,
                 LaneAccess worst = LaneAccess::Contiguous);

/// Chooses the order of the loops, and the parts of the reduction, for the tile
/// and the lanes of `plan`, and stores both in `plan`.
void orderLoops(const Kernel &kernel, const CpuModelParams &target,
                KernelPlan &plan);

/// Plans `kernel`. If `parallelLoops` is set and the kernel has enough work,
/// the plan has a loop for threads, if a parallel dim allows it.
KernelPlan planKernel(const Kernel &kernel, const CpuModelParams &target,
                      bool parallelLoops);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_KERNELPLAN_H
