//===- Passes.h - Passes on the memory of an NPU ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_TRANSFORMS_PASSES_H
#define LAYOUT_DIALECT_NPU_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::npu {

#define GEN_PASS_DECL
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"

/// Runs `npu-verify-memory` on a function, with its option `exact-bytes`. Fails
/// with an error at the first op that breaks a rule.
LogicalResult verifyMemory(func::FuncOp function, bool exactBytes);

#define GEN_PASS_REGISTRATION
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_TRANSFORMS_PASSES_H
