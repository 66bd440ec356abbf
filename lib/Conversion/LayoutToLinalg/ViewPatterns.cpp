//===- ViewPatterns.cpp - Slices and reshapes -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view of laid-out tensors is a view of storage where the same elements lie
// at the same positions (L7). Where they do not, the result's storage is
// gathered from the source.
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "Patterns.h"
#include "WholeAxes.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// The dims that a slice does not take whole.
llvm::SmallBitVector findSliced(OffsetSizeAndStrideOpInterface slice,
                                RankedTensorType whole) {
  llvm::SmallBitVector sliced(whole.getRank());
  for (unsigned d = 0; d < sliced.size(); ++d) {
    std::optional<int64_t> size = getConstantIntValue(slice.getMixedSizes()[d]);
    sliced[d] = !isConstantIntValue(slice.getMixedOffsets()[d], 0) ||
                !isConstantIntValue(slice.getMixedStrides()[d], 1) || !size ||
                *size != whole.getDimSize(d);
  }
  return sliced;
}

/// Whether a slice of `whole` takes positions of `unit` indices of dim `d`: it
/// starts at one, and ends at one or with the tensor.
bool takesUnits(OffsetSizeAndStrideOpInterface slice, RankedTensorType whole,
                unsigned d, int64_t unit) {
  std::optional<int64_t> offset =
      getConstantIntValue(slice.getMixedOffsets()[d]);
  std::optional<int64_t> size = getConstantIntValue(slice.getMixedSizes()[d]);
  return offset && size && isConstantIntValue(slice.getMixedStrides()[d], 1) &&
         *offset % unit == 0 &&
         (*size % unit == 0 || *offset + *size == whole.getDimSize(d));
}

/// Offsets, sizes and strides of a slice of storage.
struct PhysicalSlice {
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

PhysicalSlice getPhysicalSlice(OpBuilder &b, Location loc,
                               OffsetSizeAndStrideOpInterface slice,
                               const WholeAxes &axes, Value whole) {
  SmallVector<OpFoldResult> extents = tensor::getMixedSizes(b, loc, whole);
  SmallVector<OpFoldResult> zeros(extents.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(extents.size(), b.getIndexAttr(1));
  return {axes.permute(slice.getMixedOffsets(), zeros),
          axes.permute(slice.getMixedSizes(), extents),
          axes.permute(slice.getMixedStrides(), ones)};
}

struct ExtractSlicePattern : ReasonedPattern<tensor::ExtractSliceOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::ExtractSliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = op.getSourceType(), to = op.getType();
    ValueRange source = adaptor.getSource();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<OpFoldResult> sizes;
    for (auto [d, size] : llvm::enumerate(op.getMixedSizes()))
      if (!dropped[d])
        sizes.push_back(size);
    Value result;
    std::optional<WholeAxes> axes;
    bool keepsPadding =
        !statesPadding(to) || getPadding(from) == getPadding(to);
    if (dropped.none() && keepsPadding)
      axes = findWholeAxes(from, to, findSliced(op, from),
                           [&](unsigned d, int64_t unit) {
                             return takesUnits(op, from, d, unit);
                           });
    if (axes) {
      PhysicalSlice slice =
          getPhysicalSlice(rewriter, loc, op, *axes, source.front());
      result = tensor::ExtractSliceOp::create(
          rewriter, loc, *getPhysicalType(to), source.front(), slice.offsets,
          slice.sizes, slice.strides);
    } else {
      SmallVector<OpFoldResult> fromSizes =
          getLogicalSizes(rewriter, loc, from, source);
      auto element = [&](OpBuilder &b, Location loc, ValueRange index) {
        SmallVector<Value> inner;
        unsigned next = 0;
        AffineExpr i = b.getAffineDimExpr(0);
        AffineExpr offset = b.getAffineSymbolExpr(0);
        AffineExpr stride = b.getAffineSymbolExpr(1);
        for (unsigned d = 0; d < dropped.size(); ++d) {
          OpFoldResult at = dropped[d] ? OpFoldResult(b.getIndexAttr(0))
                                       : OpFoldResult(index[next++]);
          inner.push_back(getValueOrCreateConstantIndexOp(
              b, loc,
              affine::makeComposedFoldedAffineApply(
                  b, loc, i * stride + offset,
                  {at, op.getMixedOffsets()[d], op.getMixedStrides()[d]})));
        }
        return extractElement(b, loc, from, source.front(), inner, fromSizes);
      };
      std::string whyNot;
      FailureOr<Value> gathered =
          emitGather(rewriter, loc, to, sizes, element, whyNot);
      if (failed(gathered))
        return reasons.fail(rewriter, op, whyNot);
      result = *gathered;
    }
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, result, sizes)});
    return success();
  }
};

