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

/// Replaces each tensor.dim in `root` by sizes of the operands of the op that
/// computes the tensor, or by a size that its cast from device memory has as an
/// operand. Others remain, e.g. those of block arguments and of results of
/// control flow.
void resolveSizes(Operation *root);

/// Returns the index and the extent of each dim of `plain`, as expressions of
/// the logical dims and sizes of `laidOut`, whose storage `plain` is. If
/// `plain` is not the storage array, its dims are the stored axes of the map.
SmallVector<BoundedIndex> getShownDims(RankedTensorType laidOut,
                                       RankedTensorType plain);

/// Returns true if each dynamic size of `laidOut` is the size of a dim of
/// `plain`, the plain tensor type for its storage.
bool areSizesShown(RankedTensorType laidOut, RankedTensorType plain);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_SIZES_H
