//===- CpuModel.cpp - Plans and prices on linear memory -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuModel.h"
#include "ByteProductsWork.h"
#include "PaddingStates.h"
#include "PaddingUse.h"
#include "StoredOp.h"
#include "WinogradWork.h"
#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Analysis/Contraction.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Support/LaneAccess.h"
#include "layout/Targets/Registration.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Cost CpuModel::getCost(const ConversionPlan &plan) const {
  int64_t line = params.lineBytes;
  int64_t run = std::min(std::max<int64_t>(plan.runBytes, 1), line);
  // The weight is in units of 1 / (100 * line), so that only the final cost is
  // rounded.
  int64_t weight = 100 * line;
  if (line > 1)
    weight +=
        (target.getStridedPercent() - 100) * line * (line - run) / (line - 1);
  Cost bytes = addCosts(plan.bytesRead, plan.bytesWritten);
  if (bytes > (int64_t(1) << 62) / weight)
    return scaleCost(bytes / (100 * line), weight);
  return std::max<Cost>(1, bytes * weight / (100 * line));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The vector width in bits for which the target states `scalar_percent`, the
/// cost of a loop that is not vectorized in percent of a vectorized one.
static constexpr int64_t kScalarPercentBits = 256;

static Cost takePercent(Cost cost, int64_t percent) {
  return cost > (int64_t(1) << 40) ? scaleCost(cost / 100, percent)
                                   : cost * percent / 100;
}

/// Returns true if a window slides along `loop` over the tensor that `map`
/// indexes: an index adds `loop` to another loop, e.g. w + kw in a convolution.
/// Vectors then start at any element of a cache line.
static bool isSlidOver(const LoopsRule &rule, AffineMap map, unsigned loop) {
  return map && llvm::any_of(map.getResults(), [&](AffineExpr index) {
           if (!index.isFunctionOfDim(loop))
             return false;
           for (auto [other, its] : llvm::enumerate(rule.loops))
             if (other != loop && its.size != 1 && index.isFunctionOfDim(other))
               return true;
           return false;
         });
}

/// Returns true if several results read each element of the tensor that `map`
/// indexes: `map` does not use one of the parallel loops, whose size is not 1.
static bool isShared(const LoopsRule &rule, AffineMap map) {
  return llvm::any_of(llvm::enumerate(rule.loops), [&](auto each) {
    auto [l, loop] = each;
    return loop.iterator == utils::IteratorType::parallel && loop.size != 1 &&
           !map.isFunctionOfDim(l);
  });
}

/// Returns true if the tensor that `map` indexes is reduced along one of its
/// dims.
static bool isSummed(const LoopsRule &rule, AffineMap map) {
  return llvm::any_of(llvm::enumerate(rule.loops), [&](auto each) {
    auto [l, loop] = each;
    return loop.iterator == utils::IteratorType::reduction && loop.size != 1 &&
           map.isFunctionOfDim(l);
  });
}

/// Returns true if the tensor that `map` indexes is reduced along a dim, and
/// each of its elements is read once.
static bool isSummedOnce(const LoopsRule &rule, AffineMap map) {
  return isSummed(rule, map) && !isShared(rule, map) &&
         map.isProjectedPermutation();
}

/// Returns the number of elements that are summed for one result, at most 2^20.
static int64_t countSummed(const LoopsRule &rule, ArrayRef<int64_t> trips) {
  constexpr int64_t most = 1 << 20;
  int64_t count = 1;
  for (auto [loop, its] : llvm::zip_equal(rule.loops, trips))
    if (loop.iterator == utils::IteratorType::reduction && its > 0)
      count = std::min(most, count * std::min(most, its));
  return count;
}

/// Returns the size in bytes of the widest result element.
static int64_t getResultBytes(Operation *op) {
  int64_t bytes = 1;
  for (Type type : op->getResultTypes())
    bytes = std::max<int64_t>(
        bytes, getElementBytes(cast<RankedTensorType>(type).getElementType()));
  return bytes;
}

bool CpuModel::exceedsL1(Operation *op, const LoopsRule &rule,
                         int64_t row) const {
  int64_t bytes = 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    AffineMap map = rule.operandMaps[i];
    if (!map || !rule.isRead[i])
      continue;
    for (auto [l, loop] : llvm::enumerate(rule.loops))
      if (loop.size != 1 && isSlidOver(rule, map, l))
        return false;
    if (!isSummed(rule, map))
      continue;
    if (!isShared(rule, map))
      return false;
    Type element = cast<RankedTensorType>(operand.getType()).getElementType();
    bytes += row * getElementBytes(element);
  }
  // A register tile has about sqrt(vectorRegisters) rows of each operand.
  return bytes * std::sqrt(params.vectorRegisters) > params.l1Bytes;
}

