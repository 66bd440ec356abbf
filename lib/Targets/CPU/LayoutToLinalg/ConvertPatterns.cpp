//===- ConvertPatterns.cpp - layout ops to linalg -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers conversions by their plans (ConversionPlan.h):
//
//   kind         lowering
//   Same, View   reshape of the tensor
//   Padding      reshape, and a fill of the padding
//   Relayout     copies of boxes of digits (CopyBoxes.h), a structured op over
//                all digits, or a gather over the result's storage; with
//                pack-ops, linalg.pack or linalg.unpack if possible (PackOps.h)
//
//===----------------------------------------------------------------------===//

#include "CopyBoxes.h"
#include "Gather.h"
#include "PackOps.h"
#include "Patterns.h"
#include "Structured.h"
#include "layout/Algebra/Proof.h"
#include "layout/Analysis/ConversionPlan.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/PackConstant.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

/// Emits `copy` as one linalg op with a loop per digit that source and result
/// have in common. The source is sliced or padded to whole digits before.
/// Returns the physical tensor of type `to`.
static Value emitWhole(OpBuilder &b, Location loc, const CopyPlan &copy,
                       RankedTensorType from, ValueRange source,
                       RankedTensorType to, ArrayRef<OpFoldResult> sizes) {
  StructuredOp op;
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(from.getRank(), from.getContext());
  op.operands = {{identity, from, false}, {identity, to, true}};
  op.iterators.assign(from.getRank(), utils::IteratorType::parallel);
  op.sizes = llvm::to_vector(from.getShape());
  // Where the loops reach padding, the value of the earlier fill stays.
  op.readsInit = {copy.prefills};
  op.copyMask = copy.maskedDims;
  Value init = copy.prefills ? createPadded(b, loc, to, sizes)
                             : createEmpty(b, loc, to, sizes);
  return lowerStructured(b, loc, op, {source, ValueRange(init)}, copy.space)
      .front();
}

/// Emits the conversion `plan` and returns the physical tensor of type `to`.
/// `source` is the physical tensor of type `from`, followed by its sizes that
/// are passed separately. With `packOps`, copies become linalg.pack or
/// linalg.unpack where possible.
static Value emitPlan(OpBuilder &b, Location loc, ConversionPlan plan,
                      RankedTensorType from, ValueRange source,
                      RankedTensorType to, bool packOps = false) {
  using Kind = ConversionPlan::Kind;
  RankedTensorType physical = *getPhysicalType(to);
  auto stored = cast<RankedTensorType>(source.front().getType());
  if (plan.kind != Kind::Relayout) {
    if (hasNoElements(physical))
      return createEmpty(b, loc, to, getLogicalSizes(b, loc, from, source));
    if (canReinterpret(stored, physical)) {
      Value same = reinterpretShape(b, loc, source.front(), physical);
      if (plan.isFree())
        return same;
      return emitFills(b, loc, *plan.copy, same, to,
                       getLogicalSizes(b, loc, from, source));
    }
    // A reshape cannot be derived from these dynamic sizes, so the elements are
    // copied.
    plan = ConversionPlan::getOfMove(from, to);
  }

  SmallVector<OpFoldResult> sizes = getLogicalSizes(b, loc, from, source);
  if (plan.copy && packOps)
    if (Value packed =
            emitPackOps(b, loc, *plan.copy, source.front(), to, sizes))
      return packed;
  if (plan.copy && plan.copy->method == CopyPlan::Method::Boxes)
    return emitBoxes(b, loc, *plan.copy, source.front(), to, sizes);
  if (plan.copy)
    return emitWhole(b, loc, *plan.copy, from, source, to, sizes);
  return emitGather(
      b, loc, to, sizes, [&](OpBuilder &b, Location loc, ValueRange index) {
        return extractElement(b, loc, from, source.front(), index, sizes);
      });
}

Value layout::convertStorage(OpBuilder &b, Location loc, RankedTensorType from,
                             ValueRange source, RankedTensorType to) {
  return emitPlan(b, loc, ConversionPlan::get(from, to), from, source, to);
}

