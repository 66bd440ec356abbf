//===- VerifyLayouts.cpp - layout-verify ----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies every layout again, because passes build types unchecked, and every
// op against its layout rule, because the verifiers of upstream ops ignore
// layouts.
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/TargetModel.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/RuleCheck.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::layout {
#define GEN_PASS_DEF_VERIFYLAYOUTSPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {

class Verifier {
public:
  explicit Verifier(bool usesPerElementAddressing)
      : usesPerElementAddressing(usesPerElementAddressing) {}

  LogicalResult verify(Operation *op);

private:
  LogicalResult verifyType(Location loc, Type type);

  bool usesPerElementAddressing;
  DenseSet<Type> valid; // types are checked once
};

} // namespace

static bool hasLaidOutTensor(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), hasLayout) ||
         llvm::any_of(op->getResultTypes(), hasLayout);
}

LogicalResult Verifier::verifyType(Location loc, Type type) {
  if (!hasLayout(type) || !valid.insert(type).second)
    return success();
  auto tensor = cast<RankedTensorType>(type);
  auto layout = cast<LayoutAttrInterface>(tensor.getEncoding());
  auto emit = [&] { return emitError(loc); };
  FailureOr<LayoutMap> map =
      layout.resolve(tensor.getShape(), tensor.getElementType(), emit);
  return failure(failed(map) ||
                 failed(verifyLayout(*map, layout, tensor.getShape(),
                                     tensor.getElementType(), emit)));
}

LogicalResult Verifier::verify(Operation *op) {
  for (Value result : op->getResults())
    if (failed(verifyType(op->getLoc(), result.getType())))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (failed(verifyType(argument.getLoc(), argument.getType())))
          return failure();
  if (!hasLaidOutTensor(op) || isa<ConvertOp, StorageViewOp>(op))
    return success();
  return checkRule(
      op, getLayoutRule(op),
      [&](const Twine &why) { op->emitOpError() << why; },
      usesPerElementAddressing);
}

static LogicalResult verifyFor(Operation *root, bool usesPerElementAddressing) {
  Verifier verifier(usesPerElementAddressing);
  bool ok = true;
  root->walk([&](Operation *op) { ok &= succeeded(verifier.verify(op)); });
  return success(ok);
}

LogicalResult layout::verifyLayouts(Operation *root) {
  return verifyFor(root, /*usesPerElementAddressing=*/false);
}

namespace {
struct VerifyLayoutsPass
    : public layout::impl::VerifyLayoutsPassBase<VerifyLayoutsPass> {
  using VerifyLayoutsPassBase::VerifyLayoutsPassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    markAllAnalysesPreserved();
    FailureOr<TargetInterface> wanted = findTarget(root, target);
    if (failed(wanted) ||
        failed(verifyFor(
            root, TargetModel::get(*wanted)->usesPerElementAddressing())))
      signalPassFailure();
  }
};
} // namespace