int64_t CpuModel::getElements(Operation *op, int64_t bits) const {
  return std::clamp<int64_t>(bits / 8 / getResultBytes(op), 1,
                             target.getLanes());
}

int64_t CpuModel::getVectorSize(Operation *op) const {
  return getElements(op, params.getComputedBits());
}

/// Multiplies `cost` by `busy` / `run` in place, e.g. to get from the elements
/// of a loop (`run`) to those of the whole vectors that cover it (`busy`).
/// `run` > 0 and `busy` >= `run`.
static void stretch(Cost &cost, int64_t run, int64_t busy) {
  Cost product;
  if (cost <= (int64_t(1) << 40) && !llvm::MulOverflow(cost, busy, product))
    cost = product / run;
  else
    cost =
        cost < run ? scaleCost(cost, busy / run) : scaleCost(cost / run, busy);
}

/// Returns the reduction loops that the op masks because they reach padding,
/// and the results whose stated padding needs a conversion of its own. In
/// `trips`, sets the trip counts of masked loops of static size to that size,
/// because they skip padding.
static PaddingUse maskPadding(const StoredOp &stored, const LoopsRule &rule,
                              const OpLayouts &layouts, CostModel &costs,
                              MutableArrayRef<int64_t> trips) {
  bool statesPadding = llvm::any_of(layouts.results, [&](LayoutId layout) {
    return bool(costs.getPadding(layout));
  });
  PaddingUse padding;
  if (statesPadding || reducesPadding(rule, trips))
    padding = getPaddingUse(stored, rule, layouts, costs);
  for (unsigned loop : padding.maskedLoops.set_bits())
    if (!ShapedType::isDynamic(rule.loops[loop].size))
      trips[loop] = rule.loops[loop].size;
  return padding;
}

/// Returns the cost of sums of `row` summands each, which are computed in
/// vectors along a reduction digit of `run` iterations. `work` is the cost of
/// the summands alone. Added are the unused lanes of the last vectors,
/// log2(lanes) steps that combine the lanes of each sum, and factors for
/// strided loads and for operand rows that L1 cannot hold.
Cost CpuModel::addLaneSums(Cost work, Operation *op, const LoopsRule &rule,
                           int64_t run, int64_t row) const {
  int64_t lanes = getVectorSize(op), sum = row;
  for (int64_t *count : {&work, &sum})
    stretch(*count, run, llvm::alignTo(run, lanes));
  stretch(work, sum, sum + lanes * llvm::Log2_64(lanes));
  work = takePercent(work, target.getStridedPercent());
  // The operand rows are then read from L2 again, for which each step waits
  // about half as long as it computes.
  if (exceedsL1(op, rule, row))
    work = takePercent(work, 150);
  return work;
}

/// Returns the cost of moving all operands that are read and all results: their
/// stored bytes. `lane` is the vectorized digit, or std::nullopt. Along `lane`,
/// two kinds of operands cost more. If a window slides over an operand,
/// `fillVectors` raises its bytes to those that whole vectors load. If each
/// element of an operand is summed once, in rows that fill all vector
/// registers, its bytes are multiplied by the target's `strided_percent`.
Cost CpuModel::getTensorBytesCost(
    const StoredOp &stored, Operation *op, const LoopsRule &rule,
    const OpLayouts &layouts, CostModel &costs, std::optional<unsigned> lane,
    llvm::function_ref<void(Cost &, bool slides, bool shares)> fillVectors) {
  auto typeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType());
  };
  Cost bytes = 0;
  // A row of at least this many elements fills all vector registers, so that
  // rows are summed one part at a time. Each step of the sum then reads another
  // row, which was not prefetched.
  int64_t piece = getElements(op, params.vectorBits) * params.vectorRegisters;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    AffineMap map = rule.operandMaps[i];
    if (!map || !rule.isRead[i])
      continue;
    Cost its = costs.getStoredBytes(typeOf(operand), layouts.operands[i]);
    if (lane && isSummedOnce(rule, map) &&
        stored.getRow(i, *lane, getAssumedSize(), op->getContext()) >= piece)
      its = takePercent(its, target.getStridedPercent());
    if (lane && isSlidOver(rule, map, stored.space->digits[*lane].loop))
      fillVectors(its, /*slides=*/true, isShared(rule, map));
    bytes = addCosts(bytes, its);
  }
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    bytes = addCosts(bytes,
                     costs.getStoredBytes(typeOf(result), layouts.results[i]));
  return bytes;
}

/// Returns by how many bytes the transformed filters of operand `filter` exceed
/// the filters of 3x3 taps.
static Cost getTransformedBytes(Operation *op, unsigned filter,
                                const OpLayouts &layouts, CostModel &costs) {
  auto type = cast<RankedTensorType>(op->getOperand(filter).getType());
  Cost bytes = costs.getStoredBytes(type, layouts.operands[filter]);
  return scaleCost(bytes / 9, kWinogradElements - 9);
}

