//===- DecodeLoops.h - Decodes as loops over digits -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A decode whose positions are linear in digits of the index is a loop over
// these digits, which reads bytes of the streams as operands with affine maps.
// A product in which each value is used once, e.g. that of a weight and a
// vector, decodes the weight in its own loops:
//
//   Q8_0, row r, block g, value j:  y[r] += (scale[r, g] * code[r, g, j])
//                                           * x[g, j]
//   code at byte (r * blocks + g) * 34 + 2 + j, scale at bytes + 0 and + 1
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_LINALG_DECODELOOPS_H
#define LAYOUT_LIB_LINALG_DECODELOOPS_H

#include "layout/Dialect/Layout/IR/Bundle.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace mlir::layout {

/// Emits a decode to `type` as a loop over digits and a collapse_shape. Returns
/// a null value if positions are not linear in digits that divide each dim.
Value emitDecodeOfDigits(OpBuilder &b, Location loc, const Bundle &bundle,
                         ArrayRef<PlacedComponent> placed,
                         ArrayRef<Value> streams, RankedTensorType type);

/// Fuses the decode whose digits `view` collapses into its user, if this is a
/// contraction that uses each value once.
void fuseDecode(tensor::CollapseShapeOp view);

} // namespace mlir::layout

#endif // LAYOUT_LIB_LINALG_DECODELOOPS_H