struct InsertSlicePattern : ReasonedPattern<tensor::InsertSliceOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::InsertSliceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = op.getSourceType(), to = op.getType();
    ValueRange source = adaptor.getSource(), dest = adaptor.getDest();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<OpFoldResult> sizes = getLogicalSizes(rewriter, loc, to, dest);
    bool keepsPadding =
        !statesPadding(to) || getPadding(from) == getPadding(to);
    std::optional<WholeAxes> axes;
    if (dropped.none() && keepsPadding)
      axes = findWholeAxes(from, to, findSliced(op, to),
                           [&](unsigned d, int64_t unit) {
                             return takesUnits(op, to, d, unit);
                           });
    Value result;
    if (axes) {
      PhysicalSlice slice =
          getPhysicalSlice(rewriter, loc, op, *axes, dest.front());
      result = tensor::InsertSliceOp::create(rewriter, loc, source.front(),
                                             dest.front(), slice.offsets,
                                             slice.sizes, slice.strides);
    } else {
      std::string whyNot;
      FailureOr<Value> gathered =
          gather(op, source, dest, sizes, dropped, rewriter, whyNot);
      if (failed(gathered))
        return reasons.fail(rewriter, op, whyNot);
      result = *gathered;
    }
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, result, sizes)});
    return success();
  }

private:
  /// Each element comes from the slice, or from where it was.
  static FailureOr<Value> gather(tensor::InsertSliceOp op, ValueRange source,
                                 ValueRange dest, ArrayRef<OpFoldResult> sizes,
                                 const llvm::SmallBitVector &dropped,
                                 ConversionPatternRewriter &rewriter,
                                 std::string &whyNot);
};

template <typename OpTy> struct ReshapePattern : ReasonedPattern<OpTy> {
  using ReasonedPattern<OpTy>::ReasonedPattern;

  LogicalResult
  matchAndRewrite(OpTy op,
                  typename OpConversionPattern<OpTy>::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

FailureOr<Value> InsertSlicePattern::gather(tensor::InsertSliceOp op,
                                            ValueRange source, ValueRange dest,
                                            ArrayRef<OpFoldResult> sizes,
                                            const llvm::SmallBitVector &dropped,
                                            ConversionPatternRewriter &rewriter,
                                            std::string &whyNot) {
  Location loc = op.getLoc();
  RankedTensorType from = op.getSourceType(), to = op.getType();
  auto asValues = [&](ArrayRef<OpFoldResult> numbers) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, numbers);
  };
  SmallVector<Value> offsets = asValues(op.getMixedOffsets());
  SmallVector<Value> extents = asValues(op.getMixedSizes());
  SmallVector<Value> strides = asValues(op.getMixedStrides());
  SmallVector<OpFoldResult> fromSizes =
      getLogicalSizes(rewriter, loc, from, source);
  auto element = [&](OpBuilder &b, Location loc, ValueRange index) -> Value {
    Value valid, zero = arith::ConstantIndexOp::create(b, loc, 0);
    auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
      Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
      valid = valid ? arith::AndIOp::create(b, loc, valid, holds) : holds;
    };
    SmallVector<Value> inner;
    for (unsigned d = 0; d < dropped.size(); ++d) {
      Value at = arith::SubIOp::create(b, loc, index[d], offsets[d]);
      Value quotient = at;
      if (!isConstantIntValue(op.getMixedStrides()[d], 1)) {
        // Truncation rounds towards zero; below zero the first test fails.
        quotient = arith::DivSIOp::create(b, loc, at, strides[d]);
        Value rest = arith::RemSIOp::create(b, loc, at, strides[d]);
        require(arith::CmpIPredicate::eq, rest, zero);
      }
      require(arith::CmpIPredicate::sge, at, zero);
      require(arith::CmpIPredicate::slt, quotient, extents[d]);
      if (!dropped[d])
        inner.push_back(quotient);
    }
    auto inside = [&](OpBuilder &b, Location loc) {
      return extractElement(b, loc, from, source.front(), inner, fromSizes);
    };
    auto outside = [&](OpBuilder &b, Location loc) {
      return extractElement(b, loc, to, dest.front(), index, sizes);
    };
    if (!valid)
      return inside(b, loc);
    auto choice = scf::IfOp::create(
        b, loc, valid,
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, inside(b, loc));
        },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, outside(b, loc));
        });
    return choice.getResult(0);
  };
  return emitGather(rewriter, loc, to, sizes, element, whyNot);
}

//===----------------------------------------------------------------------===//
// Concatenations
//===----------------------------------------------------------------------===//

