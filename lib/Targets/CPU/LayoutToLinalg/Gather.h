//===- Gather.h - Storage filled position by position -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering that works for every layout, used where an op is no structured
// op over common digits.
//  * Where the layout can be inverted, every position of the result's storage
//    finds its logical index by the backward map and asks for that element;
//    positions without an index get the padding.
//  * Elsewhere every logical index puts its element, in loops of their own, at
//    each of its positions in storage that holds the padding already.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_GATHER_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_GATHER_H

#include "Storage.h"

namespace mlir {
namespace layout {

/// Emits the element at a logical index inside the box.
using EmitElement = function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// Emits one value.
using EmitValue = function_ref<Value(OpBuilder &, Location)>;

/// Emits an scf.if whose result is that of `inside` if `condition` holds, and
/// that of `outside` if not. A null condition always holds.
Value emitChoice(OpBuilder &b, Location loc, Value condition, EmitValue inside,
                 EmitValue outside);

/// The physical tensor of `type` with these elements.
Value emitGather(OpBuilder &b, Location loc, RankedTensorType type,
                 ArrayRef<OpFoldResult> sizes, EmitElement element);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_GATHER_H
