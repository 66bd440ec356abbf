//===- OutlinedKernels.h - Kernels that are functions -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUNCTIONS_OUTLINEDKERNELS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUNCTIONS_OUTLINEDKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::layout {
/// Marks a function that layout-cpu-outline-kernels created.
inline constexpr llvm::StringLiteral kKernelAttrName = "layout.kernel";

/// Changes the argument types of an outlined kernel to `types`. Sets its
/// attribute `llvm.bareptr` if all buffers among them have static shapes,
/// strides and offsets, so that calls pass bare pointers, and else removes it.
void setArgumentTypes(func::FuncOp kernel, TypeRange types);
} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_FUNCTIONS_OUTLINEDKERNELS_H
