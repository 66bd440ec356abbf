//===- NpuModel.cpp - Conversion plans and costs on cores -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuModel.h"
#include "NpuCandidates.h"
#include "layout/Algebra/Pack.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Dialect/NPU/Utils/CoreVisibility.h"
#include "layout/Targets/NPU/NpuParts.h"
#include "layout/Targets/Registration.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the cost to load an operand from system memory into every core that
/// needs it. If the layout or the transfers are unknown, it is the cost of one
/// transfer of all bytes.
Cost NpuModel::getLoadCost(RankedTensorType type, const NpuLoad &load) const {
  int64_t elementBytes = getElementBytes(type.getElementType());
  SmallVector<int64_t> sizes = assumeSizes(load.type.getShape());
  std::optional<TensorMovePlan> move;
  FailureOr<LayoutMap> to = failure();
  if (auto layout =
          dyn_cast_if_present<NpuScatterAttr>(load.type.getEncoding()))
    to = layout.resolve(sizes, load.type.getElementType(), nullptr);
  if (succeeded(to)) {
    // The source is row-major and lacks the leading dims of the copy.
    std::vector<IndexExpr> dims;
    std::vector<SizeExpr> sizeOf;
    for (int64_t size : assumeSizes(type.getShape())) {
      dims.push_back(IndexExpr::dim(load.numNew + dims.size()));
      sizeOf.push_back(SizeExpr(size));
    }
    move = getNpuMove(LayoutMap::rowMajor(type.getRank())
                          .substitute(sizes.size(), dims, sizeOf, sizes),
                      *to, sizes, elementBytes, target.getChip(), times);
  }
  return move ? move->time
              : times.getTransfers(
                    Direction::S2L, 1,
                    scaleCost(ShapedType::getNumElements(sizes), elementBytes));
}

/// Returns the sizes of the loops of an op, with the assumed size for dynamic
/// ones.
static SmallVector<int64_t> getRanges(const LoopsRule &rule,
                                      int64_t assumedSize) {
  return llvm::map_to_vector(rule.loops, [&](const LoopRule &loop) {
    return ShapedType::isDynamic(loop.size) ? assumedSize : loop.size;
  });
}

/// Returns the time of an op for whose body no function is known: for each
/// index that is summed over, one function for every two arithmetic ops.
npu::CommandTime
NpuModel::getUnmatchedTime(const LoopsRule &rule, ArrayRef<int64_t> ranges,
                           const ChipClock::Planes &planes) const {
  auto kinds = llvm::map_to_vector(
      rule.loops, [](const LoopRule &loop) { return loop.iterator; });
  int64_t sums = npu::countSummed(kinds, ranges);
  int64_t functions =
      std::max<int64_t>(llvm::divideCeil(rule.opsPerPoint, 2), 1);
  npu::CommandTime time = times.getCommand(ChipClock::Work(), planes);
  time.cycles = scaleCost(time.cycles, scaleCost(sums, functions));
  return time;
}

/// Returns the time of the commands of an op with a result in local memory, or
/// std::nullopt if it has none there. It is infinite if a layout is not valid.
/// `ranges` are the trip counts of the loops.
std::optional<npu::CommandTime>
NpuModel::getCommandTime(Operation *op, const LoopsRule &rule,
                         ArrayRef<int64_t> ranges, const OpLayouts &layouts,
                         const CostModel &costs) {
  auto getScatter = [&](LayoutId layout) {
    return layout == kAnyLayout
               ? NpuScatterAttr()
               : dyn_cast_if_present<NpuScatterAttr>(costs.getSpelling(layout));
  };
  SmallVector<NpuScatterAttr> all;
  for (auto [operand, isRead] : llvm::zip(layouts.operands, rule.isRead))
    all.push_back(isRead ? getScatter(operand) : NpuScatterAttr());
  std::optional<npu::CommandTime> most;
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  for (auto [result, layout] : llvm::zip(op->getResults(), layouts.results)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || costs.getMap(layout).getSpace() != "npu")
      continue;
    NpuScatterAttr scatter = getScatter(layout);
    all.push_back(scatter);
    std::optional<npu::ResultForm> form;
    if (scatter)
      form =
          npu::getResultForm(all, all.size() - 1, assumeSizes(type.getShape()),
                             getElementBytes(type.getElementType()));
    all.pop_back();
    std::optional<npu::CommandTime> time;
    if (form && compute)
      time = times.getCommandTime(compute, ranges, *form);
    if (!time)
      time = form ? getUnmatchedTime(rule, ranges, form->planes)
                  : npu::CommandTime{1, kInfiniteCost};
    if (!most || most->cycles < time->cycles)
      most = time;
  }
  return most;
}