namespace {
/// The digit that a kernel vectorizes: `lane`, a parallel one, with operands
/// that are strided along it if `isStrided`, or `parts`, a reduction. If both
/// are std::nullopt, the kernel has no vectors.
struct VectorizedDigit {
  std::optional<unsigned> lane, parts;
  bool isStrided = false;
};
} // namespace

/// Returns the digit that a kernel vectorizes by vectors of `vectorSize`
/// elements. Digits are tried in the order of findLane in KernelPlan.cpp. The
/// lanes of a reduction hold partial results only if no reduction is masked.
static VectorizedDigit findVectorizedDigit(const StoredOp &stored,
                                           const LoopsRule &rule,
                                           int64_t assumed,
                                           MLIRContext *context,
                                           int64_t vectorSize, bool isMasked) {
  auto findParts = [&](int64_t least) {
    return isMasked ? std::nullopt
                    : stored.findReductionLane(rule, assumed, context, least);
  };
  VectorizedDigit found;
  found.lane = stored.findLane(rule, assumed, context);
  if (!found.lane)
    found.parts = findParts(kLeastLaneVectors * vectorSize);
  if (found.lane || found.parts)
    return found;
  found.lane = stored.findLane(rule, assumed, context, /*mayStride=*/true);
  found.isStrided = found.lane.has_value();
  if (!found.lane)
    found.parts = findParts(kLeastLaneParts);
  return found;
}

