//===- PrepareForCores.h - Programs in what cores can hold ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of layout-prepare-for-cores. Law: every op computes the same
// numbers in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PREPAREFORCORES_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PREPAREFORCORES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir {
namespace layout {

/// A tensor that a body reads at an index that is computed from the loops alone
/// becomes an operand:
///
///   %j = linalg.index 0 : index
///   %h = arith.divui %j, %c2 : index
///   %e = tensor.extract %x[%h] : tensor<4xf32>
///
/// is an operand %x of the map (d0) -> (d0 floordiv 2).
void readByLoops(func::FuncOp function);

/// Inside of a function, tensors of bits become tensors of i8, and those of
/// indices become tensors of i64; bodies compute as they did.
void storeInWholeBytes(func::FuncOp function);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PREPAREFORCORES_H
