//===- ViewPatterns.cpp - Reshapes and packing ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view of laid-out tensors becomes a view of storage if the same elements are
// at the same positions (L7). Otherwise, the viewed storage is converted.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

template <typename OpTy> struct ReshapePattern : ReasonedPattern<OpTy> {
  using ReasonedPattern<OpTy>::ReasonedPattern;

  LogicalResult
  matchAndRewrite(OpTy op,
                  typename OpConversionPattern<OpTy>::OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

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

/// Returns the sizes of the result of linalg.pack or linalg.unpack, given the
/// `sizes` of the source. A dynamic size is that of a source dim, because dims
/// of dynamic size are not tiled.
template <typename OpTy>
static SmallVector<OpFoldResult> getResultSizes(OpBuilder &b, OpTy op,
                                                ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> result;
  auto view = std::get<ViewRule>(getLayoutRule(op));
  for (auto [d, size] : llvm::enumerate(op.getDestType().getShape()))
    result.push_back(ShapedType::isDynamic(size)
                         ? sizes[view.toResult.dims[d].getSingleDigit()->dim]
                         : OpFoldResult(b.getIndexAttr(size)));
  return result;
}

template <typename OpTy>
LogicalResult ReshapePattern<OpTy>::matchAndRewrite(
    OpTy op, typename OpConversionPattern<OpTy>::OneToNOpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  ValueRange sources = adaptor.getOperands().front();
  Value source = sources.front();
  RankedTensorType physical = *getPhysicalType(to);
  OpLayoutRule rule = getLayoutRule(op);
  auto *view = std::get_if<ViewRule>(&rule);
  if (!view)
    return this->reasons.fail(
        rewriter, op,
        "only the first dim of a group may have a dynamic size, and packing "
        "may not pad");
  LayoutMap viewed = applyView(*getLayoutMap(from), view->toSource);
  bool keepsPadding = carriesPadding(from, to);
  auto stored = cast<RankedTensorType>(source.getType());
  if (keepsPadding && equalOn(viewed, *getLayoutMap(to), to.getShape()) ==
                          ProofResult::Proved) {
    SmallVector<OpFoldResult> sizes = getResultSizes(
        rewriter, op, getLogicalSizes(rewriter, loc, from, sources));
    Value result = reinterpretShape(rewriter, loc, source, physical,
                                    getPhysicalSizes(rewriter, loc, to, sizes));
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, result, sizes)});
    return success();
  }

  // Otherwise, convert from the viewed layout if it describes the storage.
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
    rewriter.replaceOp(
        op, convertStorage(rewriter, loc, viewType, reinterpreted, to));
    return success();
  }
  return this->reasons.fail(rewriter, op,
                            "the storage of its source has different positions "
                            "in the result's shape");
}

void layout::populateViewPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  Reasons &reasons) {
  patterns
      .add<ReshapePattern<tensor::CollapseShapeOp>,
           ReshapePattern<tensor::ExpandShapeOp>,
           ReshapePattern<linalg::PackOp>, ReshapePattern<linalg::UnPackOp>>(
          converter, patterns.getContext(), reasons);
}
