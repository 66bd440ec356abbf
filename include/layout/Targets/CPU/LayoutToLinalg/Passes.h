//===- Passes.h - Laid-out tensors to physical tensors ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_PASSES_H
#define LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::layout {

#define GEN_PASS_DECL
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h.inc"

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_PASSES_H
