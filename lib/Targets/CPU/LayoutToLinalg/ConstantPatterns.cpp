//===- ConstantPatterns.cpp - Constants packed at compile time ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "layout/Dialect/Layout/Utils/PackConstant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

struct ConstantPattern : OpConversionPattern<arith::ConstantOp> {
  ConstantPattern(const TypeConverter &converter, MLIRContext *context,
                  Reasons &reasons)
      : OpConversionPattern(converter, context), reasons(reasons) {}

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    auto value = dyn_cast<ElementsAttr>(op.getValue());
    SmallVector<Type> converted;
    if (!type || !value ||
        failed(typeConverter->convertType(type, converted)) ||
        converted.size() != 1)
      return rewriter.notifyMatchFailure(op, "no tensor of static shape");
    std::string whyNot;
    FailureOr<ElementsAttr> packed = packConstant(value, type, whyNot);
    if (failed(packed))
      return reasons.fail(rewriter, op, whyNot);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, *packed);
    return success();
  }

private:
  Reasons &reasons;
};

} // namespace

void layout::populateConstantPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      Reasons &reasons) {
  patterns.add<ConstantPattern>(converter, patterns.getContext(), reasons);
}
