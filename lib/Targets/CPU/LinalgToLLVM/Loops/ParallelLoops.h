//===- ParallelLoops.h - Loops that threads may share -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Marks parallel loops, whose iterations do not access elements that another
// one writes. The emitter of a loop sets the mark, and
// `layout-cpu-parallelize-loops` parallelizes marked loops after bufferization.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LOOPS_PARALLELLOOPS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LOOPS_PARALLELLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::layout {

/// Marks a loop whose iterations may run at the same time.
inline constexpr llvm::StringLiteral kParallelLoopAttrName = "layout.parallel";

/// Returns true if `op` has enough work for threads: a loop of dynamic size, or
/// at least 4096 steps, each of which is one op of the body on `vectorSize`
/// elements. Returns false if the body has side effects, such as an assertion,
/// which must stay in the thread that can report it.
bool isWorthThreads(linalg::LinalgOp op, int64_t vectorSize);

inline void markParallel(scf::ForOp loop) {
  loop->setAttr(kParallelLoopAttrName, UnitAttr::get(loop.getContext()));
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LOOPS_PARALLELLOOPS_H
