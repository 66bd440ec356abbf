//===- CopyPadding.h - Padding that is written with a copy ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A conversion to blocks that its dims do not fill is a fill of the padding and
// a copy of the rest. Where the padding goes on in the last dim of the result,
// 3 channels in blocks of 16, the copy can write both as whole lines:
//
//   fill  result[.., 3] [.., 13]
//   copy  result[.., 0] [.., 3]
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYPADDING_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYPADDING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// Whether the fill, on tensors, is padding that a copy can write: it is left
/// to that copy.
bool isPaddingOfCopy(linalg::LinalgOp fill);

/// The fill, on buffers, of the padding that goes on where `copy`, a structured
/// op or a memref.copy to `target`, ends; null if there is none.
linalg::FillOp findPadding(Operation *copy, Value target);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYPADDING_H