Cost CpuModel::getLoopsCost(Operation *op, const LoopsRule &rule,
                            const OpLayouts &layouts, CostModel &costs) {
  StoredOp stored = StoredOp::get(op, rule, layouts, costs);
  SmallVector<int64_t> trips =
      getStoredTrips(rule, layouts, costs, getAssumedSize());
  PaddingUse padding = maskPadding(stored, rule, layouts, costs, trips);

  auto [lane, parts, isStrided] = findVectorizedDigit(
      stored, rule, getAssumedSize(), op->getContext(), getVectorSize(op),
      /*isMasked=*/padding.maskedLoops.any());

  Cost points = 1;
  for (int64_t trip : trips)
    points = scaleCost(points, trip);
  Cost work = scaleCost(points, rule.opsPerPoint);
  if (padding.maskedLoops.none())
    work =
        getByteProductsWork(op, stored, params, getAssumedSize(), points, work);
  std::optional<WinogradWork> transforms;
  if (lane && !isStrided && padding.maskedLoops.none())
    transforms = findWinogradWork(op, rule, stored, *lane, params.vectorBits,
                                  getAssumedSize(), work);
  if (transforms)
    work = transforms->operations;
  auto isSlid = [&, lane = lane](AffineMap map) {
    return isSlidOver(rule, map, stored.space->digits[*lane].loop);
  };
  // Scales a cost to whole vectors. Under a sliding window, vectors that cross
  // a line need a second load; shared by several results, it adds at most 50%.
  int64_t run = lane ? stored.getRun(rule, *lane, getAssumedSize()) : 0;
  auto fillVectors = [&](Cost &cost, bool slides, bool shares) {
    stretch(cost, run, llvm::alignTo(run, getVectorSize(op)));
    if (!slides)
      return;
    int64_t percent =
        100 * getVectorSize(op) * getResultBytes(op) / params.lineBytes;
    cost = takePercent(
        cost, 100 + (shares ? std::min<int64_t>(percent, 50) : percent));
  };
  if (lane) {
    auto slidesAlone = [&](AffineMap map) {
      return isSlid(map) && !isShared(rule, map);
    };
    fillVectors(work, llvm::any_of(rule.operandMaps, isSlid),
                llvm::none_of(rule.operandMaps, slidesAlone));
    // Vectors are assembled from several loads.
    if (isStrided)
      work = takePercent(work, target.getStridedPercent());
  } else if (parts) {
    // Each sum ends by combining halves of its vector until one lane is left.
    run = stored.getTrips(*parts, getAssumedSize());
    work = addLaneSums(work, op, rule, run, countSummed(rule, trips));
  } else if (params.vectorBits != 0) {
    work = takePercent(work, target.getScalarPercent() *
                                 params.getComputedBits() / kScalarPercentBits);
  }
  if (padding.maskedLoops.any())
    work = takePercent(work, target.getMaskPercent());
  work /= target.getFlopsPerByte();

  Cost bytes =
      getTensorBytesCost(stored, op, rule, layouts, costs, lane, fillVectors);
  for (unsigned r : padding.writtenResults.set_bits())
    bytes =
        addCosts(bytes, costs.getModeledConversionCost(
                            cast<RankedTensorType>(op->getResult(r).getType()),
                            costs.withoutPadding(layouts.results[r]),
                            layouts.results[r], /*mayOverwrite=*/true));
  if (!lane && !parts)
    bytes = scaleCost(bytes, target.getStridedPercent()) / 100;
  if (transforms)
    bytes = addCosts(
        bytes, getTransformedBytes(op, transforms->filter, layouts, costs));
  return addCosts(bytes, work);
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

void CpuModel::addOnLanes(const NodeClass &op, CostModel &costs,
                          const Candidates &known,
                          std::optional<OpConfig> config, AddConfig add) const {
  const auto *rule = std::get_if<LoopsRule>(&op.rule);
  std::optional<SummedProducts> products =
      rule ? findSummedProducts(*rule) : std::nullopt;
  if (config && products && !products->isWindowed && !known.configs.empty()) {
    auto findLoop = [&](const OpLayouts &layouts) -> std::optional<unsigned> {
      StoredOp stored = StoredOp::get(op.op, *rule, layouts, costs);
      std::optional<unsigned> digit =
          stored.findLane(*rule, getAssumedSize(), op.op->getContext());
      return digit ? std::optional(stored.space->digits[*digit].loop)
                   : std::nullopt;
    };
    std::optional<unsigned> loop = findLoop(known.configs.front().layouts);
    if (loop && findLoop(config->layouts) != loop)
      return;
  }
  add(std::move(config));
}

void CpuModel::seed(const NodeClass &op, CostModel &costs, Candidates &known,
                    AddConfig add) {
  ConfigBuilder builder(op, costs);
  for (ArrayRef<int64_t> tiles : builder.getLaneTiles(target.getLanes()))
    if (std::optional<OpConfig> config = builder.getTiled(tiles)) {
      config->origin = OpConfig::Origin::Lanes;
      addOnLanes(op, costs, known, std::move(config), add);
    }
}

/// Returns configuration `i` of `candidates` with the further tile sizes
/// `loopTiles`, pairs of loop and size. Returns std::nullopt if configuration
/// `i` has no tiles, if another one has the resulting tiles, or if they do not
/// give `layout` to the tensor in `slot`.
static std::optional<OpConfig>
combine(const Candidates &candidates, const ConfigBuilder &builder,
        CostModel &costs, size_t i, OperandOrResult slot, LayoutId layout,
        const ConfigBuilder::LoopTiles &loopTiles) {
  const OpConfig &base = candidates.configs[i];
  if (base.tiles.empty())
    return std::nullopt;
  SmallVector<int64_t> tiles = base.tiles;
  for (auto [loop, tile] : loopTiles)
    tiles[loop] = tile;
  if (llvm::any_of(candidates.configs, [&](const OpConfig &config) {
        return config.tiles == tiles;
      }))
    return std::nullopt;
  // `layout` may store the same tiles in another order.
  if (costs.getRepresentative(builder.getTiledLayout(tiles, slot),
                              builder.getType(slot.isResult, slot.index)) !=
      layout)
    return std::nullopt;
  std::optional<OpConfig> config = builder.getTiled(tiles);
  if (config)
    config->origin = OpConfig::Origin::Carried;
  return config;
}

void CpuModel::carry(const NodeClass &op, OperandOrResult slot, LayoutId layout,
                     CostModel &costs, Candidates &known, AddConfig addConfig) {
  auto add = [&](std::optional<OpConfig> config) {
    addOnLanes(op, costs, known, std::move(config), addConfig);
  };
  if (std::holds_alternative<LoopsRule>(op.rule)) {
    ConfigBuilder builder(op, costs);
    // `configs` grows during this loop.
    if (auto tiles = builder.findLoopTiles(slot, layout))
      for (size_t i = 0; i < known.configs.size(); ++i)
        add(combine(known, builder, costs, i, slot, layout, *tiles));
    // Equal layouts and maps lead to one configuration.
    std::pair<AffineMap, LayoutId> indexed{
        builder.getMap(slot.isResult, slot.index), layout};
    if (llvm::is_contained(known.carried, indexed))
      return;
    known.carried.push_back(indexed);
  }
  TargetModel::carry(op, slot, layout, costs, known, add);
}

void CpuModel::addStates(const Program &program, const CandidateLimits &limits,
                         CostModel &costs, std::vector<Candidates> &all) {
  addPaddingStates(program, /*masksCost=*/target.getMaskPercent() != 100, costs,
                   limits, all);
}

void CpuModel::describe(const OpConfig &config, raw_ostream &os) const {
  if (config.origin == OpConfig::Origin::Padded)
    os << "saves masks, because its padding is known";
  else
    os << "tiles its channels for " << target.getLanes() << " lanes";
}

void layout::registerCPUTarget(DialectRegistry &registry) {
  TargetModel::attachTo<CpuModel, CpuTargetAttr>(registry);
}
