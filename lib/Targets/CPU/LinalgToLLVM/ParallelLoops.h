//===- ParallelLoops.h - Loops that threads may share -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What emits loops knows which of them are parallel: no iteration reads or
// writes an element that another one writes. It marks them, and
// `layout-parallelize-loops` gives those that are marked to the threads when
// all tensors have become buffers.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_PARALLELLOOPS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_PARALLELLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::layout {

/// On a loop: its iterations may run at the same time.
inline constexpr llvm::StringLiteral kParallelLoopAttrName = "layout.parallel";

/// Whether the loops of `op` take so long, at `vectorSize` elements a step,
/// that threads that share them end sooner. Unknown sizes count as large. An op
/// that may end the program, by an assertion, stays with the thread that can
/// report it.
bool isWorthThreads(linalg::LinalgOp op, int64_t vectorSize);

inline void markParallel(scf::ForOp loop) {
  loop->setAttr(kParallelLoopAttrName, UnitAttr::get(loop.getContext()));
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_PARALLELLOOPS_H
