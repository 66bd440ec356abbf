//===- FuseRows.h - Chains of row ops in blocks of rows ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_FUSEROWS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_FUSEROWS_H

#include "layout/Support/CpuModelParams.h"
#include "mlir/IR/Operation.h"

namespace mlir::layout {

/// Rewrites chains of ops in `function` to loops over blocks of rows: an
/// elementwise op and the producers that only it needs, if one of them reduces
/// rows, as in softmax and normalizations. Rewrites only chains that save more
/// than half the size of L2 in reads and writes. With `parallelLoops`, marks
/// loops with enough work for threads.
void fuseRows(Operation *function, const CpuModelParams &target,
              bool parallelLoops);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_FUSEROWS_H
