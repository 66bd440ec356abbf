//===- Candidates.cpp - The layouts that a unit may choose from -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Candidates.h"
#include "ConfigBuilder.h"
#include "ImageCandidates.h"
#include "NpuCandidates.h"
#include "PaddingStates.h"
#include "layout/Interfaces/DroppedDims.h"
#include "layout/Interfaces/RuleCheck.h"
#include "llvm/Support/MathExtras.h"
#include <deque>

using namespace mlir;
using namespace mlir::layout;
using Kind = OpLayoutRule::Kind;

namespace {
/// Carries layouts over units until nothing new appears.
class Propagation {
public:
  Propagation(const Program &program, CostModel &costs,
              const CandidateLimits &limits)
      : program(program), costs(costs), limits(limits),
        result(program.unitClasses.size()),
        offered(program.tensorClasses.size()),
        carried(program.unitClasses.size()) {
    // The tensors of a kernel choose apart.
    if (costs.getTarget().hasImages()) {
      this->limits.configsPerOp =
          llvm::SaturatingMultiply(limits.configsPerOp, 3u);
      this->limits.layoutsPerTensor =
          llvm::SaturatingMultiply(limits.layoutsPerTensor, 2u);
    }
  }

  std::vector<Candidates> run();

private:
  void seed(unsigned unitClass);
  void add(unsigned unitClass, std::optional<OpConfig> config,
           OpConfig::Origin origin, Value from);
  void offer(unsigned tensorClass, LayoutId layout);
  bool canRun(const UnitClass &unit, const OpLayouts &layouts) const;
  void carry(unsigned unitClass, Slot slot, LayoutId layout, Value from);
  std::optional<OpConfig> getJoinConfig(const UnitClass &join, LayoutId layout,
                                        unsigned slot = 0) const;

  const Program &program;
  CostModel &costs;
  CandidateLimits limits;
  std::vector<Candidates> result;
  std::vector<SmallVector<LayoutId, 4>> offered;
  /// What the loops of each class of units were given already.
  std::vector<SmallVector<std::pair<AffineMap, LayoutId>, 0>> carried;
  std::deque<std::pair<unsigned, LayoutId>> queue;
};
} // namespace

static LayoutId getLayout(const OpLayouts &layouts, Slot slot) {
  return slot.isResult ? layouts.results[slot.index]
                       : layouts.operands[slot.index];
}

/// Whether the loops of an op run on stored digits in these layouts. Kernels of
/// devices and units find each element by itself.
bool Propagation::canRun(const UnitClass &unit,
                         const OpLayouts &layouts) const {
  if (costs.getTarget().hasImages() || costs.getTarget().hasUnits() ||
      unit.isJoin() || unit.rule.kind != Kind::Loops)
    return true;
  auto getTypes = [&](ValueRange values, ArrayRef<LayoutId> ids) {
    SmallVector<Type> types;
    for (auto [value, id] : llvm::zip_equal(values, ids))
      types.push_back(id == kAnyLayout
                          ? value.getType()
                          : costs.getStoredType(
                                cast<RankedTensorType>(value.getType()), id));
    return types;
  };
  std::string whyNot;
  return succeeded(
      checkRule(unit.rule, getTypes(unit.op->getOperands(), layouts.operands),
                getTypes(unit.op->getResults(), layouts.results), whyNot));
}

void Propagation::add(unsigned unitClass, std::optional<OpConfig> config,
                      OpConfig::Origin origin, Value from) {
  if (!config)
    return;
  const UnitClass &unit = program.unitClasses[unitClass];
  Candidates &candidates = result[unitClass];
  for (OpConfig &known : candidates.configs)
    if (known.layouts == config->layouts) {
      // The same layouts as tiles let further tiles be combined with them.
      if (known.tiles.empty())
        known.tiles = std::move(config->tiles);
      known.meetsNeed |= origin == OpConfig::Origin::Lanes;
      return;
    }
  // The first one is the types as they are, whatever they are.
  if (!candidates.configs.empty() && !canRun(unit, config->exact))
    return;
  if (candidates.configs.size() >= limits.configsPerOp) {
    candidates.isTruncated = true;
    return;
  }
  config->origin = origin;
  config->meetsNeed = origin == OpConfig::Origin::Lanes;
  config->from = from;
  // Where there is no choice there is no price.
  if (!unit.isPinned && !unit.isJoin())
    config->cost = costs.getOpCost(unit.op, unit.rule, config->layouts);
  candidates.configs.push_back(std::move(*config));
  for (auto [slot, tensorClass] : unit.meets) {
    LayoutId layout = getLayout(candidates.configs.back().layouts, slot);
    if (layout != kAnyLayout)
      offer(tensorClass, costs.withoutPadding(layout));
  }
}

