//===- layout-baselines.cpp - Baseline layout assignments -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the project's passes and two more. `layout-baseline` replaces
// `layout-solve` and sets the same attributes, with the lower bound of the
// solver. `layout-insert-for-each` replaces `layout-materialize` after
// `rule=greedy`, which shares no conversion.
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Baselines.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Registration/Registration.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
struct BaselinePass : PassWrapper<BaselinePass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BaselinePass)

  BaselinePass() = default;
  BaselinePass(const BaselinePass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "layout-baseline"; }
  StringRef getDescription() const override {
    return "Decides layouts by a rule of another compiler";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LayoutDialect>();
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    FailureOr<TargetInterface> wanted = layout::getTarget(root, target);
    FailureOr<LayoutConstraints> pins = readConstraints(root);
    if (failed(wanted) || failed(pins))
      return signalPassFailure();
    CostModel costs(*wanted, objective);
    LayoutAssignment assignment = assignLayouts(root, costs, {}, {}, *pins);
    setBaseline(assignment, rule, costs);
    emitDecisionRemarks(root, assignment, costs);
    writeDecision(root, assignment, costs);
  }

  Option<Baseline> rule{
      *this, "rule", llvm::cl::desc("What to choose by"),
      llvm::cl::values(
          clEnumValN(Baseline::forward, "forward", "Follow the first operand"),
          clEnumValN(Baseline::priority, "priority",
                     "Spread from ops with needs, first come first served"),
          clEnumValN(Baseline::rank, "rank",
                     "Lower the ranks of converted tensors, op by op"),
          clEnumValN(Baseline::majority, "majority", "Follow most neighbors"),
          clEnumValN(Baseline::bidirectional, "bidirectional",
                     "Follow the first operand, then the consumers"),
          clEnumValN(Baseline::greedy, "greedy",
                     "Each op says what it is stored in; nothing is shared"))};
  Option<Objective> objective{
      *this, "objective", llvm::cl::desc("What is counted"),
      llvm::cl::init(Objective::time),
      llvm::cl::values(
          clEnumValN(Objective::time, "time", "Modeled time"),
          clEnumValN(Objective::bytes, "bytes", "Bytes moved by conversions"))};
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("What layouts are for")};
};

struct InsertForEachPass : PassWrapper<InsertForEachPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InsertForEachPass)

  StringRef getArgument() const override { return "layout-insert-for-each"; }
  StringRef getDescription() const override {
    return "Applies a decision, with a conversion for each consumer";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<LayoutDialect>();
  }

  void runOnOperation() override {
    llvm::DenseSet<Operation *> before;
    getOperation()->walk([&](ConvertOp op) { before.insert(op); });
    if (failed(insertLayoutTransforms(getOperation())))
      return signalPassFailure();
    getOperation()->walk([&](ConvertOp op) {
      // Constants are converted at compile time.
      if (!before.contains(op) && !matchPattern(op.getSource(), m_Constant()))
        unshare(op);
    });
  }

  void unshare(ConvertOp op) {
    OpBuilder builder(op);
    Operation *last = nullptr, *copy = op;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      if (last && last != use.getOwner())
        copy = builder.clone(*op);
      last = use.getOwner();
      use.set(copy->getResult(0));
    }
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  layout::registerWithUpstream(registry);
  PassRegistration<BaselinePass>();
  PassRegistration<InsertForEachPass>();
  return asMainReturnCode(MlirOptMain(
      argc, argv, "Layouts as other compilers choose them\n", registry));
}
