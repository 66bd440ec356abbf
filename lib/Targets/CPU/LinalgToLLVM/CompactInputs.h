//===- CompactInputs.h - Copies of what a stride meets ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A 1x1 convolution with a stride reads a part of its image, again for each
// block of output channels, and its rows are not neighbors in memory:
//
//   x[0, i, 2 * h, 2 * w, j], 14x14   ->   y[0, i, h, w, j], 7x7
//
// The copy costs as much as one of these readings. After it the loops over rows
// and columns are one, so that 49 pixels make whole tiles, which 7 rows of 7 do
// not.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COMPACTINPUTS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COMPACTINPUTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// Lets `op` read copies of those inputs of which its loops step over elements,
/// where it reads each element often enough.
void compactInputs(linalg::LinalgOp op);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COMPACTINPUTS_H
