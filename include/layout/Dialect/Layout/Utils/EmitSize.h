//===- EmitSize.h - Size expressions as IR ----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a size expression as operations on index values. Constants are folded:
//
//     ceil(size(0) / 16) * 16, size(0) is %n:
//       %0 = arith.ceildivui %n, %c16    %1 = arith.muli %c16, %0
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_UTILS_EMITSIZE_H
#define LAYOUT_DIALECT_LAYOUT_UTILS_EMITSIZE_H

#include "layout/Algebra/SizeExpr.h"
#include "mlir/IR/Builders.h"

namespace mlir::layout {

/// Emits the value of `size`. sizeOf[d] is the size of dim d.
OpFoldResult emitSize(OpBuilder &b, Location loc, const SizeExpr &size,
                      ArrayRef<OpFoldResult> sizeOf);

/// Emits `size` as an extent of storage, clamped to 0: the expression can be
/// negative if a dim has size 0.
OpFoldResult emitExtent(OpBuilder &b, Location loc, const SizeExpr &size,
                        ArrayRef<OpFoldResult> sizeOf);

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_UTILS_EMITSIZE_H