/// Lowers a conversion of the result of a tensor.expand_shape to a tensor
/// without layout: converts the source of the expand_shape instead, and expands
/// the result. A stored axis that mixes expanded dims can be a tiled dim of
/// that source, as linalg.unpack requires. Returns a null value for other
/// conversions, if no axis mixes dims, if a size is dynamic, or if the
/// expand_shape changes the storage.
static Value convertBeforeExpand(OpBuilder &b, ConvertOp op, Value source) {
  auto expand = op.getSource().getDefiningOp<tensor::ExpandShapeOp>();
  RankedTensorType to = op.getResult().getType();
  if (!expand || hasLayout(to) || !to.hasStaticShape())
    return {};
  RankedTensorType from = op.getSource().getType();
  RankedTensorType before = expand.getSrcType();
  FailureOr<CopyPlan> copy = planCopy(from, to);
  OpLayoutRule rule = getLayoutRule(expand);
  auto *view = std::get_if<ViewRule>(&rule);
  auto isMixed = [](const AxisAccess &axis) { return axis.digits.empty(); };
  if (failed(copy) || copy->space.operands.empty() ||
      llvm::none_of(copy->space.operands[0], isMixed) || !view ||
      equalOn(applyView(*getLayoutMap(before), view->toSource),
              *getLayoutMap(from), from.getShape()) != ProofResult::Proved)
    return {};
  Location loc = op.getLoc();
  Value stored = reinterpretShape(b, loc, source, *getPhysicalType(before));
  RankedTensorType plain = withoutLayout(before);
  Value converted = emitPlan(b, loc, ConversionPlan::get(before, plain), before,
                             stored, plain, /*packOps=*/true);
  return reinterpretShape(b, loc, converted, to);
}

namespace {

struct ConvertPattern : OpConversionPattern<ConvertOp> {
  ConvertPattern(const TypeConverter &converter, MLIRContext *context,
                 bool packOps)
      : OpConversionPattern(converter, context), packOps(packOps) {}

  LogicalResult
  matchAndRewrite(ConvertOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getSource().getType();
    RankedTensorType to = op.getResult().getType();
    SmallVector<Type> converted;
    if (failed(typeConverter->convertTypes(TypeRange{from, to}, converted)))
      return failure();
    // A constant is converted at compile time.
    ElementsAttr constant;
    if (to.hasStaticShape() &&
        matchPattern(op.getSource(), m_Constant(&constant)))
      if (FailureOr<ElementsAttr> packed = packConstant(constant, to);
          succeeded(packed)) {
        rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, *packed);
        return success();
      }
    ValueRange source = adaptor.getSource();
    Value result;
    if (packOps)
      result = convertBeforeExpand(rewriter, op, source.front());
    if (!result)
      result = emitPlan(rewriter, op.getLoc(), ConversionPlan::get(op), from,
                        source, to, packOps);
    SmallVector<OpFoldResult> sizes;
    if (!getCarriedDims(to).empty())
      sizes = getLogicalSizes(rewriter, op.getLoc(), from, source);
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, op.getLoc(), to, result, sizes)});
    return success();
  }

private:
  bool packOps;
};

struct StorageViewPattern : OpConversionPattern<StorageViewOp> {
  StorageViewPattern(const TypeConverter &converter, MLIRContext *context,
                     Reasons &reasons)
      : OpConversionPattern(converter, context), reasons(reasons) {}

  LogicalResult
  matchAndRewrite(StorageViewOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getSource().getType();
    RankedTensorType to = op.getResult().getType();
    SmallVector<Type> converted;
    if (failed(typeConverter->convertTypes(TypeRange{from, to}, converted)))
      return failure();
    Location loc = op.getLoc();
    ValueRange source = adaptor.getSource();
    if (!areSizesStored(to))
      return reasons.fail(
          rewriter, op,
          "the logical sizes of the result do not follow from its storage: "
          "make them static, or pass the logical tensor and convert it");
    // A storage_view keeps the order of elements, so it is a reshape.
    if (hasLayout(from)) {
      SmallVector<OpFoldResult> sizes =
          getLogicalSizes(rewriter, loc, from, source);
      rewriter.replaceOp(
          op, reinterpretShape(rewriter, loc, source.front(), to,
                               getStorageSizes(rewriter, loc, from, sizes)));
      return success();
    }
    SmallVector<OpFoldResult> sizes =
        readLogicalSizes(rewriter, loc, to, source.front());
    Value physical =
        reinterpretShape(rewriter, loc, source.front(), *getPhysicalType(to),
                         getPhysicalSizes(rewriter, loc, to, sizes));
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, physical, sizes)});
    return success();
  }

private:
  Reasons &reasons;
};

} // namespace

void layout::populateConvertPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     Reasons &reasons, bool packOps) {
  patterns.add<ConvertPattern>(converter, patterns.getContext(), packOps);
  patterns.add<StorageViewPattern>(converter, patterns.getContext(), reasons);
}
