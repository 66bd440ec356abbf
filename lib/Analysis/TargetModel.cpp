//===- TargetModel.cpp - Interface of targets to the assignment -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/TargetModel.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the coordinates of `map`, slowest first. Coordinates of spaces other
/// than images already have this order.
static SmallVector<StringRef> getOrder(const LayoutMap &map) {
  SmallVector<StringRef> order;
  if (map.getSpace().starts_with("image"))
    order = {"z", "slice", "y", "x", "lane"};
  else
    for (const Coordinate &coordinate : map.getCoordinates())
      order.push_back(coordinate.name);
  return order;
}

int64_t TargetModel::getStoredBytes(const LayoutMap &map,
                                    ArrayRef<int64_t> sizes,
                                    int64_t elementBytes) const {
  return getStorageBytes(map, sizes, elementBytes);
}

/// Returns `type` with its coordinates fused, slowest first, to one offset in
/// linear memory, where the same digits are contiguous. Types in linear memory,
/// or with replicas, are returned unchanged.
static RankedTensorType getLinearType(RankedTensorType type) {
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map) || map->getSpace() == "buffer" || !map->getReplicas().empty())
    return type;
  SmallVector<BoundedIndex> parts;
  for (StringRef name : getOrder(*map))
    for (const Coordinate &coordinate : map->getCoordinates())
      if (coordinate.name == name)
        parts.push_back({coordinate.value, coordinate.extent});
  BoundedIndex offset = group(parts);
  return withLayout(withoutLayout(type),
                    LayoutMap::get(map->getRank(), "buffer",
                                   {{"offset", offset.value, offset.extent}}),
                    getPadding(type));
}

SmallVector<int64_t> TargetModel::assumeSizes(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> sizes(shape);
  llvm::replace(sizes, ShapedType::kDynamic, getAssumedSize());
  return sizes;
}

void TargetModel::countBytes(ConversionPlan &plan, RankedTensorType from,
                             RankedTensorType to) const {
  SmallVector<int64_t> sizes = assumeSizes(to.getShape());
  int64_t elementBytes = getElementBytes(to.getElementType());
  bool moves = plan.kind == ConversionPlan::Kind::Relayout;
  if (plan.copy) {
    plan.bytesRead = scaleCost(elementBytes, plan.copy->getNumRead(sizes));
    plan.bytesWritten =
        scaleCost(elementBytes, plan.copy->getNumWritten(sizes));
    // Storage without elements has no digits from which to compute its size.
    if (plan.copy->prefills && plan.copy->space.operands.empty())
      plan.bytesWritten =
          getStorageBytes(*getLayoutMap(to), sizes, elementBytes);
    plan.runBytes = scaleCost(
        elementBytes, moves ? plan.copy->getCommonRun(sizes) : int64_t(1));
    return;
  }
  plan.bytesRead = elementBytes;
  for (int64_t size : sizes)
    plan.bytesRead = scaleCost(plan.bytesRead, size);
  if (FailureOr<LayoutMap> map = getLayoutMap(to); succeeded(map))
    plan.bytesWritten = getStorageBytes(*map, sizes, elementBytes);
  plan.runBytes = elementBytes;
}

ConversionPlan TargetModel::planMove(RankedTensorType from, RankedTensorType to,
                                     AxesCache *cache) const {
  ConversionPlan plan;
  FailureOr<CopyPlan> copy =
      planCopy(getLinearType(from), getLinearType(to),
               cache ? FailureReason() : FailureReason(plan.whyNot), cache);
  if (succeeded(copy))
    plan.copy = std::make_shared<CopyPlan>(std::move(*copy));
  countBytes(plan, from, to);
  return plan;
}

ConversionPlan TargetModel::planPadding(RankedTensorType from,
                                        RankedTensorType to) const {
  using Kind = ConversionPlan::Kind;
  ConversionPlan plan;
  plan.kind =
      *getLayoutMap(from) == *getLayoutMap(to) ? Kind::Same : Kind::View;
  TypedAttr wanted = getPadding(to);
  if (!wanted || wanted == getPadding(from) ||
      hasPadding(*getLayoutMap(to), to.getShape()) == ProofResult::Disproved)
    return plan;
  std::optional<CopyPlan> fills = planPaddingFills(getLinearType(to));
  // Padding that is not a union of boxes is written by a full copy.
  if (!fills)
    return planMove(from, to);
  plan.kind = Kind::Padding;
  plan.copy = std::make_shared<CopyPlan>(std::move(*fills));
  countBytes(plan, from, to);
  return plan;
}

Cost TargetModel::getPerDimCost(Operation *op, const PerDimRule &rule,
                                const OpLayouts &layouts, CostModel &costs) {
  auto getBytes = [&](Value tensor, LayoutId layout) {
    return costs.getStoredBytes(cast<RankedTensorType>(tensor.getType()),
                                layout);
  };
  Cost cost = 0;
  for (auto [i, operand, layout] :
       llvm::enumerate(op->getOperands(), layouts.operands))
    if (layout != kAnyLayout && (rule.isRead.empty() || rule.isRead[i]))
      cost = addCosts(cost, getBytes(operand, layout));
  for (auto [result, layout] : llvm::zip(op->getResults(), layouts.results))
    if (!rule.writesPart)
      cost = addCosts(cost, getBytes(result, layout));
  return cost;
}

Cost TargetModel::getCost(const ConversionPlan &plan) const {
  return addCosts(plan.overhead, addCosts(plan.bytesRead, plan.bytesWritten));
}

CandidateLimits TargetModel::getLimits(CandidateLimits limits) const {
  return limits;
}

void TargetModel::carry(const NodeClass &op, OperandOrResult slot,
                        LayoutId layout, CostModel &costs, Candidates &known,
                        AddConfig add) {
  if (std::optional<OpConfig> config =
          ConfigBuilder(op, costs).carry(slot, layout)) {
    config->origin = OpConfig::Origin::Carried;
    add(std::move(config));
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

namespace {
/// A model of linear memory without prices, for lowerings.
class UnpricedModel : public TargetModel {
public:
  Cost getCost(const ConversionPlan &plan) const override {
    llvm_unreachable("prices are of a target");
  }
  Cost getLoopsCost(Operation *op, const LoopsRule &rule,
                    const OpLayouts &layouts, CostModel &costs) override {
    llvm_unreachable("prices are of a target");
  }
  void describe(const OpConfig &config, raw_ostream &os) const override {
    llvm_unreachable("configurations are of a target");
  }
};
} // namespace

#include "layout/Analysis/TargetInterface.cpp.inc"

std::unique_ptr<TargetModel> TargetModel::get(TargetInterface target) {
  if (target)
    return target.createModel();
  return std::make_unique<UnpricedModel>();
}
