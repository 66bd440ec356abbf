//===- ExpandedMath.h - Functions that are expanded -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names the ops that layout-cpu-expand-math expands to long chains of dependent
// ops, for the plans of kernels that contain them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_EXPANDEDMATH_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_EXPANDEDMATH_H

#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::layout {

template <typename... Ops> struct OpSet {
  static bool contains(Operation &op) { return isa<Ops...>(op); }
};

/// The ops on f32 that layout-cpu-expand-math expands.
using ExpandedMath =
    OpSet<math::ExpOp, math::ExpM1Op, math::LogOp, math::Log1pOp, math::TanhOp,
          math::ErfOp, math::PowFOp>;

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_EXPANDEDMATH_H
