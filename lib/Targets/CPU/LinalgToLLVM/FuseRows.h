//===- FuseRows.h - Chains of row ops in blocks of rows ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUSEROWS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUSEROWS_H

#include "layout/Support/CpuModelParams.h"
#include "mlir/IR/Operation.h"

namespace mlir::layout {

/// Computes each elementwise op and the ops that only it needs in blocks of
/// rows if there is a reduction of rows among them, as in softmax and
/// normalizations, and if their tensors do not fit L2.
void fuseRows(Operation *function, const CpuModelParams &target,
              bool parallelLoops);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUSEROWS_H
