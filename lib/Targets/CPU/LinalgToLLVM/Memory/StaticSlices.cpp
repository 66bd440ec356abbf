//===- StaticSlices.cpp - Fast comparison of static slices ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bufferization compares each insertion with the slices of the same tensor.
// Upstream solves a system of constraints for every offset, size and stride,
// also for constants: most of the time of bufferization.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/StaticSlices.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

using namespace mlir;

/// Returns true if all offsets, sizes and strides are constants.
static bool isStatic(OffsetSizeAndStrideOpInterface slice) {
  return !ShapedType::isDynamicShape(slice.getStaticOffsets()) &&
         !ShapedType::isDynamicShape(slice.getStaticSizes()) &&
         !ShapedType::isDynamicShape(slice.getStaticStrides());
}

namespace {
/// Upstream's model of a slice op, except that two static slices are compared
/// by their attributes.
template <typename SliceOp>
struct SubsetOfSlice
    : SubsetOpInterface::ExternalModel<SubsetOfSlice<SliceOp>, SliceOp> {
  bool operatesOnEquivalentSubset(
      Operation *op, SubsetOpInterface candidate,
      function_ref<bool(Value, Value)> areEquivalent) const {
    auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
    auto other =
        dyn_cast<OffsetSizeAndStrideOpInterface>(candidate.getOperation());
    if (!other || !isStatic(slice) || !isStatic(other))
      return detail::defaultOperatesOnEquivalentSubset(op, candidate,
                                                       areEquivalent);
    return slice.getStaticOffsets() == other.getStaticOffsets() &&
           slice.getStaticSizes() == other.getStaticSizes() &&
           slice.getStaticStrides() == other.getStaticStrides() &&
           areEquivalent(detail::getTensorContainer(op),
                         candidate.getTensorContainer());
  }

  FailureOr<HyperrectangularSlice>
  getAccessedHyperrectangularSlice(Operation *op) const {
    return HyperrectangularSlice(cast<OffsetSizeAndStrideOpInterface>(op));
  }
};
} // namespace

void layout::registerStaticSliceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExtractSliceOp::attachInterface<
        SubsetOfSlice<tensor::ExtractSliceOp>>(*context);
    tensor::InsertSliceOp::attachInterface<
        SubsetOfSlice<tensor::InsertSliceOp>>(*context);
  });
}
