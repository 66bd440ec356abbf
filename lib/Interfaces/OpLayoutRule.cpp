//===- OpLayoutRule.cpp - Layout rules of ops as data ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/OpLayoutRule.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

using namespace mlir;
using namespace mlir::layout;

#include "layout/Interfaces/LayoutOpInterface.cpp.inc"

/// Returns true if `op` is elementwise, with tensors of one shape and scalars.
static bool isElementwise(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() == 0)
    return false;
  auto first = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!first)
    return false;
  auto fits = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.getShape() == first.getShape()
                  : !isa<ShapedType>(type);
  };
  return llvm::all_of(op->getOperandTypes(), fits) &&
         llvm::all_of(op->getResultTypes(), [&](Type type) {
           return isa<RankedTensorType>(type) && fits(type);
         });
}

LoopsRule layout::getElementwiseRule(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  LoopsRule rule;
  for (int64_t size : type.getShape())
    rule.loops.push_back({utils::IteratorType::parallel, size, false});
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(type.getRank(), op->getContext());
  for (Type operand : op->getOperandTypes()) {
    bool isTensor = isa<RankedTensorType>(operand);
    rule.operandMaps.push_back(isTensor ? identity : AffineMap());
    rule.isRead.push_back(isTensor);
  }
  rule.resultMaps.assign(op->getNumResults(), identity);
  rule.opsPerPoint = 1;
  findTileableLoops(rule);
  return rule;
}

void layout::findTileableLoops(LoopsRule &rule) {
  for (LoopRule &loop : rule.loops)
    loop.tileable = !ShapedType::isDynamic(loop.size);
  auto visit = [&](AffineMap map) {
    if (!map)
      return;
    llvm::SmallBitVector seen(rule.loops.size());
    for (AffineExpr expr : map.getResults()) {
      auto alone = dyn_cast<AffineDimExpr>(expr);
      // The dim is indexed by a sum, or by a loop that already indexes another
      // dim (a diagonal): its loops cannot be tiled.
      if (alone && !seen.test(alone.getPosition())) {
        seen.set(alone.getPosition());
        continue;
      }
      expr.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          rule.loops[dim.getPosition()].tileable = false;
      });
    }
  };
  llvm::for_each(rule.operandMaps, visit);
  llvm::for_each(rule.resultMaps, visit);
}

bool layout::relatesTensors(const OpLayoutRule &rule) {
  return std::holds_alternative<LoopsRule>(rule) ||
         std::holds_alternative<ViewRule>(rule) ||
         std::holds_alternative<PerDimRule>(rule);
}

bool layout::isRematerializable(Operation *op, const OpLayoutRule &rule) {
  if (std::holds_alternative<RematerializableRule>(rule))
    return true;
  auto *loops = std::get_if<LoopsRule>(&rule);
  return loops && loops->onlyWrites &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           Operation *producer = operand.getDefiningOp();
           return !isa<ShapedType>(operand.getType()) ||
                  (producer &&
                   isRematerializable(producer, getLayoutRule(producer)));
         });
}

OpLayoutRule layout::getLayoutRule(Operation *op) {
  if (auto layoutOp = dyn_cast<LayoutOpInterface>(op))
    return layoutOp.getLayoutRule();
  if (isElementwise(op))
    return getElementwiseRule(op);
  return OpaqueRule{"it has no LayoutOpInterface and is not elementwise"};
}
