//===- ExpandDims.cpp - Dims of a tensor that become several --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/ExpandDims.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;

bool layout::canExpandShape(RankedTensorType type,
                            ArrayRef<ReassociationIndices> groups) {
  return llvm::all_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group,
                          [&](int64_t d) { return type.isDynamicDim(d); }) <= 1;
  });
}

Value layout::expandDims(OpBuilder &b, Location loc, RankedTensorType type,
                         Value value, ArrayRef<ReassociationIndices> groups,
                         ArrayRef<OpFoldResult> sizes) {
  if (canExpandShape(type, groups))
    return tensor::ExpandShapeOp::create(b, loc, type, value, groups, sizes);
  Value shape = tensor::FromElementsOp::create(
      b, loc, getValueOrCreateConstantIndexOp(b, loc, sizes));
  return tensor::ReshapeOp::create(b, loc, type, value, shape);
}
