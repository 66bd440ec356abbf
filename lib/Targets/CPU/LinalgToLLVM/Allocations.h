//===- Allocations.h - What takes and gives back memory ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_ALLOCATIONS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_ALLOCATIONS_H

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir {
namespace layout {

/// Whether `op`, with what it holds, provably neither takes nor gives back
/// memory; of a call that is not known.
inline bool leavesAllocationsAlone(Operation &op) {
  WalkResult walk = op.walk([](Operation *inner) {
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
