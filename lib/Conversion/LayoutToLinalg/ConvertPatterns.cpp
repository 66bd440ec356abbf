//===- ConvertPatterns.cpp - layout ops to linalg -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A conversion becomes, in this order of preference,
//  1. the same tensor, where both types store alike and the padding stays;
//  2. the structured copy: slice, pad, expand, transpose, collapse, which is
//     what linalg.pack and linalg.unpack are made of, and more general: blocked
//     to blocked in one pass, several factors, holes of the source;
//  3. a gather over the destination's storage.
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "Patterns.h"
#include "Structured.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

/// The conversion as a structured op over the logical box.
static StructuredOp getCopy(RankedTensorType from, RankedTensorType to,
                            bool readsInit) {
  StructuredOp op;
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(from.getRank(), from.getContext());
  op.operands = {{identity, from, false}, {identity, to, true}};
  op.iterators.assign(from.getRank(), utils::IteratorType::parallel);
  op.sizes = llvm::to_vector(from.getShape());
  op.readsInit = {readsInit};
  return op;
}

FailureOr<Value> layout::convertStorage(OpBuilder &b, Location loc,
                                        RankedTensorType from,
                                        ValueRange source, RankedTensorType to,
                                        std::string &whyNot) {
  RankedTensorType physical = *getPhysicalType(to);
  auto stored = cast<RankedTensorType>(source.front().getType());
  bool keepsPadding = !statesPadding(to) || getPadding(from) == getPadding(to);
  if (keepsPadding && storeAlike(from, to) && canReinterpret(stored, physical))
    return reinterpretShape(b, loc, source.front(), physical);

  SmallVector<OpFoldResult> sizes = getLogicalSizes(b, loc, from, source);
  StructuredOp op = getCopy(from, to, /*readsInit=*/false);
  if (succeeded(checkStructured(op, whyNot))) {
    bool prefills = statesPadding(to) && !coversStorage(op, 0);
    Value init = prefills ? createPadded(b, loc, to, sizes)
                          : createEmpty(b, loc, to, sizes);
    // What was there has to stay where the loops reach more than the box.
    op.readsInit = {prefills};
    return lowerStructured(b, loc, op, {source, ValueRange(init)}, whyNot)
        ->front();
  }
  std::string structured = whyNot;
  whyNot.clear();
  FailureOr<Value> gathered = emitGather(
      b, loc, to, sizes,
      [&](OpBuilder &b, Location loc, ValueRange index) {
        return extractElement(b, loc, from, source.front(), index, sizes);
      },
      whyNot);
  if (failed(gathered))
    whyNot = structured + "; " + whyNot;
  return gathered;
}

namespace {

struct ConvertPattern : OpConversionPattern<ConvertOp> {
  ConvertPattern(const TypeConverter &converter, MLIRContext *context,
                 Reasons &reasons)
      : OpConversionPattern(converter, context), reasons(reasons) {}

  LogicalResult
  matchAndRewrite(ConvertOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getSource().getType();
    RankedTensorType to = op.getResult().getType();
    SmallVector<Type> converted;
    if (failed(typeConverter->convertTypes(TypeRange{from, to}, converted)))
      return failure();
    std::string whyNot;
    // A constant is converted at compile time.
    ElementsAttr constant;
    if (to.hasStaticShape() &&
        matchPattern(op.getSource(), m_Constant(&constant)))
      if (ElementsAttr packed = packConstant(constant, to, whyNot)) {
        rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, packed);
        return success();
      }
    ValueRange source = adaptor.getSource();
    FailureOr<Value> result =
        convertStorage(rewriter, op.getLoc(), from, source, to, whyNot);
    if (failed(result))
      return reasons.fail(rewriter, op, whyNot);
    SmallVector<OpFoldResult> sizes;
    if (!getCarriedDims(to).empty())
      sizes = getLogicalSizes(rewriter, op.getLoc(), from, source);
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, op.getLoc(), to, *result, sizes)});
    return success();
  }

private:
  Reasons &reasons;
};

struct StorageViewPattern : OpConversionPattern<StorageViewOp> {
  StorageViewPattern(const TypeConverter &converter, MLIRContext *context,
                     Reasons &reasons)
      : OpConversionPattern(converter, context), reasons(reasons) {}

  LogicalResult
  matchAndRewrite(StorageViewOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType to = op.getResult().getType();
    SmallVector<Type> converted;
    if (failed(typeConverter->convertTypes(
            TypeRange{op.getSource().getType(), to}, converted)))
      return failure();
    if (!getCarriedDims(to).empty())
      return reasons.fail(
          rewriter, op,
          "the logical sizes of the result cannot be read off its storage: "
          "make them static, or take the logical tensor and convert it");
    // The storage is what the physical tensor is.
    rewriter.replaceOp(op, adaptor.getSource().front());
    return success();
  }

private:
  Reasons &reasons;
};

} // namespace

void layout::populateConvertPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns,
                                     Reasons &reasons) {
  patterns.add<ConvertPattern, StorageViewPattern>(
      converter, patterns.getContext(), reasons);
}