namespace {
/// Each operand is inserted into fresh storage; the patterns above then say how
/// that is done on storage.
struct ConcatPattern : OpConversionPattern<tensor::ConcatOp> {
  ConcatPattern(const TypeConverter &converter, MLIRContext *context, Reasons &)
      : OpConversionPattern(converter, context) {}

  LogicalResult
  matchAndRewrite(tensor::ConcatOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getResultType();
    unsigned dim = op.getDim();
    AffineExpr x, y;
    bindDims(getContext(), x, y);

    SmallVector<SmallVector<OpFoldResult>> sizes;
    SmallVector<OpFoldResult> offsets{rewriter.getIndexAttr(0)};
    for (Value input : op.getInputs()) {
      sizes.push_back(tensor::getMixedSizes(rewriter, loc, input));
      offsets.push_back(affine::makeComposedFoldedAffineApply(
          rewriter, loc, x + y, {offsets.back(), sizes.back()[dim]}));
    }
    SmallVector<Value> dynamicSizes;
    for (unsigned d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        dynamicSizes.push_back(getValueOrCreateConstantIndexOp(
            rewriter, loc, d == dim ? offsets.back() : sizes.front()[d]));
    Value result = tensor::EmptyOp::create(rewriter, loc, type, dynamicSizes);
    SmallVector<OpFoldResult> at(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      at[dim] = offsets[i];
      result = tensor::InsertSliceOp::create(rewriter, loc, input, result, at,
                                             sizes[i], ones);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

static SmallVector<OpFoldResult>
getResultSizes(OpBuilder &, tensor::ExpandShapeOp op, ArrayRef<OpFoldResult>) {
  return op.getMixedOutputShape();
}

static SmallVector<OpFoldResult> getResultSizes(OpBuilder &b,
                                                tensor::CollapseShapeOp op,
                                                ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> result;
  AffineExpr x, y;
  bindSymbols(b.getContext(), x, y);
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    OpFoldResult product = b.getIndexAttr(1);
    for (int64_t d : group)
      product = affine::makeComposedFoldedAffineApply(b, op.getLoc(), x * y,
                                                      {product, sizes[d]});
    result.push_back(product);
  }
  return result;
}

template <typename OpTy>
LogicalResult ReshapePattern<OpTy>::matchAndRewrite(
    OpTy op, typename OpConversionPattern<OpTy>::OneToNOpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType from = op.getSrcType(), to = op.getResultType();
  Value source = adaptor.getSrc().front();
  RankedTensorType physical = *getPhysicalType(to);
  OpLayoutRule rule = getLayoutRule(op);
  if (rule.kind != OpLayoutRule::Kind::View)
    return this->reasons.fail(
        rewriter, op, "only the first dim of a group may have a dynamic size");
  LayoutMap viewed = getLayoutMap(from)->substitute(
      to.getRank(), rule.view.sourceDims, rule.view.sourceSizes, to.getShape());
  std::string whyNot;
  bool keepsPadding = !statesPadding(to) || getPadding(from) == getPadding(to);
  auto stored = cast<RankedTensorType>(source.getType());
  if (keepsPadding &&
      equalOn(viewed, *getLayoutMap(to), to.getShape()) == Answer::Yes) {
    SmallVector<OpFoldResult> sizes = getResultSizes(
        rewriter, op, getLogicalSizes(rewriter, loc, from, adaptor.getSrc()));
    Value result = reinterpretShape(rewriter, loc, source, physical,
                                    getPhysicalSizes(rewriter, loc, to, sizes));
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, result, sizes)});
    return success();
  }

  // Else as a conversion from the viewed layout, where that describes storage.
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return this->reasons.fail(
        rewriter, op,
        "a reshape with dynamic sizes needs a result with the storage of its "
        "source: convert to plain tensors around it");
  RankedTensorType viewType =
      withLayout(withoutLayout(to), viewed, getPadding(from));
  FailureOr<RankedTensorType> viewPhysical = getPhysicalType(viewType);
  if (succeeded(viewPhysical) && canReinterpret(stored, *viewPhysical)) {
    Value reinterpreted =
        reinterpretShape(rewriter, loc, source, *viewPhysical);
    FailureOr<Value> converted =
        convertStorage(rewriter, loc, viewType, reinterpreted, to, whyNot);
    if (succeeded(converted)) {
      rewriter.replaceOp(op, *converted);
      return success();
    }
  }
  return this->reasons.fail(rewriter, op, whyNot);
}

void layout::populateViewPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  Reasons &reasons) {
  patterns.add<ConcatPattern, ExtractSlicePattern, InsertSlicePattern,
               ReshapePattern<tensor::CollapseShapeOp>,
               ReshapePattern<tensor::ExpandShapeOp>>(
      converter, patterns.getContext(), reasons);
}
