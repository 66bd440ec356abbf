//===- VectorMasks.h - The first lanes of a vector --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_VECTORMASKS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_VECTORMASKS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::layout {

/// Creates a constant mask for vectors of type `wide`, with the first `width`
/// lanes set.
inline Value makeMask(OpBuilder &b, Location loc, VectorType wide,
                      int64_t width) {
  SmallVector<bool> lanes(wide.getDimSize(0), false);
  std::fill_n(lanes.begin(), width, true);
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(wide.clone(b.getI1Type()), lanes));
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_LLVM_VECTORMASKS_H
