//===- StatedLayouts.h - Ops with layouts chosen by the user ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_LINALG_STATEDLAYOUTS_H
#define LAYOUT_LIB_LINALG_STATEDLAYOUTS_H

#include "layout/Dialect/Layout/IR/Layout.h"

namespace mlir::layout {

/// Returns true if attributes constrain the layouts of `op`. The ops that
/// replace it would not have them.
inline bool hasLayoutConstraints(Operation *op) {
  return llvm::any_of(op->getDiscardableAttrs(), [](NamedAttribute attr) {
    return isa_and_nonnull<LayoutDialect>(attr.getNameDialect());
  });
}

/// Returns true if attributes constrain the layouts of `op`, or the type of one
/// of its tensors has a layout. Layouts are then chosen for `op` itself, before
/// it is converted to other ops.
inline bool statesLayouts(Operation *op) {
  auto hasLayout = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getEncoding();
  };
  return llvm::any_of(op->getOperandTypes(), hasLayout) ||
         llvm::any_of(op->getResultTypes(), hasLayout) ||
         hasLayoutConstraints(op);
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_LINALG_STATEDLAYOUTS_H
