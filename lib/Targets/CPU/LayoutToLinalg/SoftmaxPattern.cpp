//===- SoftmaxPattern.cpp - Softmax over storage --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax along a whole axis of storage becomes softmax along that axis. Rows
// are independent, so values in padding affect only padding. Any other softmax
// runs on the plain tensor, between two conversions.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/WholeAxes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
struct SoftmaxPattern : ReasonedPattern<linalg::SoftmaxOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(linalg::SoftmaxOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto from = dyn_cast<RankedTensorType>(op.getInput().getType());
    auto to = dyn_cast<RankedTensorType>(op.getOutput().getType());
    if (!from || !to)
      return reasons.fail(rewriter, op, "the op does not work on tensors");
    unsigned dim = op.getDimension();
    SmallVector<OpFoldResult> sizes =
        getLogicalSizes(rewriter, loc, to, adaptor.getOutput());
    llvm::SmallBitVector touched(from.getRank());
    touched.set(dim);
    std::optional<WholeAxes> axes = findWholeAxes(from, to, touched);
    if (axes && !statesPadding(to)) {
      unsigned axis =
          llvm::find(axes->dimOfAxis, dim) - axes->dimOfAxis.begin();
      auto softmax = linalg::SoftmaxOp::create(
          rewriter, loc, TypeRange(*getPhysicalType(to)),
          adaptor.getInput().front(), adaptor.getOutput().front(), axis);
      rewriter.replaceOpWithMultiple(
          op,
          {withCarriedSizes(rewriter, loc, to, softmax->getResult(0), sizes)});
      return success();
    }
    RankedTensorType plain = withoutLayout(to);
    Value input = convertStorage(rewriter, loc, from, adaptor.getInput(),
                                 withoutLayout(from));
    Value init = createEmpty(rewriter, loc, plain, sizes);
    auto softmax = linalg::SoftmaxOp::create(rewriter, loc, TypeRange(plain),
                                             input, init, dim);
    Value result =
        convertStorage(rewriter, loc, plain, softmax->getResults(), to);
    rewriter.replaceOpWithMultiple(
        op, {withCarriedSizes(rewriter, loc, to, result, sizes)});
    return success();
  }
};
} // namespace

void layout::populateSoftmaxPattern(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    Reasons &reasons) {
  patterns.add<SoftmaxPattern>(converter, patterns.getContext(), reasons);
}
