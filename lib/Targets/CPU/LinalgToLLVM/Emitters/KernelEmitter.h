//===- KernelEmitter.h - Loops and vectors for a kernel ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a Kernel and its KernelPlan as a cpu.kernel, whose body is loops on
// buffers:
//
//   scf.for over the parallel tiles
//     accumulators = start
//     scf.for over the reductions iter_args(accumulators)
//       one evaluation of the body for every point of the tile
//     if lanes hold partial results: combine them, and reduce the remaining
//       elements
//     finish, vector.transfer_write into the results
//
// A point of a tile is a scalar or one vector along the lanes. Values that do
// not depend on the lanes stay scalars until an op combines them with a vector.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_KERNELEMITTER_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_KERNELEMITTER_H

#include "Kernels/KernelPlan.h"

namespace mlir::layout {

struct EmitOptions {
  bool contractFMA = true;
  /// True if loops over tiles with enough work are marked for threads.
  bool parallelLoops = true;
};

/// Emits the kernel at the builder's insertion point and returns the new
/// results of its last stage.
SmallVector<Value> emitKernel(OpBuilder &builder, const Kernel &kernel,
                              const KernelPlan &plan,
                              const EmitOptions &options);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_KERNELEMITTER_H
