//===- Passes.h - Tensors to the memories of an NPU -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_LAYOUTTONPU_PASSES_H
#define LAYOUT_TARGETS_NPU_LAYOUTTONPU_PASSES_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::layout {

#define GEN_PASS_DECL
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_NPU_LAYOUTTONPU_PASSES_H
