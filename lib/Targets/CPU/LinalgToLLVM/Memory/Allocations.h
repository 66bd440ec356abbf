//===- Allocations.h - Ops that allocate and free memory --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_MEMORY_ALLOCATIONS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_MEMORY_ALLOCATIONS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::layout {

/// Returns true if `op` allocates memory that only vector loads and stores use,
/// so that layout-cpu-free-buffers frees it in the region of the allocation.
inline bool takesOwnMemory(Operation *op) {
  return isa<memref::AllocOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<vector::LoadOp, vector::StoreOp>(user);
         });
}

/// Returns true if `op` and the ops in its regions provably neither allocate
/// nor free memory. A call is assumed to do so. If `mayHoldOwn`, ops in the
/// regions may allocate memory for vector loads and stores only.
inline bool leavesAllocationsAlone(Operation &op, bool mayHoldOwn = false) {
  WalkResult walk = op.walk([&](Operation *inner) {
    if (mayHoldOwn && inner != &op && takesOwnMemory(inner))
      return WalkResult::advance();
    if (isa<CallOpInterface>(inner))
      return WalkResult::interrupt();
    if (inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        inner->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    // Ops of mpi do not declare effects, but allocate nothing.
    if (inner->getName().getDialectNamespace() == "mpi")
      return WalkResult::advance();
    auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
    if (!effects || effects.hasEffect<MemoryEffects::Allocate>() ||
        effects.hasEffect<MemoryEffects::Free>())
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !walk.wasInterrupted();
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_MEMORY_ALLOCATIONS_H
