//===- layout-reduce.cpp - Smaller modules, same fault --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-reduce with all dialects and passes that layout-opt knows. Upstream's
// removes operations that nobody uses; here others go, too, in favor of an
// operand, where the module stays interesting: a convolution becomes its
// destination, a sum one of its terms, a loop what it starts from.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Pipelines/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

using namespace mlir;

/// An operand of the type of each result, the last one that has it:
/// destinations stand behind inputs. Nothing where a result has none.
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
    // The reducer applies its patterns to all operations at once and goes on
    // from there only if the outcome is interesting: so each is tried here.
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
