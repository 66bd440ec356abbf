//===- Candidates.cpp - The layouts that an op may choose from ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Candidates.h"
#include "ConfigBuilder.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include <deque>

using namespace mlir;
using namespace mlir::layout;
using Kind = OpLayoutRule::Kind;

bool layout::hasKnownLayout(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (!type.getEncoding() || hasLayout(type));
}

static bool isEncoded(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

static bool hasEncodedType(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isEncoded) ||
         llvm::any_of(op->getResultTypes(), isEncoded);
}

namespace {
/// Carries layouts over ops until nothing new appears.
class Propagation {
public:
  Propagation(CandidateSet &set, CostModel &costs,
              const CandidateLimits &limits)
      : set(set), costs(costs), limits(limits) {}

  void run();

private:
  void add(OpCandidates &candidates, std::optional<OpConfig> config,
           OpConfig::Origin origin, Value from);
  void offer(Value value, LayoutId layout);
  void carry(OpCandidates &candidates, Value value, LayoutId layout);

  CandidateSet &set;
  CostModel &costs;
  CandidateLimits limits;
  llvm::DenseMap<Value, SmallVector<LayoutId, 4>> offered;
  std::deque<std::pair<Value, LayoutId>> queue;
};
} // namespace

void Propagation::add(OpCandidates &candidates, std::optional<OpConfig> config,
                      OpConfig::Origin origin, Value from) {
  if (!config)
    return;
  for (OpConfig &known : candidates.configs)
    if (known.layouts == config->layouts) {
      // The same layouts as tiles let further tiles be combined with them.
      if (known.tiles.empty())
        known.tiles = std::move(config->tiles);
      return;
    }
  if (candidates.configs.size() >= limits.configsPerOp) {
    candidates.isTruncated = true;
    return;
  }
  config->origin = origin;
  config->from = from;
  // Where there is no choice there is no price.
  if (!candidates.isPinned)
    config->cost =
        costs.getOpCost(candidates.op, candidates.rule, config->layouts);
  candidates.configs.push_back(*config);
  for (auto [operand, layout] :
       llvm::zip(candidates.op->getOperands(), config->layouts.operands))
    if (layout != kAnyLayout)
      offer(operand, layout);
  for (auto [result, layout] :
       llvm::zip(candidates.op->getResults(), config->layouts.results))
    if (layout != kAnyLayout)
      offer(result, layout);
}

void Propagation::offer(Value value, LayoutId layout) {
  // What a source offers to one user says nothing about another.
  if (set.freeSources.contains(value.getDefiningOp()))
    return;
  SmallVector<LayoutId, 4> &layouts = offered[value];
  if (layouts.size() >= limits.layoutsPerValue ||
      llvm::is_contained(layouts, layout))
    return;
  layouts.push_back(layout);
  queue.push_back({value, layout});
}

/// Configuration `i` with the tiles that `layout` gives one tensor, where that
/// is a new one.
static std::optional<OpConfig> combine(const OpCandidates &candidates,
                                       const ConfigBuilder &builder, size_t i,
                                       bool isResult, unsigned index,
                                       LayoutId layout) {
  const OpConfig &base = candidates.configs[i];
  if (base.tiles.empty())
    return std::nullopt;
  std::optional<SmallVector<int64_t>> tiles =
      builder.mergeTiles(base.tiles, isResult, index, layout);
  if (!tiles || llvm::any_of(candidates.configs, [&](const OpConfig &config) {
        return ArrayRef<int64_t>(config.tiles) == ArrayRef<int64_t>(*tiles);
      }))
    return std::nullopt;
  std::optional<OpConfig> config = builder.getTiled(*tiles);
  if (!config)
    return std::nullopt;
  const OpLayouts &got = config->layouts;
  // Tiles in another order are another layout.
  if ((isResult ? got.results[index] : got.operands[index]) != layout)
    return std::nullopt;
  return config;
}

void Propagation::carry(OpCandidates &candidates, Value value,
                        LayoutId layout) {
  if (candidates.isPinned || candidates.rule.kind == Kind::Opaque)
    return;
  ConfigBuilder builder(candidates.op, candidates.rule, costs);
  auto visit = [&](bool isResult, unsigned index) {
    // The configurations grow while their tiles are being combined.
    if (candidates.rule.kind == Kind::Loops)
      for (size_t i = 0; i < candidates.configs.size(); ++i)
        add(candidates,
            combine(candidates, builder, i, isResult, index, layout),
            OpConfig::Origin::Carried, value);
    add(candidates, builder.carry(isResult, index, layout),
        OpConfig::Origin::Carried, value);
  };
  for (OpOperand &operand : candidates.op->getOpOperands())
    if (operand.get() == value)
      visit(false, operand.getOperandNumber());
  if (auto result = dyn_cast<OpResult>(value);
      result && result.getOwner() == candidates.op)
    visit(true, result.getResultNumber());
}

void Propagation::run() {
  for (OpCandidates &candidates : set.ops) {
    ConfigBuilder builder(candidates.op, candidates.rule, costs);
    add(candidates, builder.getAsTyped(), OpConfig::Origin::AsTyped, {});
    if (candidates.isPinned || candidates.rule.kind != Kind::Loops)
      continue;
    for (ArrayRef<int64_t> tiles : builder.getLaneTiles())
      add(candidates, builder.getTiled(tiles), OpConfig::Origin::Lanes, {});
  }
  // Every value gains at most `layoutsPerValue` layouts, so this ends.
  while (!queue.empty()) {
    auto [value, layout] = queue.front();
    queue.pop_front();
    auto visit = [&, value = value, layout = layout](Operation *op) {
      auto it = set.indexOf.find(op);
      if (it != set.indexOf.end())
        carry(set.ops[it->second], value, layout);
    };
    if (Operation *producer = value.getDefiningOp())
      visit(producer);
    Operation *last = nullptr;
    for (Operation *user : value.getUsers()) {
      // Several uses by one op are neighbors in the list more often than not.
      if (user != last)
        visit(user);
      last = user;
    }
  }
}

CandidateSet layout::collectCandidates(Operation *root, CostModel &costs,
                                       const CandidateLimits &limits) {
  CandidateSet set;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == root)
      return WalkResult::advance();
    bool hasTensors = llvm::any_of(op->getOperands(), hasKnownLayout) ||
                      llvm::any_of(op->getResults(), hasKnownLayout);
    if (!hasTensors)
      return WalkResult::advance();
    OpCandidates candidates;
    candidates.op = op;
    candidates.rule = getLayoutRule(op);
    candidates.isPinned = hasEncodedType(op);
    Kind kind = candidates.rule.kind;
    if (kind == Kind::Source && !candidates.isPinned) {
      set.freeSources.insert(op);
    } else if (kind != Kind::Shape) {
      set.indexOf[op] = set.ops.size();
      set.ops.push_back(std::move(candidates));
    }
    // Bodies of ops with a rule are part of what the rule says.
    return kind == Kind::Opaque ? WalkResult::advance() : WalkResult::skip();
  });
  Propagation(set, costs, limits).run();
  return set;
}
