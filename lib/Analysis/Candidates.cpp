//===- Candidates.cpp - Layout candidates of a node -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Candidates.h"
#include "Costs/PricedNodes.h"
#include "layout/Analysis/Assignment.h"
#include "layout/Analysis/ConfigBuilder.h"
#include "layout/Interfaces/DroppedDims.h"
#include "layout/Interfaces/RuleCheck.h"
#include "llvm/Support/DebugLog.h"
#include <deque>

#define DEBUG_TYPE "layout-candidates"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Finds the configurations of all node classes: propagates layouts from node
/// to node until no new layout appears, or limits are reached.
class Propagation {
public:
  Propagation(const Program &program, CostModel &costs,
              const CandidateLimits &limits)
      : program(program), costs(costs),
        limits(costs.getModel().getLimits(limits)),
        result(program.nodeClasses.size()),
        proposed(program.tensorClasses.size()) {}

  std::vector<Candidates> run();

private:
  void seed(unsigned nodeClass);
  void add(unsigned nodeClass, std::optional<OpConfig> config, Value from);
  void propose(unsigned tensorClass, LayoutId layout);
  bool canRun(const NodeClass &node, const OpLayouts &layouts) const;
  void carry(unsigned nodeClass, OperandOrResult slot, LayoutId layout,
             Value from);
  std::optional<OpConfig> getFlowConfig(const NodeClass &flowClass,
                                        OpConfig::Origin origin,
                                        LayoutId layout,
                                        unsigned slot = 0) const;

  const Program &program;
  CostModel &costs;
  CandidateLimits limits;
  std::vector<Candidates> result;
  std::vector<SmallVector<LayoutId, 4>> proposed;
  std::deque<std::pair<unsigned, LayoutId>> queue;
};
} // namespace

bool Candidates::merge(OpConfig &config) {
  for (OpConfig &known : configs)
    if (known.layouts == config.layouts) {
      // With tiles, the known configuration can be combined with further tiles.
      if (known.tiles.empty())
        known.tiles = std::move(config.tiles);
      known.meetsNeed |= config.meetsNeed;
      return true;
    }
  return false;
}

namespace {
/// The layouts of an op in the form that debug output prints.
struct Shown {
  const OpLayouts &layouts;
  const LayoutTable &table;
};
} // namespace

static raw_ostream &operator<<(raw_ostream &os, const Shown &shown) {
  auto print = [&](ArrayRef<LayoutId> layouts) {
    llvm::interleaveComma(layouts, os, [&](LayoutId layout) {
      os << (layout == kAnyLayout ? "any" : shown.table.getMap(layout).str());
    });
  };
  os << '(';
  print(shown.layouts.operands);
  os << ") -> (";
  print(shown.layouts.results);
  return os << ')';
}

/// Returns true if the op of `node` can run if its tensors have `layouts`. Only
/// an op with loops can be unable to, and only on a target without per-element
/// addressing.
bool Propagation::canRun(const NodeClass &node,
                         const OpLayouts &layouts) const {
  if (costs.getModel().usesPerElementAddressing() || node.isFlowClass() ||
      !std::holds_alternative<LoopsRule>(node.rule))
    return true;
  return succeeded(checkRule(
      node.rule, costs.getStoredTypes(node.op->getOperands(), layouts.operands),
      costs.getStoredTypes(node.op->getResults(), layouts.results)));
}

void Propagation::add(unsigned nodeClass, std::optional<OpConfig> config,
                      Value from) {
  if (!config)
    return;
  const NodeClass &node = program.nodeClasses[nodeClass];
  Candidates &candidates = result[nodeClass];
  config->meetsNeed |= config->origin == OpConfig::Origin::Lanes;
  if (candidates.merge(*config))
    return;
  // The first configuration is accepted unconditionally.
  if (!candidates.configs.empty() && !canRun(node, config->exact)) {
    LDBG() << "class " << nodeClass << " cannot run where it "
           << describe(*config, costs) << ": " << Shown{config->exact, costs};
    return;
  }
  if (candidates.configs.size() >= limits.configsPerOp) {
    candidates.isTruncated = true;
    return;
  }
  config->from = from;
  if (isPriced(node))
    config->cost = costs.getOpCost(node.op, node.rule, config->layouts);
  LDBG() << "class " << nodeClass << " may choose what "
         << describe(*config, costs) << ", at " << config->cost << ": "
         << Shown{config->exact, costs};
  candidates.configs.push_back(std::move(*config));
  for (auto [slot, tensorClass] : node.incidentTensors) {
    LayoutId layout = getLayoutAt(candidates.configs.back().layouts, slot);
    // Only conversions read partial sums (P4).
    if (layout != kAnyLayout && !costs.isPartial(layout))
      propose(tensorClass, costs.withoutPadding(layout));
  }
}

void Propagation::propose(unsigned tensorClass, LayoutId layout) {
  SmallVector<LayoutId, 4> &layouts = proposed[tensorClass];
  if (layouts.size() >= limits.layoutsPerTensor ||
      llvm::is_contained(layouts, layout))
    return;
  layouts.push_back(layout);
  queue.push_back({tensorClass, layout});
}

