//===- Sizes.h - Dynamic sizes of inlined tensors ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Users may still need the sizes of an inlined tensor. They follow from the
// operands of its op, up to tensors in memory:
//
//   %p = tensor.pad %y low[1] high[1]      tensor.dim %p, 0
//   %y = math.tanh %x                        = tensor.dim %y, 0 + 2
//   %x = cast %memory, %n                    = %n + 2
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_SIZES_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_SIZES_H

#include "layout/Algebra/BoundedIndex.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::layout {

/// Resolves each tensor.dim in `root` of a tensor that an op computes or that
/// is in device memory. Those of block arguments and of control flow remain.
void resolveSizes(Operation *root);

/// Returns the dims of plain tensor type `plain` for the storage of `laidOut`:
/// the stored dims, or the axes of each coordinate.
SmallVector<BoundedIndex> getShownDims(RankedTensorType laidOut,
                                       RankedTensorType plain);

/// Returns true if these dims determine all dynamic sizes of `laidOut`.
bool areSizesShown(RankedTensorType laidOut, RankedTensorType plain);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_SIZES_H
