//===- ExpandedMath.h - Functions that are expanded -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of layout-cpu-expand-math: the ops that it expands to long chains
// of dependent ops, which plans of kernels ask for, and the expansion of maxima.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_EXPANDEDMATH_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_EXPANDEDMATH_H

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::layout {

template <typename... Ops> struct OpSet {
  static bool contains(Operation &op) { return isa<Ops...>(op); }
};

/// The ops on f32 that layout-cpu-expand-math expands.
using ExpandedMath =
    OpSet<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::TanhOp,
          math::ErfOp, math::PowFOp>;

/// Expands maxima and minima of f32 and f64 in a function without loop ops to
/// comparisons, and reductions of vectors to trees.
void expandMaxima(FunctionOpInterface function);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_EXPANDEDMATH_H
