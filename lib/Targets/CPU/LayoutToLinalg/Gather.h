//===- Gather.h - Storage filled position by position -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the lowering for every layout, for ops that are not structured ops
// over common digits.
//
//  * If the layout has an inverse, each position of the result's storage maps
//    to its logical index by the backward map and reads that element. Positions
//    without an index hold the padding.
//  * Otherwise, a loop over logical indices inserts each element at all of its
//    positions in storage that is filled with the padding.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_GATHER_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_GATHER_H

#include "Storage.h"

namespace mlir::layout {

/// Emits the element at a logical index, one value per dim. Callers pass only
/// indices that are at least 0 and below the sizes of the tensor.
using EmitElement = function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// Emits the value that one branch of a choice yields.
using EmitValue = function_ref<Value(OpBuilder &, Location)>;

/// Emits an scf.if whose result is that of `inside` if `condition` holds, and
/// that of `outside` if not. A null condition always holds.
Value emitChoice(OpBuilder &b, Location loc, Value condition, EmitValue inside,
                 EmitValue outside);

/// Emits the physical tensor of a tensor of `type` with the logical `sizes`.
/// `element` emits the element at each logical index. Padding has the value
/// that `type` states, or any value if it states none.
Value emitGather(OpBuilder &b, Location loc, RankedTensorType type,
                 ArrayRef<OpFoldResult> sizes, EmitElement element);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_GATHER_H
