//===- EmitSize.h - Size expressions as IR ----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A size expression as operations on index values, constants folded:
//
//     ceil(size(0) / 16) * 16, size(0) is %n:
//       %0 = arith.ceildivui %n, %c16    %1 = arith.muli %c16, %0
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_UTILS_EMITSIZE_H
#define LAYOUT_DIALECT_LAYOUT_UTILS_EMITSIZE_H

#include "layout/Algebra/SizeExpr.h"
#include "mlir/IR/Builders.h"

namespace mlir {
namespace layout {

/// The value of `size`, where sizeOf[d] is size(d).
OpFoldResult emitSize(OpBuilder &b, Location loc, const SizeExpr &size,
                      ArrayRef<OpFoldResult> sizeOf);

/// The same for an extent of storage, which is 0 where sizes without elements
/// make the expression negative.
OpFoldResult emitExtent(OpBuilder &b, Location loc, const SizeExpr &size,
                        ArrayRef<OpFoldResult> sizeOf);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_DIALECT_LAYOUT_UTILS_EMITSIZE_H
