//===- Sizes.h - Dynamic sizes of tensors that are gone ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor that becomes part of its reader's kernel still has sizes that others
// ask for. They follow from what its op reads, up to tensors in memory:
//
//   %p = tensor.pad %y low[1] high[1]      tensor.dim %p, 0
//   %y = math.tanh %x                        = tensor.dim %y, 0 + 2
//   %x = cast %memory, %n                    = %n + 2
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_SIZES_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_SIZES_H

#include "layout/Algebra/Sized.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
namespace layout {

/// Answers every tensor.dim below `root` of a tensor that an op computes or
/// that is in device memory; what block arguments and control flow carry is
/// left.
void resolveSizes(Operation *root);

/// The dims of the storage of a laid-out tensor as the plain tensor `plain`
/// shows them: the stored dims, or the axes of each coordinate.
SmallVector<Sized> getShownDims(RankedTensorType laidOut,
                                RankedTensorType plain);

/// Whether all dynamic sizes of the laid-out tensor are among those dims.
bool areSizesShown(RankedTensorType laidOut, RankedTensorType plain);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_SIZES_H
