//===- Passes.h - Passes from tensors to GPU kernels ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_PASSES_H
#define LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::layout {

#define GEN_PASS_DECL
#include "layout/Targets/OpenCL/LayoutToGPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Targets/OpenCL/LayoutToGPU/Passes.h.inc"

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_PASSES_H
