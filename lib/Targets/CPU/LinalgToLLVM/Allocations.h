//===- Allocations.h - What takes and gives back memory ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_ALLOCATIONS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_ALLOCATIONS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir {
namespace layout {

/// Whether `op` takes memory that only loads and stores of vectors use, so that
/// layout-free-buffers frees it in the region that takes it.
inline bool takesOwnMemory(Operation *op) {
  return isa<memref::AllocOp>(op) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<vector::LoadOp, vector::StoreOp>(user);
         });
}

/// Whether `op`, with what it holds, provably neither takes nor gives back
/// memory; of a call that is not known. What is in it may take memory of its
/// own, where that is asked for.
inline bool leavesAllocationsAlone(Operation &op, bool mayHoldOwn = false) {
  WalkResult walk = op.walk([&](Operation *inner) {
    if (mayHoldOwn && inner != &op && takesOwnMemory(inner))
      return WalkResult::advance();
    if (isa<CallOpInterface>(inner))
      return WalkResult::interrupt();
    if (inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        inner->hasTrait<OpTrait::IsTerminator>())
      return WalkResult::advance();
    // Messages do not say what they read and write, and allocate nothing.
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

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_ALLOCATIONS_H
