//===- layout-reduce.cpp - Test case reduction ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-reduce with all dialects and passes of layout-opt. Upstream removes
// unused ops; this tool also replaces ops by an operand if the module stays
// interesting, e.g. a convolution by its destination, an addition by a term, or
// a loop by its initial value.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Registration/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

using namespace mlir;

/// Returns for each result of `op` the last operand of its type, e.g. the
/// destination of a linalg op. Returns an empty list if a result has no such
/// operand.
static SmallVector<Value> findReplacements(Operation *op) {
  SmallVector<Value> values;
  for (Type type : op->getResultTypes()) {
    auto operands = llvm::reverse(op->getOperands());
    auto it = llvm::find_if(
        operands, [&](Value value) { return value.getType() == type; });
    if (it == operands.end())
      return {};
    values.push_back(*it);
  }
  return values;
}

namespace {
struct ReplaceByOperand : RewritePattern {
  ReplaceByOperand(MLIRContext *context, const Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> values = findReplacements(op);
    if (values.empty())
      return rewriter.notifyMatchFailure(op, "a result has no operand's type");
    // The reducer applies patterns to all ops at once and keeps the outcome
    // only if it is interesting, so each replacement is tested separately here.
    IRMapping mapping;
    auto module = op->getParentOfType<ModuleOp>();
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
    Operation *twin = mapping.lookup(op);
    twin->replaceAllUsesWith(findReplacements(twin));
    twin->erase();
    if (tester.isInteresting(*copy).first != Tester::Interestingness::True)
      return rewriter.notifyMatchFailure(op, "it is needed");
    rewriter.replaceOp(op, values);
    return success();
  }

  const Tester &tester;
};

struct ReductionPatterns : DialectReductionPatternInterface {
  explicit ReductionPatterns(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &) const override {}
  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<ReplaceByOperand>(patterns.getContext(), tester);
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  layout::registerWithUpstream(registry);
  registry.addExtension(+[](MLIRContext *, layout::LayoutDialect *dialect) {
    dialect->addInterfaces<ReductionPatterns>();
  });
  MLIRContext context(registry);
  context.loadDialect<layout::LayoutDialect>();
  return failed(mlirReduceMain(argc, argv, context));
}
