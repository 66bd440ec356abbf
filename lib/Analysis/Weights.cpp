//===- Weights.cpp - Constants and the layouts that they are kept in ------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Weights.h"
#include "LayoutModel.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

std::vector<Weight> layout::collectWeights(const Program &program) {
  std::vector<Weight> weights;
  // Attributes that are equal are one, and their types are part of them.
  DenseMap<Attribute, unsigned> known;
  auto addUse = [&](Value value, unsigned node, unsigned operand) {
    Attribute content;
    if (!hasKnownLayout(value) || !matchPattern(value, m_Constant(&content)))
      return;
    auto [it, isNew] = known.try_emplace(content, weights.size());
    if (isNew)
      weights.push_back({value, {}});
    auto &uses = weights[it->second].uses;
    if (uses.empty() || uses.back().node != node)
      uses.push_back({node, {}});
    uses.back().operands.push_back(operand);
  };
  for (auto [n, node] : llvm::enumerate(program.nodes)) {
    if (node.op) {
      const NodeClass &nodeClass = program.getClass(node);
      for (OpOperand &operand : node.op->getOpOperands())
        if (!nodeClass.tiedOperands.test(operand.getOperandNumber()))
          addUse(operand.get(), n, operand.getOperandNumber());
      continue;
    }
    const TiedValues &tie = program.flow.ties[node.tie];
    for (OpOperand *operand : tie.operands)
      addUse(operand->get(), n, 0);
    for (auto [i, part] : llvm::enumerate(tie.parts))
      addUse(part.operand->get(), n, 1 + i);
  }
  return weights;
}

Cost layout::getWeightCost(RankedTensorType type, LayoutId layout,
                           const WeightOptions &options, CostModel &costs) {
  Cost cost = 0;
  if (options.costPercent)
    cost = scaleCost(costs.getStoredBytes(type, layout), options.costPercent) /
           100;
  LayoutId typed = costs.getLayoutOf(type);
  if (options.packingPercent && layout != typed)
    cost =
        addCosts(cost, scaleCost(costs.getConversionCost(type, typed, layout),
                                 options.packingPercent) /
                           100);
  return cost;
}

void layout::countWeights(LayoutAssignment &assignment, CostModel &costs) {
  assignment.weightBytes = 0;
  assignment.weightCost = 0;
  for (const Weight &weight : collectWeights(assignment.program)) {
    SmallVector<LayoutId, 4> kept;
    for (const Weight::Use &use : weight.uses)
      for (LayoutId layout :
           LayoutModel::getNeeds(assignment.getConfig(use.node), use.operands))
        if (!llvm::is_contained(kept, layout))
          kept.push_back(layout);
    RankedTensorType type = weight.getType();
    for (LayoutId layout : kept) {
      *assignment.weightBytes =
          addCosts(*assignment.weightBytes, costs.getStoredBytes(type, layout));
      assignment.weightCost =
          addCosts(assignment.weightCost,
                   getWeightCost(type, layout, assignment.weights, costs));
    }
  }
}
