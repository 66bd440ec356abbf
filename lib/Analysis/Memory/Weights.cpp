//===- Weights.cpp - Stored layouts of constants --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory/Weights.h"
#include "LayoutModel.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

std::vector<Weight> layout::collectWeights(const Program &program) {
  std::vector<Weight> weights;
  // Attributes are uniqued and include the type.
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
        if (!nodeClass.flowOperands.test(operand.getOperandNumber()))
          addUse(operand.get(), n, operand.getOperandNumber());
      continue;
    }
    const TypeEquivalenceClass &flowClass =
        program.flow.classes[node.flowClass];
    for (OpOperand *operand : flowClass.operands)
      addUse(operand->get(), n, 0);
    for (auto [i, part] : llvm::enumerate(flowClass.parts))
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

/// Calls visit(type, layout) for each weight (constant) and every layout in
/// which it is stored if the nodes have the configurations `choice`.
static void
forEachKept(const LayoutAssignment &assignment, ArrayRef<unsigned> choice,
            function_ref<void(RankedTensorType type, LayoutId layout)> visit) {
  const Program &program = assignment.program;
  for (const Weight &weight : collectWeights(program)) {
    SmallVector<LayoutId, 4> kept;
    for (const Weight::Use &use : weight.uses) {
      unsigned nodeClass = program.nodes[use.node].nodeClass;
      const OpConfig &config =
          assignment.candidates[nodeClass].configs[choice[use.node]];
      for (LayoutId layout : LayoutModel::getNeeds(config, use.operands))
        if (!llvm::is_contained(kept, layout))
          kept.push_back(layout);
    }
    for (LayoutId layout : kept)
      visit(weight.getType(), layout);
  }
}

int64_t layout::countWeightBytes(const LayoutAssignment &assignment,
                                 ArrayRef<unsigned> choice, CostModel &costs) {
  int64_t bytes = 0;
  forEachKept(assignment, choice, [&](RankedTensorType type, LayoutId layout) {
    bytes = addCosts(bytes, costs.getStoredBytes(type, layout));
  });
  return bytes;
}

void layout::countWeights(LayoutAssignment &assignment, CostModel &costs) {
  int64_t bytes = 0;
  assignment.weightCost = 0;
  forEachKept(assignment, assignment.choice,
              [&](RankedTensorType type, LayoutId layout) {
                bytes = addCosts(bytes, costs.getStoredBytes(type, layout));
                assignment.weightCost = addCosts(
                    assignment.weightCost,
                    getWeightCost(type, layout, assignment.weights, costs));
              });
  assignment.weightBytes = bytes;
}
