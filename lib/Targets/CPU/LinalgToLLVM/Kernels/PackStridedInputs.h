//===- PackStridedInputs.h - Compact copies of strided inputs ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies inputs that are read with steps. A strided 1x1 convolution reads a
// part of its image for each block of output channels, in non-contiguous rows:
//
//   x[0, i, 2 * h, 2 * w, j], 14x14   ->   y[0, i, h, w, j], 7x7
//
// The copy costs as much as one of these reads. The loops over rows and columns
// then merge into one, whose 49 pixels fill tiles better than 7 rows do.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_PACKSTRIDEDINPUTS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_PACKSTRIDEDINPUTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// Replaces inputs of `op` that are indexed by multiples of loops, such as 2 *
/// h, by compact copies. Only static linalg.generic ops with a reduction are
/// changed, if they read each element of the input at least 32 times. Inputs
/// with sums as subscripts, e.g. overlapping windows, stay.
void packStridedInputs(linalg::LinalgOp op);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_PACKSTRIDEDINPUTS_H
