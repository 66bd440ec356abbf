//===- BlockOp.cpp - An op on the blocks of one device --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockOp.h"
#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/MeshLoops.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::layout;

BlockOp::BlockOp(Operation *op, const OpLayoutRule &rule,
                 const OpLayouts &layouts, const CostModel &costs,
                 CostModel &device)
    : device(device), rule(rule) {
  auto localize = [&](ValueRange values, ArrayRef<LayoutId> whole, auto &ids) {
    SmallVector<Type> types;
    for (auto [value, layout] : llvm::zip_equal(values, whole)) {
      types.push_back(value.getType());
      ids.push_back(kAnyLayout);
      if (layout == kAnyLayout)
        continue;
      RankedTensorType block = getLocalType(
          costs.getStoredType(cast<RankedTensorType>(types.back()), layout));
      ids.back() = device.getLayoutOf(block);
      types.back() = withoutLayout(block);
    }
    return types;
  };
  SmallVector<Type> operands =
      localize(op->getOperands(), layouts.operands, this->layouts.operands);
  SmallVector<Type> results =
      localize(op->getResults(), layouts.results, this->layouts.results);
  OpBuilder builder(op->getContext());
  IRMapping values;
  for (auto [value, type] : llvm::zip_equal(op->getOperands(), operands)) {
    sources.push_back(UnrealizedConversionCastOp::create(builder, op->getLoc(),
                                                         type, ValueRange()));
    values.map(value, sources.back()->getResult(0));
  }
  copy = op->clone(values);
  // A value used by two operands may have different blocks for them.
  for (auto [operand, source] : llvm::zip_equal(copy->getOpOperands(), sources))
    operand.set(source->getResult(0));
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), results))
    result.setType(type);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(*copy))
    expand.setStaticOutputShape(expand.getResultType().getShape());
  if (auto *loops = std::get_if<LoopsRule>(&rule))
    this->rule = withSizesOf(*loops, operands, results);
  else if (std::holds_alternative<ViewRule>(rule))
    this->rule = getLayoutRule(copy.get());
}

const NodeClass &BlockOp::getNode(const NodeClass &whole) {
  if (node)
    return *node;
  node = whole;
  node->op = copy.get();
  node->rule = rule;
  node->constrainedOperands.clear();
  node->constrainedResults.clear();
  known.configs.push_back(ConfigBuilder(*node, device).getAsTyped());
  return *node;
}

RankedTensorType BlockOp::getType(OperandOrResult slot) const {
  Operation *op = copy.get();
  return cast<RankedTensorType>((slot.isResult
                                     ? Value(op->getResult(slot.index))
                                     : op->getOperand(slot.index))
                                    .getType());
}
