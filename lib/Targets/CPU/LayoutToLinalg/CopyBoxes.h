//===- CopyBoxes.h - Conversions carried out box by box ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a CopyPlan (see there) on physical tensors. Axes that are fused of
// whole digits are expanded, the others are sliced; a box is
//
//   transpose(slice(expand(source))) inserted into the expanded result
//
// or a generic whose maps fuse the digits of an axis that could not be
// expanded, and a fill is a fill of a slice. Nothing is decided here.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_COPYBOXES_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_COPYBOXES_H

#include "Storage.h"
#include "layout/Analysis/CopyPlan.h"

namespace mlir {
namespace layout {

/// The result of a copy of Way::Boxes; `sizes` are the logical ones.
Value emitBoxes(OpBuilder &b, Location loc, const CopyPlan &copy, Value source,
                RankedTensorType to, ArrayRef<OpFoldResult> sizes);

/// `storage`, which is that of `to`, with the fills carried out.
Value emitFills(OpBuilder &b, Location loc, const CopyPlan &copy, Value storage,
                RankedTensorType to, ArrayRef<OpFoldResult> sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_COPYBOXES_H
