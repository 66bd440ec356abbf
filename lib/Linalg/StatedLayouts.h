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

/// Returns true if `op` has an attribute of the layout dialect, which
/// constrains its layouts. Ops that replace `op` would not have it.
inline bool hasLayoutConstraints(Operation *op) {
  return llvm::any_of(op->getDiscardableAttrs(), [](NamedAttribute attr) {
    return isa_and_nonnull<LayoutDialect>(attr.getNameDialect());
  });
}

/// Returns true if `op` has an attribute of the layout dialect, or one of its
/// tensors has an encoding. Layouts are then chosen for `op` itself, before it
/// is converted to other ops.
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
