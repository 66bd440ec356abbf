//===- ExpandDims.h - Dims of a tensor that become several ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream computes the strides of a group from its sizes if at most one of
// them is dynamic, and crashes otherwise
// (docs/upstream/expand-shape-of-dynamic-sizes). Other groups become a reshape
// of contiguous memory:
//
//   tensor<?x768xf32> to tensor<?x?x768xf32>, [[0, 1], [2]]: tensor.reshape
//   tensor<?x768xf32> to tensor<?x12x64xf32>, [[0], [1, 2]]: expand_shape
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_EXPANDDIMS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_EXPANDDIMS_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::layout {

/// Returns true if upstream can lower a tensor.expand_shape to `type`: each
/// group has at most one dynamic size.
bool canExpandShape(RankedTensorType type,
                    ArrayRef<ReassociationIndices> groups);

/// Reshapes `value` to `type`, whose sizes are `sizes`, by tensor.expand_shape
/// if upstream can lower it, else by tensor.reshape.
Value expandDims(OpBuilder &b, Location loc, RankedTensorType type, Value value,
                 ArrayRef<ReassociationIndices> groups,
                 ArrayRef<OpFoldResult> sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_EXPANDDIMS_H
