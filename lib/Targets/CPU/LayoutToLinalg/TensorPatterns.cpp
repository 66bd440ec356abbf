//===- TensorPatterns.cpp - tensor ops that keep their dims ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "Patterns.h"
#include "Structured.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/WholeAxes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Lowers tensor.empty. Storage with stated padding is filled, unless all users
/// write every position.
struct EmptyPattern : ReasonedPattern<tensor::EmptyOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::EmptyOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    bool isOverwritten = llvm::all_of(op->getUses(), [](OpOperand &use) {
      auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
      if (!user || !user.isDpsInit(&use))
        return false;
      StructuredOp structured = describeLinalgOp(user);
      unsigned result = use.getOperandNumber() - user.getNumDpsInputs();
      return !structured.readsInit[result] &&
             user.getNumReductionLoops() == 0 &&
             coversStorage(structured, result);
    });
    Value physical = statesPadding(type) && !isOverwritten
                         ? createPadded(rewriter, op.getLoc(), type, sizes)
                         : createEmpty(rewriter, op.getLoc(), type, sizes);
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, op.getLoc(), type, physical, sizes)});
    return success();
  }
};

struct DimPattern : ReasonedPattern<tensor::DimOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::DimOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!type || !dim || *dim < 0 || *dim >= type.getRank())
      return reasons.fail(rewriter, op, "the requested dim is not a constant");
    SmallVector<OpFoldResult> sizes =
        getLogicalSizes(rewriter, op.getLoc(), type, adaptor.getSource());
    rewriter.replaceOp(op, getValueOrCreateConstantIndexOp(
                               rewriter, op.getLoc(), sizes[*dim]));
    return success();
  }
};

/// Lowers casts between static and dynamic sizes to casts of the physical
/// tensor. A cast that changes the layout, or adds stated padding, is not
/// lowered.
struct CastPattern : ReasonedPattern<tensor::CastOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::CastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(op.getType());
    if (!from || !to)
      return reasons.fail(rewriter, op, "an unranked tensor has no layout");
    if (*getLayoutMap(from) != *getLayoutMap(to) || !carriesPadding(from, to))
      return reasons.fail(rewriter, op,
                          "a cast changes sizes, not the layout: use "
                          "layout.convert for that");
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> sizes =
        getLogicalSizes(rewriter, loc, from, adaptor.getSource());
    Value physical = tensor::CastOp::create(rewriter, loc, *getPhysicalType(to),
                                            adaptor.getSource().front());
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, physical, sizes)});
    return success();
  }
};

struct ExtractPattern : ReasonedPattern<tensor::ExtractOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::ExtractOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getTensor().getType();
    SmallVector<OpFoldResult> sizes =
        getLogicalSizes(rewriter, loc, type, adaptor.getTensor());
    rewriter.replaceOp(op, extractElement(rewriter, loc, type,
                                          adaptor.getTensor().front(),
                                          op.getIndices(), sizes));
    return success();
  }
};

