//===- VerifyLayouts.cpp - layout-verify ----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes build types without checking them, and the verifiers of upstream ops
// know no layouts. Here both are made good: every laid-out type is proven valid
// again, and every op is held to its rule.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Interfaces/IterationSpace.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir {
namespace layout {
#define GEN_PASS_DEF_VERIFYLAYOUTSPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace layout
} // namespace mlir

using namespace mlir;
using namespace mlir::layout;

namespace {

class Verifier {
public:
  LogicalResult verify(Operation *op);

private:
  LogicalResult verifyType(Location loc, Type type);
  LogicalResult verifyLoops(Operation *op, const OpLayoutRule &rule);
  LogicalResult verifyView(Operation *op, const ViewRule &view);
  LogicalResult verifyPerDim(Operation *op, ArrayRef<int64_t> units);

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

LogicalResult Verifier::verifyLoops(Operation *op, const OpLayoutRule &rule) {
  SmallVector<OperandAccess> accesses;
  auto add = [&](Type type, AffineMap map, bool isResult) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && map)
      accesses.push_back({map, tensor, isResult});
  };
  for (auto [type, map] : llvm::zip(op->getOperandTypes(), rule.operandMaps))
    add(type, map, false);
  for (auto [type, map] : llvm::zip(op->getResultTypes(), rule.resultMaps))
    add(type, map, true);
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> sizes;
  for (const LoopRule &loop : rule.loops) {
    iterators.push_back(loop.iterator);
    sizes.push_back(loop.size);
  }
  std::string whyNot;
  if (succeeded(getIterationSpace(accesses, iterators, sizes, whyNot)))
    return success();
  return op->emitOpError() << "cannot run on the layouts of its operands: "
                           << whyNot << "; convert them with layout.convert";
}

LogicalResult Verifier::verifyView(Operation *op, const ViewRule &view) {
  auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  FailureOr<LayoutMap> from = getLayoutMap(source), to = getLayoutMap(result);
  if (failed(from) || failed(to))
    return op->emitOpError() << "has an encoding that is not a layout";
  LayoutMap viewed = from->substitute(result.getRank(), view.sourceDims,
                                      view.sourceSizes, result.getShape());
  if (equalOn(viewed, *to, result.getShape()) == Answer::Yes)
    return success();
  return op->emitOpError() << "is a view of " << source << ", whose storage "
                           << viewed.str() << " is not shown to be that of "
                           << result
                           << " (L7); convert one of them with layout.convert";
}

/// Whether every digit of dim `d` in `x` nests in whole multiples of `unit`.
static bool hasWholeUnits(const Linear &x, unsigned d, int64_t unit) {
  return llvm::all_of(x.terms, [&](const DigitTerm &term) {
    const Digit &digit = term.digit;
    if (!digit.isDim()) {
      bool mentions = false;
      digit.walkDims([&](unsigned dim) { mentions |= dim == d; });
      return !mentions;
    }
    return digit.dim != d || dividesUnit(digit, unit);
  });
}

LogicalResult Verifier::verifyPerDim(Operation *op, ArrayRef<int64_t> units) {
  std::optional<LayoutMap> first;
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != int64_t(units.size()))
      continue;
    FailureOr<LayoutMap> map = getLayoutMap(tensor);
    if (failed(map))
      return op->emitOpError() << "has an encoding that is not a layout";
    if (first && *first != *map)
      return op->emitOpError() << "needs one layout on all its tensors, found "
                               << first->str() << " and " << map->str();
    first = *map;
    for (auto [d, unit] : llvm::enumerate(units))
      for (const Coordinate &coordinate : map->getCoordinates())
        if (unit && !hasWholeUnits(coordinate.value, d, unit))
          return op->emitOpError()
                 << "changes dim " << d << ", which layout " << map->str()
                 << " divides; convert the tensor with layout.convert";
  }
  return success();
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
  OpLayoutRule rule = getLayoutRule(op);
  switch (rule.kind) {
  case OpLayoutRule::Kind::Loops:
    return verifyLoops(op, rule);
  case OpLayoutRule::Kind::View:
    return verifyView(op, rule.view);
  case OpLayoutRule::Kind::PerDim:
    return verifyPerDim(op, rule.units);
  case OpLayoutRule::Kind::Opaque:
  case OpLayoutRule::Kind::Source:
  case OpLayoutRule::Kind::Shape:
    return success();
  }
  llvm_unreachable("all kinds of rules are handled");
}

LogicalResult layout::verifyLayouts(Operation *root) {
  Verifier verifier;
  bool ok = true;
  root->walk([&](Operation *op) { ok &= succeeded(verifier.verify(op)); });
  return success(ok);
}

namespace {
struct VerifyLayoutsPass
    : public layout::impl::VerifyLayoutsPassBase<VerifyLayoutsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(verifyLayouts(getOperation())))
      signalPassFailure();
  }
};
} // namespace
