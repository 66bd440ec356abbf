//===- OutlinedKernels.h - Kernels that are functions -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_OUTLINEDKERNELS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_OUTLINEDKERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::layout {
/// On a function that layout-outline-kernels has made.
inline constexpr llvm::StringLiteral kKernelAttrName = "layout.kernel";

/// Gives the arguments of such a function other types, and says whether calls
/// pass a pointer for each buffer.
void setArgumentTypes(func::FuncOp kernel, TypeRange types);
} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_OUTLINEDKERNELS_H
