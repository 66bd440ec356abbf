//===- CopyBoxes.h - Conversions carried out box by box ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits a CopyPlan on physical tensors, without further decisions. Axes that
// fuse whole digits are expanded, other axes are sliced. A box is emitted as
//
//   transpose(slice(expand(source))) inserted into the expanded result
//
// or as a generic whose maps fuse the digits of an axis that could not be
// expanded. A fill is emitted as a fill of a slice.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_COPYBOXES_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_COPYBOXES_H

#include "Storage.h"
#include "layout/Analysis/CopyPlan.h"

namespace mlir::layout {

/// Emits the boxes and fills of `copy`, whose method is Boxes, and returns the
/// physical tensor of `to`. `sizes` are logical sizes.
Value emitBoxes(OpBuilder &b, Location loc, const CopyPlan &copy, Value source,
                RankedTensorType to, ArrayRef<OpFoldResult> sizes);

/// Emits the fills of `copy` on `storage`, a physical tensor of `to`, and
/// returns the result. `sizes` are logical sizes.
Value emitFills(OpBuilder &b, Location loc, const CopyPlan &copy, Value storage,
                RankedTensorType to, ArrayRef<OpFoldResult> sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_COPYBOXES_H
