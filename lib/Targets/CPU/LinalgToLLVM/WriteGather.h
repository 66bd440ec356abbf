//===- WriteGather.h - Gathers as linalg ops --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_WRITEGATHER_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_WRITEGATHER_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {

/// Rewrites every `tensor.gather` below `root` to a `linalg.generic` that reads
/// one element per iteration.
void writeGathers(RewriterBase &rewriter, Operation *root);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_WRITEGATHER_H
