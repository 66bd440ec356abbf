//===- ForallPattern.cpp - Parallel loops over storage --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts the shared tensors of scf.forall to their storage. Upstream patterns
// convert other control flow.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
struct ForallPattern : ReasonedPattern<scf::ForallOp> {
  using ReasonedPattern::ReasonedPattern;

  LogicalResult
  matchAndRewrite(scf::ForallOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> outputs;
    for (ValueRange output : adaptor.getOutputs()) {
      if (output.size() != 1)
        return reasons.fail(rewriter, op,
                            "the sizes of a shared tensor do not follow from "
                            "its storage: make them static");
      outputs.push_back(output.front());
    }
    auto getBounds = [&](ArrayRef<int64_t> known, auto dynamic) {
      SmallVector<Value> values;
      for (ValueRange value : dynamic)
        values.push_back(value.front());
      return getMixedValues(known, values, rewriter);
    };
    auto created = scf::ForallOp::create(
        rewriter, op.getLoc(),
        getBounds(op.getStaticLowerBound(), adaptor.getDynamicLowerBound()),
        getBounds(op.getStaticUpperBound(), adaptor.getDynamicUpperBound()),
        getBounds(op.getStaticStep(), adaptor.getDynamicStep()), outputs,
        op.getMapping());
    created->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.eraseBlock(created.getBody());
    Region &region = created.getRegion();
    rewriter.inlineRegionBefore(op.getRegion(), region, region.end());
    if (failed(rewriter.convertRegionTypes(&region, *typeConverter)))
      return failure();
    rewriter.replaceOp(op, created);
    return success();
  }
};
} // namespace

void layout::populateForallPattern(const TypeConverter &converter,
                                   RewritePatternSet &patterns,
                                   Reasons &reasons) {
  patterns.add<ForallPattern>(converter, patterns.getContext(), reasons);
}
