//===- CostModel.cpp - Costs of ops and conversions -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/CostModel.h"
#include "layout/Algebra/Proof.h"

using namespace mlir;
using namespace mlir::layout;

bool CostModel::isStorable(LayoutId layout, RankedTensorType type) {
  auto [it, isNew] = storable.try_emplace({type, layout}, false);
  if (isNew)
    it->second = model->canStore(getMap(layout), type);
  return it->second;
}

ConversionPlan CostModel::makePlan(RankedTensorType type, LayoutId from,
                                   LayoutId to, bool mayOverwrite,
                                   AxesCache *cache) {
  // Layouts with identical storage have one normal form in almost all cases.
  // Proving equality of each pair would dominate the total time.
  if (getNormalForm(from, type) != getNormalForm(to, type))
    return model->planMove(getStoredType(type, from), getStoredType(type, to),
                           cache);
  if (writesPadding(from, to)) {
    RankedTensorType source = getStoredType(type, from);
    RankedTensorType dest = getStoredType(type, to);
    return mayOverwrite ? model->planPadding(source, dest)
                        : model->planMove(source, dest);
  }
  ConversionPlan plan;
  plan.kind =
      from == to ? ConversionPlan::Kind::Same : ConversionPlan::Kind::View;
  return plan;
}

const ConversionPlan &CostModel::getPlan(RankedTensorType type, LayoutId from,
                                         LayoutId to, bool mayOverwrite) {
  mayOverwrite &= writesPadding(from, to);
  std::unique_ptr<ConversionPlan> &plan =
      plans[mayOverwrite][{type, {from, to}}];
  if (!plan)
    plan = std::make_unique<ConversionPlan>(
        makePlan(type, from, to, mayOverwrite));
  return *plan;
}

Cost CostModel::price(const ConversionPlan &plan) const {
  if (objective == Objective::bytes)
    return addCosts(plan.bytesRead, plan.bytesWritten);
  return std::max<Cost>(1, plan.isFree() ? 0 : model->getCost(plan));
}

Cost CostModel::getConversionCost(RankedTensorType type, LayoutId from,
                                  LayoutId to, bool mayOverwrite) {
  if (!provider || from == to || haveIdenticalStorage(type, from, to))
    return getModeledConversionCost(type, from, to, mayOverwrite);
  mayOverwrite &= writesPadding(from, to);
  auto [it, isNew] =
      providedCosts[mayOverwrite].try_emplace({type, {from, to}});
  if (!isNew)
    return it->second;
  bool fillsInPlace =
      mayOverwrite && getNormalForm(from, type) == getNormalForm(to, type);
  Cost cost = provider->getConversionCost(
      {getStoredType(type, from), getStoredType(type, to), fillsInPlace,
       getModeledConversionCost(type, from, to, mayOverwrite)});
  assert(cost >= 0 && cost < kInfiniteCost && "prices are finite");
  return providedCosts[mayOverwrite][{type, {from, to}}] = cost;
}

Cost CostModel::getModeledConversionCost(RankedTensorType type, LayoutId from,
                                         LayoutId to, bool mayOverwrite) {
  if (from == to)
    return 0;
  mayOverwrite &= writesPadding(from, to);
  auto &known = conversionCosts[mayOverwrite];
  auto [it, isNew] = known.try_emplace({type, {from, to}});
  if (!isNew)
    return it->second;
  Cost cost = price(makePlan(type, from, to, mayOverwrite, &axes));
  return known[{type, {from, to}}] = cost;
}

int64_t CostModel::getStoredBytes(RankedTensorType type, LayoutId layout) {
  auto known = storedBytes.find({type, layout});
  if (known != storedBytes.end())
    return known->second;
  SmallVector<int64_t> shape = model->assumeSizes(type.getShape());
  LayoutMap special = type.hasStaticShape()
                          ? getMap(getNormalForm(layout, type))
                          : getMap(layout).specialize(shape);
  return storedBytes[{type, layout}] = model->getStoredBytes(
             special, shape, getElementBytes(type.getElementType()));
}

Cost CostModel::provide(Operation *op, const OpLayouts &layouts, Cost modeled) {
  if (!provider)
    return modeled;
  SmallVector<Type> operands =
                        getStoredTypes(op->getOperands(), layouts.operands),
                    results = getStoredTypes(op->getResults(), layouts.results);
  Cost cost = provider->getOpCost({op, operands, results, modeled});
  assert(cost >= 0 && cost < kInfiniteCost && "prices are finite");
  return cost;
}

Cost CostModel::getOpCost(Operation *op, const OpLayoutRule &rule,
                          const OpLayouts &layouts) {
  assert(layouts.operands.size() == op->getNumOperands() &&
         layouts.results.size() == op->getNumResults() &&
         "a layout, or none, for each tensor");
  if (auto *loops = std::get_if<LoopsRule>(&rule))
    return provide(op, layouts,
                   model->getLoopsCost(op, *loops, layouts, *this));
  if (auto *perDim = std::get_if<PerDimRule>(&rule))
    return provide(op, layouts,
                   model->getPerDimCost(op, *perDim, layouts, *this));
  // Other ops cost the same in every layout.
  auto *view = std::get_if<ViewRule>(&rule);
  if (!view)
    return 0;
  // Costs the conversion from the viewed source layout to the result layout.
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  LayoutId viewed =
      intern(applyView(getMap(layouts.operands[0]), view->toSource));
  LayoutId made = layouts.results[0];
  if (getNormalForm(viewed, type) == getNormalForm(made, type) ||
      equalOn(getMap(viewed), getMap(made), type.getShape()) ==
          ProofResult::Proved)
    return 0;
  return getConversionCost(type, viewed, made);
}
