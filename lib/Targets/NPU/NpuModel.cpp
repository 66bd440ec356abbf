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
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the number of 32-bit words that all cores together process when a
/// command accesses a tensor in local memory once. It is the extent that the
/// layout reserves, padding included, or kInfiniteCost if that is not known. A
/// storage unit holds one word, so four i8 share a word only if they are
/// packed. A compact channel need not begin at a step of the execution units,
/// so it may take one step more than an aligned one.
int64_t NpuModel::getIssuedWords(RankedTensorType type, LayoutId layout,
                                 const CostModel &costs) const {
  ChipParams params = target.getChip().getParams();
  auto scatter = dyn_cast_if_present<NpuScatterAttr>(costs.getSpelling(layout));
  int64_t bytes = getElementBytes(type.getElementType());
  std::optional<NpuStorage> storage;
  if (scatter)
    storage = getNpuStorage(scatter.getScatter(), params, bytes,
                            type.getShape(), nullptr);
  std::optional<int64_t> cores, channels;
  if (storage) {
    cores = (storage->m.extent * storage->sN).evaluate(type.getShape());
    // The strides of a part are those of the whole, of which it has some rows.
    // The pairs of weights may be inside of a channel.
    auto get = [&](const SizeExpr &size) {
      return size.evaluate(type.getShape()).value_or(kInfiniteCost);
    };
    if (cores && scatter.getMode() == NpuMode::Strided)
      cores =
          std::min(get(storage->m.extent * storage->row.extent * storage->sC),
                   std::max(*cores, get(storage->row.extent * storage->sC)));
    channels =
        (storage->m.extent * storage->row.extent).evaluate(type.getShape());
  }
  if (!cores || !channels)
    return kInfiniteCost;
  int64_t lanes = getLanes(scatter.getPack());
  int64_t words =
      scaleCost(*cores, llvm::divideCeil(scaleCost(bytes, lanes), 4));
  if (scatter.getMode() == NpuMode::Compact)
    words = addCosts(words, scaleCost(*channels, target.getLanes()));
  return scaleCost(words, params.npus);
}

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
                      *to, sizes, elementBytes, target);
  }
  return move ? move->getCost(times)
              : times.getTransfers(
                    1,
                    scaleCost(ShapedType::getNumElements(sizes), elementBytes));
}

/// Returns the cost of an op on cores: its loads of operands in system memory,
/// and its commands. Each OKKernel function processes the words
/// (getIssuedWords) of the largest local result, times the sizes of the
/// reduction loops, on all lanes at once. Operands in local memory are free:
/// the clock has no time for the network. Without a result in local memory, the
/// cost is scaled by 2^20 (kNotOnCores), because the op has to be split.
Cost NpuModel::getLoopsCost(Operation *op, const LoopsRule &rule,
                            const OpLayouts &layouts, CostModel &costs) {
  auto isLocal = [&](LayoutId layout) {
    return costs.getMap(layout).getSpace() == "npu";
  };
  Cost points = 1, cost = 0;
  bool isAnywhereLocal = false;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !isLocal(layouts.results[i]))
      continue;
    isAnywhereLocal = true;
    points = std::max(points, getIssuedWords(type, layouts.results[i], costs));
  }
  for (const LoopRule &loop : rule.loops)
    if (loop.iterator == utils::IteratorType::reduction)
      points =
          scaleCost(points, ShapedType::isDynamic(loop.size) ? getAssumedSize()
                                                             : loop.size);
  NpuScatterAttr scatter;
  if (!layouts.results.empty() && layouts.results[0] != kAnyLayout)
    scatter = dyn_cast_if_present<NpuScatterAttr>(
        costs.getSpelling(layouts.results[0]));
  SmallVector<int64_t> ranges;
  for (const LoopRule &loop : rule.loops)
    ranges.push_back(ShapedType::isDynamic(loop.size) ? getAssumedSize()
                                                      : loop.size);
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  bool takesStrides = compute && npu::takesStrides(compute);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    AffineMap map = rule.operandMaps[i];
    if (!map || !rule.isRead[i] || isLocal(layouts.operands[i]))
      continue;
    auto type = cast<RankedTensorType>(operand.getType());
    NpuLoad load{type, map, 0};
    if (scatter)
      load = getNpuLoad(type, map, rule.resultMaps.front(), ranges, scatter,
                        takesStrides);
    cost = addCosts(cost, getLoadCost(type, load));
  }
  // Each step executes one OKKernel function on all lanes. A body without known
  // functions counts as one multiply-add for every two arithmetic ops.
  int64_t steps = getNpuSteps(target, points);
  int64_t commands = 1;
  int64_t functions =
      std::max<int64_t>(llvm::divideCeil(rule.opsPerPoint, 2), 1);
  std::optional<npu::ElementFunction> function;
  if (compute)
    function = npu::getElementFunction(compute);
  if (function)
    commands = functions = function->countFunctions();
  cost =
      addCosts(cost, times.getCommands(commands, scaleCost(steps, functions)));
  // The cores cannot compute a result in system memory: the op has to be split.
  return isAnywhereLocal ? cost : scaleCost(addCosts(cost, 1), kNotOnCores);
}

std::optional<TensorMovePlan> layout::getNpuMove(const LayoutMap &from,
                                                 const LayoutMap &to,
                                                 ArrayRef<int64_t> shape,
                                                 int64_t elementBytes,
                                                 NpuTargetAttr target) {
  auto chip = dyn_cast<npu::ChipAttr>(target.getChip());
  if (!chip) // no other chip has transfers
    return std::nullopt;
  return TensorMovePlan::get(from, to, shape, elementBytes, chip,
                             getNpuTimes(target), nullptr);
}

ConversionPlan NpuModel::planMove(RankedTensorType from, RankedTensorType to,
                                  AxesCache *cache) const {
  ConversionPlan plan;
  int64_t elementBytes = getElementBytes(to.getElementType());
  std::optional<TensorMovePlan> move =
      getNpuMove(*getLayoutMap(from), *getLayoutMap(to),
                 assumeSizes(to.getShape()), elementBytes, target);
  if (move && move->method != TensorMovePlan::Method::Cores)
    plan.transfers = move->commands;
  else
    plan.whyNot = "the DMA engine has no transfers for it";
  if (move && move->steps) {
    // The DMA engine moves nothing.
    plan.overhead = move->getCost(times);
    plan.whyNot = "the cores copy their own elements";
    return plan;
  }
  plan.overhead =
      scaleCost(times.transferStart, move ? move->commands : int64_t(1));
  plan.bytesRead = plan.bytesWritten = move ? move->bytes : kInfiniteCost / 4;
  plan.runBytes = elementBytes;
  return plan;
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