/// Lowers tensor.pad to a pad of the physical tensor if the padded dims are
/// whole stored axes, the padding is one value, and keepsPadding holds; else to
/// a gather.
struct PadPattern : ReasonedPattern<tensor::PadOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(tensor::PadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// Returns true if a pad of a tensor by `value` can be a pad of its physical
/// tensor. Either the result states no padding, or `value` and the padding of
/// the source, e.g. in incomplete blocks, are the padding that it states.
static bool keepsPadding(tensor::PadOp op, Value value) {
  RankedTensorType to = op.getResultType();
  if (!statesPadding(to))
    return true;
  Attribute constant;
  return getPadding(op.getSourceType()) == getPadding(to) &&
         matchPattern(value, m_Constant(&constant)) &&
         constant == getPadding(to);
}

/// Returns the element of the result of `op` at `index`. In a border, this is
/// what the body of `op` yields, else an element of `source`. `padded` are the
/// dims that may have borders; `low` has the width of the lower border of each
/// dim. The sizes of the source are given twice: `sizes` has them as values.
static Value emitPaddedElement(OpBuilder &b, Location loc, tensor::PadOp op,
                               Value source, ArrayRef<OpFoldResult> sourceSizes,
                               ValueRange low, ValueRange sizes,
                               const llvm::SmallBitVector &padded,
                               ValueRange index) {
  Value valid;
  SmallVector<Value> inner(index);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (int64_t d : padded.set_bits()) {
    inner[d] = arith::SubIOp::create(b, loc, index[d], low[d]);
    for (auto [predicate, bound] :
         {std::make_pair(arith::CmpIPredicate::sge, zero),
          std::make_pair(arith::CmpIPredicate::slt, sizes[d])}) {
      Value holds = arith::CmpIOp::create(b, loc, predicate, inner[d], bound);
      valid = valid ? arith::AndIOp::create(b, loc, valid, holds) : holds;
    }
  }
  auto inside = [&](OpBuilder &b, Location loc) {
    return extractElement(b, loc, op.getSourceType(), source, inner,
                          sourceSizes);
  };
  auto border = [&](OpBuilder &b, Location loc) {
    IRMapping mapping;
    Block *body = op.getBody();
    mapping.map(body->getArguments(), index);
    for (Operation &inner : body->without_terminator())
      b.clone(inner, mapping);
    return mapping.lookupOrDefault(body->getTerminator()->getOperand(0));
  };
  return emitChoice(b, loc, valid, inside, border);
}

LogicalResult
PadPattern::matchAndRewrite(tensor::PadOp op, OneToNOpAdaptor adaptor,
                            ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType from = op.getSourceType(), to = op.getResultType();
  ValueRange source = adaptor.getSource();
  SmallVector<OpFoldResult> low = op.getMixedLowPad();
  SmallVector<OpFoldResult> high = op.getMixedHighPad();
  SmallVector<OpFoldResult> fromSizes =
      getLogicalSizes(rewriter, loc, from, source);
  SmallVector<OpFoldResult> sizes;
  for (unsigned d = 0; d < fromSizes.size(); ++d) {
    AffineExpr a, b, c;
    bindSymbols(op.getContext(), a, b, c);
    sizes.push_back(
        to.isDynamicDim(d)
            ? affine::makeComposedFoldedAffineApply(
                  rewriter, loc, a + b + c, {low[d], fromSizes[d], high[d]})
            : OpFoldResult(rewriter.getIndexAttr(to.getDimSize(d))));
  }

  llvm::SmallBitVector padded(from.getRank());
  for (unsigned d = 0; d < padded.size(); ++d)
    padded[d] =
        !isConstantIntValue(low[d], 0) || !isConstantIntValue(high[d], 0);
  Value value = op.getConstantPaddingValue();
  std::optional<WholeAxes> axes = findWholeAxes(from, to, padded);
  Value result;
  if (value && axes && keepsPadding(op, value)) {
    SmallVector<OpFoldResult> zeros(axes->dimOfAxis.size(),
                                    rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> physicalLow = axes->permute(low, zeros);
    SmallVector<OpFoldResult> physicalHigh = axes->permute(high, zeros);
    // Constant amounts may make dims static that are dynamic in the type.
    result = tensor::PadOp::create(rewriter, loc, /*resultType=*/Type(),
                                   source.front(), physicalLow, physicalHigh,
                                   value, op.getNofold());
    result = rewriter.createOrFold<tensor::CastOp>(loc, *getPhysicalType(to),
                                                   result);
  } else {
    SmallVector<Value> lowValues =
        getValueOrCreateConstantIndexOp(rewriter, loc, low);
    SmallVector<Value> sizeValues =
        getValueOrCreateConstantIndexOp(rewriter, loc, fromSizes);
    auto element = [&](OpBuilder &b, Location loc, ValueRange index) {
      return emitPaddedElement(b, loc, op, source.front(), fromSizes, lowValues,
                               sizeValues, padded, index);
    };
    result = emitGather(rewriter, loc, to, sizes, element);
  }
  rewriter.replaceOpWithMultiple(
      op, {withCarriedSizes(rewriter, loc, to, result, sizes)});
  return success();
}

void layout::populateTensorPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    Reasons &reasons) {
  patterns
      .add<EmptyPattern, DimPattern, CastPattern, ExtractPattern, PadPattern>(
          converter, patterns.getContext(), reasons);
}
