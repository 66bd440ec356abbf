//===- Passes.h - NPU memory ops to C++ -------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUTOEMITC_PASSES_H
#define LAYOUT_TARGETS_NPU_NPUTOEMITC_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::npu {

#define GEN_PASS_DECL
#include "layout/Targets/NPU/NPUToEmitC/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Targets/NPU/NPUToEmitC/Passes.h.inc"

} // namespace mlir::npu

#endif // LAYOUT_TARGETS_NPU_NPUTOEMITC_PASSES_H
