//===- TensorRules.cpp - Layout rules of tensor ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules of fresh storage, reshapes as views, and ops that change some dims.
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

/// Returns the rule of a reshape from `folded` to `unfolded`, or from
/// `unfolded` to `folded` if `isCollapse`. The dims groups[d] of `unfolded` are
/// the mixed-radix digits of dim d of `folded`. Returns std::nullopt if the
/// size of a dim after the first one of a group is dynamic.
static std::optional<ViewRule>
getReshapeView(RankedTensorType folded, RankedTensorType unfolded,
               ArrayRef<ReassociationIndices> groups, bool isCollapse) {
  std::optional<IndexView> expand = getExpandView(groups, unfolded.getShape());
  std::optional<IndexView> collapse =
      getCollapseView(groups, unfolded.getShape());
  if (!expand || !collapse)
    return std::nullopt;
  // Specializes to these types; the views hold for other sizes, too.
  for (SizeExpr &size : expand->sizeOf)
    size = size.specialize(unfolded.getShape());
  for (SizeExpr &size : collapse->sizeOf)
    size = size.specialize(folded.getShape());
  expand->sizes.assign(unfolded.getShape().begin(), unfolded.getShape().end());
  collapse->sizes.assign(folded.getShape().begin(), folded.getShape().end());
  if (isCollapse)
    std::swap(expand, collapse);
  return ViewRule{*expand, *collapse};
}

/// Restricts `divisor`, the number that tile sizes of a dim must divide (0: any
/// tile size), to divisors of a position at which the op slices the dim.
static void touch(int64_t &divisor, int64_t position) {
  divisor = std::gcd(divisor, position);
}
static void touch(int64_t &divisor, OpFoldResult position) {
  std::optional<int64_t> value = getConstantIntValue(position);
  touch(divisor, value ? *value : 1);
}

namespace {
struct EmptyModel
    : LayoutOpInterface::ExternalModel<EmptyModel, tensor::EmptyOp> {
  OpLayoutRule getLayoutRule(Operation *) const {
    return RematerializableRule{};
  }
};

template <typename OpTy>
struct ShapeModel : LayoutOpInterface::ExternalModel<ShapeModel<OpTy>, OpTy> {
  OpLayoutRule getLayoutRule(Operation *) const { return ShapeRule{}; }
};

template <typename OpTy>
struct ReshapeModel
    : LayoutOpInterface::ExternalModel<ReshapeModel<OpTy>, OpTy> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    auto reshape = cast<OpTy>(op);
    RankedTensorType source = reshape.getSrcType();
    RankedTensorType result = reshape.getResultType();
    constexpr bool isCollapse = std::is_same_v<OpTy, tensor::CollapseShapeOp>;
    std::optional<ViewRule> view = getReshapeView(
        isCollapse ? result : source, isCollapse ? source : result,
        reshape.getReassociationIndices(), isCollapse);
    if (!view)
      return OpaqueRule{
          "a dim after the first one of a group has a dynamic size"};
    return *view;
  }
};

struct CastModel : LayoutOpInterface::ExternalModel<CastModel, tensor::CastOp> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!source || !result)
      return OpaqueRule{"a tensor is unranked"};
    PerDimRule rule;
    rule.tileSizeMustDivide.assign(source.getRank(), 0);
    return rule;
  }
};

struct PadModel : LayoutOpInterface::ExternalModel<PadModel, tensor::PadOp> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    auto pad = cast<tensor::PadOp>(op);
    PerDimRule rule;
    for (auto [low, high] :
         llvm::zip(pad.getMixedLowPad(), pad.getMixedHighPad()))
      rule.tileSizeMustDivide.push_back(
          isConstantIntValue(low, 0) && isConstantIntValue(high, 0) ? 0 : 1);
    // The body of a padding that is not constant may read indices, which must
    // be logical ones.
    if (!pad.getConstantPaddingValue())
      rule.tileSizeMustDivide.assign(rule.tileSizeMustDivide.size(), 1);
    return rule;
  }
};

/// The rule of ops that extract or insert a slice: tile sizes must divide the
/// offset and the size of a sliced dim, which must be whole if these are
/// dynamic or the stride is not 1. Dims that the smaller tensor does not have
/// must not be tiled.
template <typename OpTy>
struct SliceModel : LayoutOpInterface::ExternalModel<SliceModel<OpTy>, OpTy> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    auto slice = cast<OpTy>(op);
    RankedTensorType large;
    constexpr bool isExtract = std::is_same_v<OpTy, tensor::ExtractSliceOp>;
    if constexpr (isExtract)
      large = slice.getSourceType();
    else
      large = slice.getDestType();
    PerDimRule rule;
    rule.dropped = slice.getDroppedDims();
    rule.isRead.assign(op->getNumOperands(), false);
    if constexpr (!isExtract)
      rule.isRead.front() = rule.writesPart = true;
    for (int64_t d = 0; d < large.getRank(); ++d) {
      int64_t divisor = 0;
      OpFoldResult offset = slice.getMixedOffsets()[d];
      OpFoldResult size = slice.getMixedSizes()[d];
      bool isWhole = isConstantIntValue(offset, 0) &&
                     isConstantIntValue(slice.getMixedStrides()[d], 1) &&
                     !large.isDynamicDim(d) &&
                     isConstantIntValue(size, large.getDimSize(d));
      if (!isWhole) {
        touch(divisor, offset);
        touch(divisor, size);
        if (!isConstantIntValue(slice.getMixedStrides()[d], 1))
          divisor = 1;
      }
      if (rule.dropped[d])
        divisor = 1;
      rule.tileSizeMustDivide.push_back(divisor);
    }
    return rule;
  }
};

struct ConcatModel
    : LayoutOpInterface::ExternalModel<ConcatModel, tensor::ConcatOp> {
  OpLayoutRule getLayoutRule(Operation *op) const {
    auto concat = cast<tensor::ConcatOp>(op);
    PerDimRule rule;
    rule.tileSizeMustDivide.assign(concat.getResultType().getRank(), 0);
    for (Value input : concat.getInputs()) {
      auto type = cast<RankedTensorType>(input.getType());
      int64_t size = type.getDimSize(concat.getDim());
      touch(rule.tileSizeMustDivide[concat.getDim()],
            ShapedType::isDynamic(size) ? 1 : size);
    }
    return rule;
  }
};
} // namespace

void layout::registerTensorLayoutRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::EmptyOp::attachInterface<EmptyModel>(*context);
    tensor::DimOp::attachInterface<ShapeModel<tensor::DimOp>>(*context);
    tensor::RankOp::attachInterface<ShapeModel<tensor::RankOp>>(*context);
    tensor::CollapseShapeOp::attachInterface<
        ReshapeModel<tensor::CollapseShapeOp>>(*context);
    tensor::ExpandShapeOp::attachInterface<ReshapeModel<tensor::ExpandShapeOp>>(
        *context);
    tensor::CastOp::attachInterface<CastModel>(*context);
    tensor::PadOp::attachInterface<PadModel>(*context);
    tensor::ExtractSliceOp::attachInterface<SliceModel<tensor::ExtractSliceOp>>(
        *context);
    tensor::InsertSliceOp::attachInterface<SliceModel<tensor::InsertSliceOp>>(
        *context);
    tensor::ParallelInsertSliceOp::attachInterface<
        SliceModel<tensor::ParallelInsertSliceOp>>(*context);
    tensor::ConcatOp::attachInterface<ConcatModel>(*context);
  });
}
