//===- StatedSizes.h - Static sizes of slices and tensors -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream verifies the static sizes of slices and tensors, but folds constants
// into static sizes without this check.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_STATEDSIZES_H
#define LAYOUT_SUPPORT_STATEDSIZES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::layout {

/// Returns true if a dim of `type` is statically 0.
inline bool hasNoElements(ShapedType type) {
  return llvm::is_contained(type.getShape(), 0);
}

/// Returns true if `slice` has unit strides and static offsets and sizes.
inline bool isStatedBox(OffsetSizeAndStrideOpInterface slice) {
  return slice.hasUnitStride() &&
         ShapedType::isStaticShape(slice.getStaticOffsets()) &&
         ShapedType::isStaticShape(slice.getStaticSizes());
}

/// Returns the type of the tensor that `op` casts a second time to sizes that
/// contradict it, or a null type.
inline TensorType getContradictedType(tensor::CastOp op) {
  auto first = op.getSource().getDefiningOp<tensor::CastOp>();
  if (!first || succeeded(verifyCompatibleShape(first.getSource().getType(),
                                                op.getType())))
    return nullptr;
  return first.getSource().getType();
}

/// Emits an error and fails if a slice or a new tensor has a negative constant
/// size.
inline LogicalResult checkStatedSizes(Operation *op) {
  using Sizes = SmallVector<OpFoldResult>;
  Sizes sizes =
      llvm::TypeSwitch<Operation *, Sizes>(op)
          .Case<OffsetSizeAndStrideOpInterface, tensor::EmptyOp>(
              [](auto sized) { return sized.getMixedSizes(); })
          .Case<tensor::GenerateOp>([](tensor::GenerateOp generate) {
            return getMixedValues(generate.getType().getShape(),
                                  generate.getDynamicExtents(),
                                  generate.getContext());
          })
          .Case<tensor::SplatOp>([](tensor::SplatOp splat) {
            return getMixedValues(splat.getType().getShape(),
                                  splat.getDynamicSizes(), splat.getContext());
          })
          .Default(Sizes());
  for (auto [d, size] : llvm::enumerate(sizes))
    if (std::optional<int64_t> number = getConstantIntValue(size);
        number && *number < 0)
      return op->emitOpError()
             << "takes " << *number << " elements of dim " << d
             << ", but a size is at least 0; correct the constant";
  return success();
}

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_STATEDSIZES_H