void Propagation::offer(unsigned tensorClass, LayoutId layout) {
  SmallVector<LayoutId, 4> &layouts = offered[tensorClass];
  if (layouts.size() >= limits.layoutsPerTensor ||
      llvm::is_contained(layouts, layout))
    return;
  layouts.push_back(layout);
  queue.push_back({tensorClass, layout});
}

/// Configuration `i` with the tiles that `layout` gives one tensor, where that
/// is a new one.
static std::optional<OpConfig>
combine(const Candidates &candidates, const ConfigBuilder &builder,
        CostModel &costs, size_t i, Slot slot, LayoutId layout,
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
  // Tiles in another order are another layout.
  if (costs.getRepresentative(builder.getTiledLayout(tiles, slot),
                              builder.getType(slot.isResult, slot.index)) !=
      layout)
    return std::nullopt;
  return builder.getTiled(tiles);
}

/// `layout` is that of operand `slot`: of the ends, or of a part.
std::optional<OpConfig> Propagation::getJoinConfig(const UnitClass &join,
                                                   LayoutId layout,
                                                   unsigned slot) const {
  if (slot > 0) {
    const UnitClass::Part &part = join.joinParts[slot - 1];
    if (part.type.getRank() != join.joinType.getRank()) {
      std::optional<LayoutMap> whole =
          insertDims(costs.getMap(layout), part.rule.dropped);
      if (!whole)
        return std::nullopt;
      layout = costs.intern(*whole);
    }
  }
  std::optional<LayoutId> representative =
      costs.getRepresentative(layout, join.joinType);
  if (!representative || !costs.isStorable(layout, join.joinType))
    return std::nullopt;
  OpConfig config;
  config.layouts = {{*representative}, {*representative}};
  config.exact = {{layout}, {layout}};
  for (const UnitClass::Part &part : join.joinParts) {
    // Bodies that run side by side write into one storage.
    if (!isSliceOfStorage(costs.getMap(layout), join.joinType, part.type,
                          part.rule))
      return std::nullopt;
    LayoutId ofPart =
        part.type.getRank() == join.joinType.getRank()
            ? layout
            : costs.intern(dropDims(costs.getMap(layout), part.rule.dropped));
    std::optional<LayoutId> known = costs.getRepresentative(ofPart, part.type);
    if (!known)
      return std::nullopt;
    config.layouts.operands.push_back(*known);
    config.exact.operands.push_back(ofPart);
  }
  return config;
}

void Propagation::carry(unsigned unitClass, Slot slot, LayoutId layout,
                        Value from) {
  const UnitClass &unit = program.unitClasses[unitClass];
  if (unit.isPinned)
    return;
  if (unit.isJoin())
    return add(unitClass,
               getJoinConfig(unit, layout, slot.isResult ? 0 : slot.index),
               OpConfig::Origin::Carried, from);
  if (unit.rule.kind == Kind::Opaque)
    return;
  // What came over a view does not go back.
  if (unit.rule.kind == Kind::View &&
      llvm::any_of(result[unitClass].configs, [&](const OpConfig &config) {
        return getLayout(config.layouts, slot) == layout;
      }))
    return;
  if (costs.getTarget().hasImages() && unit.rule.kind == Kind::Loops) {
    ImageCandidates images(unit, costs, result[unitClass].imageNotes);
    for (const OpConfig &config :
         images.carry(result[unitClass].configs, slot, layout))
      add(unitClass, config, config.origin, from);
    return;
  }
  if (costs.getTarget().hasUnits()) {
    NpuCandidates units(unit, costs);
    for (const OpConfig &config :
         units.carry(result[unitClass].configs, slot, layout))
      add(unitClass, config, config.origin, from);
    return;
  }
  ConfigBuilder builder(unit, costs);
  if (unit.rule.kind == Kind::Loops) {
    std::vector<OpConfig> &configs = result[unitClass].configs;
    // The configurations grow while their tiles are being combined.
    if (auto tiles = builder.findLoopTiles(slot, layout))
      for (size_t i = 0; i < configs.size(); ++i)
        add(unitClass,
            combine(result[unitClass], builder, costs, i, slot, layout, *tiles),
            OpConfig::Origin::Carried, from);
    // The same layout under the same indices leads to the same configuration.
    std::pair<AffineMap, LayoutId> indexed{
        builder.getMap(slot.isResult, slot.index), layout};
    if (llvm::is_contained(carried[unitClass], indexed))
      return;
    carried[unitClass].push_back(indexed);
  }
  add(unitClass, builder.carry(slot, layout), OpConfig::Origin::Carried, from);
}