/// Returns the cost of an op on cores: its loads of operands in system memory,
/// and its commands (getCommandTime). Operands in local memory are free: the
/// clock has no time for the network. Without a result in local memory, the
/// cost is scaled by 2^20 (kNotOnCores), because the op has to be split.
Cost NpuModel::getLoopsCost(Operation *op, const LoopsRule &rule,
                            const OpLayouts &layouts, CostModel &costs) {
  Cost cost = 0;
  NpuScatterAttr scatter;
  if (!layouts.results.empty() && layouts.results[0] != kAnyLayout)
    scatter = dyn_cast_if_present<NpuScatterAttr>(
        costs.getSpelling(layouts.results[0]));
  SmallVector<int64_t> ranges = getRanges(rule, getAssumedSize());
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  bool takesStrides = compute && npu::takesStrides(compute);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    AffineMap map = rule.operandMaps[i];
    if (!map || !rule.isRead[i] ||
        costs.getMap(layouts.operands[i]).getSpace() == "npu")
      continue;
    auto type = cast<RankedTensorType>(operand.getType());
    NpuLoad load{type, map, 0};
    if (scatter)
      load = getNpuLoad(type, map, rule.resultMaps.front(), ranges, scatter,
                        takesStrides);
    cost = addCosts(cost, getLoadCost(type, load));
  }
  if (std::optional<npu::CommandTime> time =
          getCommandTime(op, rule, ranges, layouts, costs))
    return addCosts(cost, times.getCommands(*time));
  // The cores cannot compute a result in system memory: the op has to be split.
  return scaleCost(addCosts(cost, 1), kNotOnCores);
}

std::optional<TensorMovePlan>
layout::getNpuMove(const LayoutMap &from, const LayoutMap &to,
                   ArrayRef<int64_t> shape, int64_t elementBytes,
                   NpuTargetInterface chip, const NpuTimes &times) {
  auto known = dyn_cast<npu::ChipAttr>(chip);
  if (!known) // no other chip has transfers
    return std::nullopt;
  return TensorMovePlan::get(from, to, shape, elementBytes, known, times,
                             nullptr);
}

ConversionPlan NpuModel::planMove(RankedTensorType from, RankedTensorType to,
                                  AxesCache *cache) const {
  ConversionPlan plan;
  int64_t elementBytes = getElementBytes(to.getElementType());
  std::optional<TensorMovePlan> move = getNpuMove(
      *getLayoutMap(from), *getLayoutMap(to), assumeSizes(to.getShape()),
      elementBytes, target.getChip(), times);
  plan.runBytes = elementBytes;
  if (!move) {
    plan.whyNot = "the DMA engine has no transfers for it";
    plan.bytesRead = plan.bytesWritten = kInfiniteCost / 4;
    plan.overhead = kInfiniteCost / 2;
    return plan;
  }
  plan.overhead = move->time;
  if (move->method == TensorMovePlan::Method::Cores) {
    // The DMA engine moves nothing.
    plan.whyNot = "the cores copy their own elements";
    return plan;
  }
  plan.transfers = move->commands;
  plan.bytesRead = plan.bytesWritten = move->bytes;
  return plan;
}

/// Returns the time of the plan, or the modeled time of a fill of padding, whose
/// plan has no time.
Cost NpuModel::getCost(const ConversionPlan &plan) const {
  return plan.kind == ConversionPlan::Kind::Relayout
             ? plan.overhead
             : TargetModel::getCost(plan);
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

/// Doubles the limits of configurations and layouts, because a tensor may be a
/// matrix, or spread any of its dims over the cores.
CandidateLimits NpuModel::getLimits(CandidateLimits limits) const {
  return {llvm::SaturatingMultiply(limits.configsPerOp, 2u),
          llvm::SaturatingMultiply(limits.layoutsPerTensor, 2u)};
}

void NpuModel::seed(const NodeClass &op, CostModel &costs, Candidates &known,
                    AddConfig add) {
  for (OpConfig &config : NpuCandidates(op, costs, target.getChip()).getSeeds())
    add(std::move(config));
}

void NpuModel::carry(const NodeClass &op, OperandOrResult slot, LayoutId layout,
                     CostModel &costs, Candidates &known, AddConfig add) {
  for (OpConfig &config : NpuCandidates(op, costs, target.getChip())
                              .carry(known.configs, slot, layout))
    add(std::move(config));
}

void NpuModel::describe(const OpConfig &config, raw_ostream &os) const {
  os << (config.origin == OpConfig::Origin::Mixed
             ? "reads tensors in other layouts over the network"
             : "spreads its channels over the cores");
}

void layout::registerNPUTarget(DialectRegistry &registry) {
  TargetModel::attachTo<NpuModel, NpuTargetAttr>(registry);
}
