//===- LayoutToLinalg.h - Laid-out tensors to physical tensors --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering of the `buffer` space as a function. It makes no decisions:
// types state where elements are stored and what padding holds.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_LAYOUTTOLINALG_H
#define LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_LAYOUTTOLINALG_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::layout {

/// Lowers all ops below `root` like the pass convert-layout-to-linalg. With
/// `packOps`, conversions become linalg.pack and linalg.unpack where possible.
/// Emits an error at each op that cannot be lowered, and fails.
LogicalResult convertLayoutToLinalg(Operation *root, bool packOps = false);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_LAYOUTTOLINALG_H
