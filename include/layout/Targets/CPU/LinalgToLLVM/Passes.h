//===- Passes.h - From plain linalg to the LLVM dialect ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes of the CPU backend, which layout/Targets/CPU/Pipelines/LinalgToLLVM.h
// combines. Their input is linalg on tensors without encodings. They plan for
// the `#layout.cpu` that `layout.target` of the module states, which
// `layout-set-target` completes, or for its defaults.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_H
#define LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_H

#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace mlir::layout {

#define GEN_PASS_DECL
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_H
