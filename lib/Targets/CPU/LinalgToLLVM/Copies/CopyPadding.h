//===- CopyPadding.h - Padding that is written with a copy ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Merges a fill of padding into a copy. A conversion to blocks that do not
// divide their dim is a fill of the padding and a copy of the elements. If the
// padding follows the elements in the last dim of the result, e.g. 3 channels
// in blocks of 16, the copy can write both as whole lines:
//
//   fill  result[.., 3] [.., 13]
//   copy  result[.., 0] [.., 3]
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYPADDING_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYPADDING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// Returns true if `fill` writes a slice that follows, in the last dim of a
/// tensor, a slice that a copy writes into the same tensor. The copy can then
/// write this padding with its elements, as whole lines.
bool isPaddingOfCopy(linalg::LinalgOp fill);

/// Returns the linalg.fill, on buffers, that writes the padding after the
/// elements that `copy` writes to `target`. `copy` is a structured op or a
/// memref.copy. Returns a null op if the op before `copy`, except for views, is
/// no such fill.
linalg::FillOp findPadding(Operation *copy, Value target);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYPADDING_H