/// Builds the configuration of a flow class in which its tensor (slot 0), or a
/// slice that is inserted into it (slot 1, 2, ..), has `layout`. Returns
/// std::nullopt if it is not storable, or if an inserted slice would not be a
/// slice of the storage.
std::optional<OpConfig> Propagation::getFlowConfig(const NodeClass &flowClass,
                                                   OpConfig::Origin origin,
                                                   LayoutId layout,
                                                   unsigned slot) const {
  if (slot > 0) {
    const NodeClass::Part &part = flowClass.insertedParts[slot - 1];
    if (part.type.getRank() != flowClass.flowType.getRank()) {
      std::optional<LayoutMap> whole =
          insertDims(costs.getMap(layout), part.rule.dropped);
      if (!whole)
        return std::nullopt;
      layout = costs.intern(*whole);
    }
  }
  std::optional<LayoutId> representative =
      costs.getRepresentative(layout, flowClass.flowType);
  if (!representative || !costs.isStorable(layout, flowClass.flowType))
    return std::nullopt;
  OpConfig config;
  config.origin = origin;
  config.layouts = {{*representative}, {*representative}};
  config.exact = {{layout}, {layout}};
  for (const NodeClass::Part &part : flowClass.insertedParts) {
    // The concurrent bodies of the parallel loop write into one storage, of
    // which each part must be a slice.
    if (!isSliceOfStorage(costs.getMap(layout), flowClass.flowType, part.type,
                          part.rule))
      return std::nullopt;
    LayoutId ofPart =
        part.type.getRank() == flowClass.flowType.getRank()
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

void Propagation::carry(unsigned nodeClass, OperandOrResult slot,
                        LayoutId layout, Value from) {
  const NodeClass &node = program.nodeClasses[nodeClass];
  if (node.isFixed)
    return;
  if (node.isFlowClass())
    return add(nodeClass,
               getFlowConfig(node, OpConfig::Origin::Carried, layout,
                             slot.isResult ? 0 : slot.index),
               from);
  if (std::holds_alternative<OpaqueRule>(node.rule))
    return;
  // A layout that came from the other side of a view is not propagated back.
  if (std::holds_alternative<ViewRule>(node.rule) &&
      llvm::any_of(result[nodeClass].configs, [&](const OpConfig &config) {
        return getLayoutAt(config.layouts, slot) == layout;
      }))
    return;
  costs.getModel().carry(node, slot, layout, costs, result[nodeClass],
                         [&](std::optional<OpConfig> config) {
                           add(nodeClass, std::move(config), from);
                         });
}

void Propagation::seed(unsigned nodeClass) {
  const NodeClass &node = program.nodeClasses[nodeClass];
  bool isConstrained = !node.constrainedOperands.empty();
  OpConfig::Origin origin =
      isConstrained ? OpConfig::Origin::Constrained : OpConfig::Origin::AsTyped;
  if (node.isFlowClass()) {
    RankedTensorType type =
        isConstrained ? node.constrainedOperands.front() : node.flowType;
    return add(nodeClass, getFlowConfig(node, origin, costs.getLayoutOf(type)),
               {});
  }
  std::optional<OpConfig> first;
  if (cannotKeepTypes(node)) {
    first = ConfigBuilder(node, costs).getRowMajor();
    origin = OpConfig::Origin::RowMajor;
  } else {
    first = ConfigBuilder(node, costs).getAsTyped();
  }
  assert(first && "a target stores row-major tensors");
  first->origin = origin;
  add(nodeClass, std::move(first), {});
  if (node.isFixed || !std::holds_alternative<LoopsRule>(node.rule))
    return;
  costs.getModel().seed(node, costs, result[nodeClass],
                        [&](std::optional<OpConfig> config) {
                          add(nodeClass, std::move(config), {});
                        });
}

std::vector<Candidates> Propagation::run() {
  for (auto [c, node] : llvm::enumerate(program.nodeClasses))
    LDBG() << "class " << c << " is "
           << (node.isFlowClass()
                   ? StringRef("a class of values of control flow")
                   : node.op->getName().getStringRef())
           << (node.isFixed ? ", fixed" : "");
  for (unsigned c = 0, e = result.size(); c < e; ++c)
    seed(c);
  // Terminates because every tensor class gains at most `layoutsPerTensor`
  // layouts.
  while (!queue.empty()) {
    auto [t, layout] = queue.front();
    queue.pop_front();
    const TensorClass &tensor = program.tensorClasses[t];
    if (tensor.producer)
      carry(*tensor.producer, {true, tensor.result}, layout, tensor.first);
    SmallVector<std::pair<unsigned, unsigned>, 4> visited;
    for (const TensorClass::Consumer &consumer : tensor.consumers)
      for (unsigned operand : consumer.operands) {
        std::pair<unsigned, unsigned> slot{consumer.nodeClass, operand};
        if (llvm::is_contained(visited, slot))
          continue;
        visited.push_back(slot);
        carry(consumer.nodeClass, {false, operand}, layout, tensor.first);
      }
  }
  return std::move(result);
}

void layout::keepNeeds(std::vector<Candidates> &all) {
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
    // Baselines that only use the first configuration are best served by the
    // given types, then by tiles on both sides.
    llvm::stable_sort(configs, [](const OpConfig &a, const OpConfig &b) {
      auto rank = [](const OpConfig &config) {
        int64_t tiled = llvm::count_if(config.tiles,
                                       [](int64_t tile) { return tile != 1; });
        bool isFirst = config.origin == OpConfig::Origin::AsTyped ||
                       config.origin == OpConfig::Origin::RowMajor;
        return std::make_pair(!isFirst, -tiled);
      };
      return rank(a) < rank(b);
    });
  }
}

std::vector<Candidates>
layout::collectCandidates(const Program &program, CostModel &costs,
                          const CandidateLimits &limits) {
  std::vector<Candidates> result = Propagation(program, costs, limits).run();
  costs.getModel().addStates(program, limits, costs, result);
  if (costs.getObjective() == Objective::bytes) {
    // Only conversions are priced.
    keepNeeds(result);
    for (Candidates &candidates : result)
      for (OpConfig &config : candidates.configs)
        config.cost = 0;
  }
  return result;
}

#undef DEBUG_TYPE
