//===- RowMaximum.h - Distances from the maximum of a row -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A softmax takes exp(x - m), where m is the maximum of the row of x:
//
//   %m = max of rows %x         exp(%x - %m)  =>  the exp with kNotPositiveAttr
//
// layout-cpu-expand-math computes such an exp in fewer ops, with the same bits,
// because x - m is at most zero, or NaN.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_ROWMAXIMUM_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_ROWMAXIMUM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// The unit attribute of a math.exp whose operand is never positive, but may be
/// NaN.
constexpr llvm::StringLiteral kNotPositiveAttr("layout.not_positive");

/// Marks each math.exp in the body of `op` whose operand is the distance of an
/// element from the maximum of elements that include it.
void markDistancesFromMaximum(linalg::LinalgOp op);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_ROWMAXIMUM_H
