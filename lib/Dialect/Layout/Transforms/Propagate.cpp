//===- Propagate.cpp - Deciding layouts -----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decision.h"
#include "layout/Analysis/Assignment.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PROPAGATEPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

static ArrayAttr toAttr(ArrayRef<LayoutId> layouts, const CostModel &costs,
                        MLIRContext *context) {
  SmallVector<Attribute> attrs;
  for (LayoutId layout : layouts)
    attrs.push_back(layout == kAnyLayout
                        ? Attribute(UnitAttr::get(context))
                        : MapAttr::get(context, costs.getMap(layout)));
  return ArrayAttr::get(context, attrs);
}

void layout::writeDecision(Operation *root, const LayoutAssignment &assignment,
                           const CostModel &costs) {
  MLIRContext *context = root->getContext();
  for (auto [i, candidates] : llvm::enumerate(assignment.candidates.ops)) {
    const OpConfig &config = assignment.getConfig(i);
    if (config.origin == OpConfig::Origin::AsTyped)
      continue;
    Operation *op = candidates.op;
    op->setDiscardableAttr(kOperandLayouts,
                           toAttr(config.exact.operands, costs, context));
    op->setDiscardableAttr(kResultLayouts,
                           toAttr(config.exact.results, costs, context));
  }
  Builder builder(context);
  root->setDiscardableAttr(
      kAssignment,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("cost",
                                builder.getI64IntegerAttr(assignment.cost)),
           builder.getNamedAttr(
               "conversion_cost",
               builder.getI64IntegerAttr(assignment.conversionCost)),
           builder.getNamedAttr("lower_bound", builder.getI64IntegerAttr(
                                                   assignment.lowerBound))}));
}

static StringRef getFunctionName(Operation *op) {
  auto function = op ? dyn_cast<FunctionOpInterface>(op) : nullptr;
  if (op && !function)
    function = op->getParentOfType<FunctionOpInterface>();
  return function ? function.getName() : StringRef();
}

static remark::RemarkOpts options(StringRef name, Operation *op) {
  return remark::RemarkOpts::name(name).category("layout").function(
      getFunctionName(op));
}

static std::string print(const LayoutMap &map) {
  return "#layout.map<" + map.str() + ">";
}

/// True for ops whose types are fixed by what they are: boundaries and jumps.
static bool isBoundary(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() || isa<CallOpInterface>(op) ||
         isa_and_nonnull<LayoutDialect>(op->getDialect());
}

static void remarkConversion(const PlannedConversion &conversion,
                             CostModel &costs) {
  Operation *producer = conversion.value.getDefiningOp();
  Operation *anchor = conversion.consumers.front().first;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "conversion of " << conversion.value.getType() << " from "
     << print(costs.getMap(conversion.from)) << " to "
     << print(costs.getMap(conversion.to)) << " because ";
  llvm::interleave(
      conversion.consumers, os,
      [&](auto &consumer) {
        os << consumer.first->getName() << " "
           << describe(*consumer.second, costs);
      },
      " and ");
  os << ", and ";
  if (producer && conversion.producer)
    os << producer->getName() << " " << describe(*conversion.producer, costs);
  else
    os << "the value is an argument, whose type is fixed";
  remark::passed(conversion.value.getLoc(), options("Convert", anchor))
      << text << remark::metric("BytesRead", conversion.plan.bytesRead)
      << remark::metric("BytesWritten", conversion.plan.bytesWritten)
      << remark::metric("Cost", conversion.cost);
}

void layout::emitDecisionRemarks(Operation *root,
                                 const LayoutAssignment &assignment,
                                 CostModel &costs) {
  if (!root->getContext()->getRemarkEngine())
    return;
  for (const PlannedConversion &conversion : assignment.conversions)
    remarkConversion(conversion, costs);
  for (const OpCandidates &candidates : assignment.candidates.ops) {
    Operation *op = candidates.op;
    if (candidates.rule.kind == OpLayoutRule::Kind::Opaque &&
        !candidates.isPinned && !isBoundary(op))
      remark::analysis(op->getLoc(), options("OpaqueOp", op))
          << (op->getName().getStringRef() +
              " has no layout rule for these operands: its tensors stay "
              "row-major")
                 .str();
    if (candidates.isTruncated)
      remark::missed(op->getLoc(), options("ManyLayouts", op))
          << (op->getName().getStringRef() +
              " has more than the allowed combinations of layouts: some were "
              "not considered")
                 .str();
  }
  if (assignment.hasAssumedSizes)
    remark::analysis(root->getLoc(), options("AssumedSize", root))
        << "dynamic sizes are priced as " +
               std::to_string(costs.getTarget().getAssumedSize());
  remark::analysis(root->getLoc(), options("Assignment", root))
      << "layouts assigned" << remark::metric("Cost", assignment.cost)
      << remark::metric("LowerBound", assignment.lowerBound)
      << remark::metric("Gap", assignment.cost - assignment.lowerBound)
      << remark::metric("Conversions", assignment.conversions.size())
      << remark::metric("ConversionCost", assignment.conversionCost);
  if (!assignment.exact)
    remark::missed(root->getLoc(), options("NotProven", root))
        << "the assignment is not proven to be the cheapest"
        << remark::metric("Gap", assignment.cost - assignment.lowerBound);
}

namespace {
struct PropagatePass : layout::impl::PropagatePassBase<PropagatePass> {
  using PropagatePassBase::PropagatePassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    // A target is asked for only where there is something to decide.
    bool hasTensors =
        root->walk([&](Operation *op) {
              return llvm::any_of(op->getOperands(), hasKnownLayout) ||
                             llvm::any_of(op->getResults(), hasKnownLayout)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            })
            .wasInterrupted();
    if (!hasTensors)
      return;
    FailureOr<TargetAttr> wanted = layout::getTarget(root, target);
    if (failed(wanted))
      return signalPassFailure();
    if (maxConfigs == 0 || maxTable < 1) {
      root->emitError() << "'max-configs' and 'max-table' are at least 1";
      return signalPassFailure();
    }
    CostModel costs(*wanted);
    SolveOptions solve;
    solve.maxTableSize = maxTable;
    solve.maxNodes = maxNodes;
    LayoutAssignment assignment =
        assignLayouts(root, costs, {maxConfigs, maxLayouts}, solve);
    emitDecisionRemarks(root, assignment, costs);
    writeDecision(root, assignment, costs);
  }
};
} // namespace