void Propagation::seed(unsigned unitClass) {
  const UnitClass &unit = program.unitClasses[unitClass];
  bool hasPins = !unit.pinnedOperands.empty();
  if (unit.isJoin()) {
    RankedTensorType type =
        hasPins ? unit.pinnedOperands.front() : unit.joinType;
    return add(unitClass, getJoinConfig(unit, costs.getLayoutOf(type)),
               hasPins ? OpConfig::Origin::Pinned : OpConfig::Origin::AsTyped,
               {});
  }
  ConfigBuilder builder(unit, costs);
  add(unitClass, builder.getAsTyped(),
      hasPins ? OpConfig::Origin::Pinned : OpConfig::Origin::AsTyped, {});
  if (unit.isPinned || unit.rule.kind != Kind::Loops)
    return;
  if (costs.getTarget().hasImages()) {
    ImageCandidates images(unit, costs, result[unitClass].imageNotes);
    for (const OpConfig &config : images.getSeeds())
      add(unitClass, config, config.origin, {});
    return;
  }
  if (costs.getTarget().hasUnits()) {
    for (const OpConfig &config : NpuCandidates(unit, costs).getSeeds())
      add(unitClass, config, config.origin, {});
    return;
  }
  for (ArrayRef<int64_t> tiles : builder.getLaneTiles())
    add(unitClass, builder.getTiled(tiles), OpConfig::Origin::Lanes, {});
}

std::vector<Candidates> Propagation::run() {
  for (unsigned c = 0, e = result.size(); c < e; ++c)
    seed(c);
  // Every class of tensors gains at most `layoutsPerTensor` layouts, so this
  // ends.
  while (!queue.empty()) {
    auto [t, layout] = queue.front();
    queue.pop_front();
    const TensorClass &tensor = program.tensorClasses[t];
    if (tensor.producer)
      carry(*tensor.producer, {true, tensor.result}, layout, tensor.first);
    SmallVector<std::pair<unsigned, unsigned>, 4> visited;
    for (const TensorClass::Consumer &consumer : tensor.consumers)
      for (unsigned operand : consumer.operands) {
        std::pair<unsigned, unsigned> slot{consumer.unitClass, operand};
        if (llvm::is_contained(visited, slot))
          continue;
        visited.push_back(slot);
        carry(consumer.unitClass, {false, operand}, layout, tensor.first);
      }
  }
  return std::move(result);
}

/// Leaves nothing to weigh but conversions.
static void fixNeeds(std::vector<Candidates> &all) {
  for (Candidates &candidates : all) {
    std::vector<OpConfig> &configs = candidates.configs;
    Cost least = kInfiniteCost;
    for (const OpConfig &config : configs)
      if (config.meetsNeed)
        least = std::min(least, config.cost);
    if (least != kInfiniteCost)
      llvm::erase_if(configs, [&](const OpConfig &config) {
        return !config.meetsNeed || config.cost != least;
      });
    // Rules that look at the first only fare best with types as they are, then
    // with tiles on both sides.
    llvm::stable_sort(configs, [](const OpConfig &a, const OpConfig &b) {
      auto rank = [](const OpConfig &config) {
        int64_t tiled = llvm::count_if(config.tiles,
                                       [](int64_t tile) { return tile != 1; });
        return std::make_pair(config.origin != OpConfig::Origin::AsTyped,
                              -tiled);
      };
      return rank(a) < rank(b);
    });
    for (OpConfig &config : configs)
      config.cost = 0;
  }
}

std::vector<Candidates>
layout::collectCandidates(const Program &program, CostModel &costs,
                          const CandidateLimits &limits) {
  std::vector<Candidates> result = Propagation(program, costs, limits).run();
  // Kernels of devices and units go over elements, and see no padding.
  if (!costs.getTarget().hasImages() && !costs.getTarget().hasUnits())
    addPaddingStates(program, costs, limits, result);
  if (costs.getObjective() == Objective::bytes)
    fixNeeds(result);
  return result;
}
