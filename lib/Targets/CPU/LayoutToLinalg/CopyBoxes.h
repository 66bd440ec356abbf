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

/// Emits `copy`, whose method must be Boxes: a linalg copy for each box (one
/// index range per digit), and a linalg.fill for each box of padding, or of all
/// storage if `copy.prefills`. Returns the physical tensor of type `to`;
/// `sizes` are its logical sizes.
Value emitBoxes(OpBuilder &b, Location loc, const CopyPlan &copy, Value source,
                RankedTensorType to, ArrayRef<OpFoldResult> sizes);

/// Emits a linalg.fill with the padding value for each box of padding that
/// `copy` lists. Returns `storage`, a physical tensor of type `to`, after these
/// fills; `sizes` are its logical sizes.
Value emitFills(OpBuilder &b, Location loc, const CopyPlan &copy, Value storage,
                RankedTensorType to, ArrayRef<OpFoldResult> sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_COPYBOXES_H
