//===- KernelPlan.h - The register tile of a kernel -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses which part of a kernel's parallel space lives in registers at a time.
//
//   conv, 1x4x56x56x16 result, f32, 256-bit registers
//     lanes:  the last digit, 2 vectors of 8
//     blocks: 4 neighbors along the image row, so 8 accumulators
//
// The choice is the cheapest tile of TilePrice that the registers hold. Nothing
// here knows an op by name.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELPLAN_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELPLAN_H

#include "Kernel.h"
#include "layout/Support/CpuFigures.h"
#include "layout/Support/LaneAccess.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::layout {

struct KernelPlan {
  /// The dim that gives the lanes, or none for scalar code. The lanes of a
  /// reduction hold parts of one result, which are combined at its end.
  std::optional<unsigned> lane;
  /// Elements of one vector.
  int64_t vectorSize = 1;
  /// Extent of the tile in every kernel dim; 1 for reductions without lanes.
  SmallVector<int64_t> tile;
  /// Parallel dims, outermost loop first.
  SmallVector<unsigned> order;
  /// The outermost reduction in parts of so many steps, where the tensors that
  /// the inner loops share stay in a nearer cache then. The loop over parts is
  /// around those from `level` of the order on, and the result has the sums of
  /// the parts before.
  struct Parts {
    unsigned dim;
    int64_t steps;
    unsigned level;
  };
  std::optional<Parts> parts;
  /// All dims, in the order in which a step goes through the points of a tile,
  /// outermost first.
  SmallVector<unsigned> pointOrder;
};

/// Whether neighbors in memory are neighbors in a vector: an element of one
/// bit has a byte of memory to itself, and a bit of a vector.
bool isWholeBytes(Type element);

/// Returns how the element that `extract` reads in the body of `stage` moves
/// when the kernel dim `dim` advances by one, or LaneAccess::Other if it is
/// unknown.
LaneAccess classifyExtract(const Stage &stage, tensor::ExtractOp extract,
                           unsigned dim);

/// Returns the last parallel dim that all stages can hold in vectors with no
/// access worse than `worst`, or std::nullopt if there is none. Results are
/// always contiguous along it.
std::optional<unsigned>
findParallelLane(const Kernel &kernel,
                 LaneAccess worst = LaneAccess::Contiguous);

/// Chooses the order of the loops, and the parts of the reduction, for the tile
/// and the lanes of `plan`.
void orderLoops(const Kernel &kernel, const CpuFigures &target,
                KernelPlan &plan);

/// The plan of `kernel`, with loops for threads to share where these are
/// wanted and worth it.
KernelPlan planKernel(const Kernel &kernel, const CpuFigures &target,
                      bool parallelLoops);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELPLAN_H
