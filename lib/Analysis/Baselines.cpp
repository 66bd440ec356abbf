//===- Baselines.cpp - Layout heuristics of other compilers ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Baselines.h"
#include <deque>

using namespace mlir;
using namespace mlir::layout;

namespace {

class Chooser {
public:
  Chooser(const Program &program, ArrayRef<Candidates> candidates,
          CostModel &costs);

  void goForward();
  void goBackward();
  void spread();
  void lowerRanks();
  void vote();
  void state();

  std::vector<unsigned> choice;

private:
  /// The number of a tensor of the program, and the operand or result of a node
  /// that is this tensor.
  struct End {
    unsigned tensor;
    OperandOrResult slot;
  };

  ArrayRef<OpConfig> getConfigs(unsigned node) const {
    return candidates[program.nodes[node].nodeClass].configs;
  }
  ArrayRef<End> getEnds(unsigned node) const {
    return ArrayRef(ends).slice(firstEnd[node],
                                firstEnd[node + 1] - firstEnd[node]);
  }
  bool hasNeed(unsigned node) const {
    return getConfigs(node).front().meetsNeed;
  }
  bool isAnchor(unsigned node) const {
    return getConfigs(node).size() == 1 || hasNeed(node);
  }
  LayoutId getMade(const Tensor &tensor) const;
  template <typename Fn> void forEachOtherEnd(unsigned node, End end, Fn fn);
  std::optional<unsigned> find(unsigned node, OperandOrResult slot,
                               LayoutId layout) const;

  const Program &program;
  ArrayRef<Candidates> candidates;
  CostModel &costs;
  std::vector<End> ends;
  std::vector<unsigned> firstEnd;
};

} // namespace

Chooser::Chooser(const Program &program, ArrayRef<Candidates> candidates,
                 CostModel &costs)
    : choice(program.nodes.size(), 0), program(program), candidates(candidates),
      costs(costs) {
  std::vector<SmallVector<End, 4>> ofNode(program.nodes.size());
  for (auto [t, tensor] : llvm::enumerate(program.tensors)) {
    const TensorClass &known = program.tensorClasses[tensor.tensorClass];
    for (auto [consumer, node] :
         llvm::zip(known.consumers, program.getConsumers(tensor)))
      for (unsigned operand : consumer.operands)
        ofNode[node].push_back({unsigned(t), {false, operand}});
    if (known.producer)
      ofNode[tensor.producer].push_back({unsigned(t), {true, known.result}});
  }
  for (SmallVector<End, 4> &own : ofNode) {
    // Operands in order, then results.
    llvm::stable_sort(own, [](const End &a, const End &b) {
      return std::make_pair(a.slot.isResult, a.slot.index) <
             std::make_pair(b.slot.isResult, b.slot.index);
    });
    firstEnd.push_back(ends.size());
    llvm::append_range(ends, own);
  }
  firstEnd.push_back(ends.size());
}

LayoutId Chooser::getMade(const Tensor &tensor) const {
  const TensorClass &known = program.tensorClasses[tensor.tensorClass];
  if (!known.producer)
    return costs.getLayoutOf(known.type);
  return getConfigs(tensor.producer)[choice[tensor.producer]]
      .layouts.results[known.result];
}

/// Returns the first configuration of `node` with `layout` at `slot`, or
/// std::nullopt if there is none.
std::optional<unsigned> Chooser::find(unsigned node, OperandOrResult slot,
                                      LayoutId layout) const {
  for (auto [c, config] : llvm::enumerate(getConfigs(node)))
    if (getLayoutAt(config.layouts, slot) == layout)
      return c;
  return std::nullopt;
}

/// Calls fn(node, slot) for the other side of the tensor at `end` of `node`. If
/// `end` is an operand, this is the producer, if there is one; if it is a
/// result, each operand of each consumer that is the tensor.
template <typename Fn>
void Chooser::forEachOtherEnd(unsigned node, End end, Fn fn) {
  const Tensor &tensor = program.tensors[end.tensor];
  const TensorClass &known = program.tensorClasses[tensor.tensorClass];
  if (!end.slot.isResult) {
    if (known.producer)
      fn(tensor.producer, OperandOrResult{true, known.result});
    return;
  }
  for (auto [consumer, other] :
       llvm::zip(known.consumers, program.getConsumers(tensor)))
    for (unsigned operand : consumer.operands)
      fn(other, OperandOrResult{false, operand});
}

void Chooser::goForward() {
  for (unsigned node = 0, e = choice.size(); node < e; ++node)
    for (End end : getEnds(node)) {
      if (end.slot.isResult)
        break;
      if (std::optional<unsigned> config =
              find(node, end.slot, getMade(program.tensors[end.tensor]))) {
        choice[node] = *config;
        break;
      }
    }
}

void Chooser::goBackward() {
  for (unsigned node = choice.size(); node-- > 0;) {
    for (End end : getEnds(node)) {
      if (!end.slot.isResult || isAnchor(node))
        continue;
      std::optional<LayoutId> wanted;
      bool agree = true;
      forEachOtherEnd(node, end, [&](unsigned other, OperandOrResult slot) {
        LayoutId layout =
            getLayoutAt(getConfigs(other)[choice[other]].layouts, slot);
        agree &= !wanted || *wanted == layout;
        wanted = layout;
      });
      if (!wanted || !agree)
        continue;
      if (std::optional<unsigned> config = find(node, end.slot, *wanted))
        choice[node] = *config;
      break;
    }
  }
}

void Chooser::spread() {
  std::vector<char> isSet(choice.size(), false);
  std::deque<unsigned> queue;
  // Ops with a preferred layout have priority over other anchors.
  for (bool needs : {true, false})
    for (unsigned node = 0, e = choice.size(); node < e; ++node)
      if (isAnchor(node) && hasNeed(node) == needs) {
        isSet[node] = true;
        queue.push_back(node);
      }
  while (!queue.empty()) {
    unsigned node = queue.front();
    queue.pop_front();
    const OpConfig &config = getConfigs(node)[choice[node]];
    for (End end : getEnds(node))
      forEachOtherEnd(node, end, [&](unsigned other, OperandOrResult slot) {
        if (isSet[other])
          return;
        std::optional<unsigned> follows =
            find(other, slot, getLayoutAt(config.layouts, end.slot));
        if (!follows)
          return;
        choice[other] = *follows;
        isSet[other] = true;
        queue.push_back(other);
      });
  }
}

void Chooser::lowerRanks() {
  // Returns the sum of the ranks of converted tensors at a node.
  auto getRanks = [&](unsigned node, const OpConfig &config) {
    int64_t sum = 0;
    for (End end : getEnds(node)) {
      const Tensor &tensor = program.tensors[end.tensor];
      int64_t rank = program.tensorClasses[tensor.tensorClass].type.getRank();
      LayoutId own = getLayoutAt(config.layouts, end.slot);
      if (!end.slot.isResult)
        sum += getMade(tensor) == own ? 0 : rank;
      else
        forEachOtherEnd(node, end, [&](unsigned other, OperandOrResult slot) {
          LayoutId wanted =
              getLayoutAt(getConfigs(other)[choice[other]].layouts, slot);
          sum += wanted == own ? 0 : rank;
        });
    }
    return sum;
  };
  for (unsigned node = 0, e = choice.size(); node < e; ++node) {
    int64_t least = getRanks(node, getConfigs(node)[choice[node]]);
    for (auto [c, config] : llvm::enumerate(getConfigs(node)))
      if (int64_t ranks = getRanks(node, config); ranks < least) {
        least = ranks;
        choice[node] = c;
      }
  }
}

void Chooser::vote() {
  for (unsigned node = 0, e = choice.size(); node < e; ++node) {
    unsigned most = 0;
    for (auto [c, config] : llvm::enumerate(getConfigs(node))) {
      unsigned votes = 0;
      for (End end : getEnds(node)) {
        LayoutId own = getLayoutAt(config.layouts, end.slot);
        if (!end.slot.isResult)
          votes += getMade(program.tensors[end.tensor]) == own;
        else
          forEachOtherEnd(node, end, [&](unsigned other, OperandOrResult slot) {
            votes += getLayoutAt(getConfigs(other)[choice[other]].layouts,
                                 slot) == own;
          });
      }
      if (votes > most) {
        most = votes;
        choice[node] = c;
      }
    }
  }
}

/// Chooses a configuration for each op on its own, except views: the first one
/// that the op prefers, or else one that was propagated from a neighbor. Among
/// the propagated ones, takes the first one with the layout in which the first
/// operand is made, or else the first one. Without either, the choice does not
/// change.
void Chooser::state() {
  for (unsigned node = 0, e = choice.size(); node < e; ++node) {
    const NodeClass &known = program.getClass(program.nodes[node]);
    ArrayRef<OpConfig> configs = getConfigs(node);
    auto take = [&](auto isWanted) {
      const OpConfig *found = llvm::find_if(configs, isWanted);
      if (found == configs.end())
        return false;
      choice[node] = found - configs.begin();
      return true;
    };
    auto follows = [](const OpConfig &config) {
      return config.origin == OpConfig::Origin::Carried;
    };
    if (known.isFlowClass() || std::holds_alternative<ViewRule>(known.rule) ||
        take([](const OpConfig &config) { return config.meetsNeed; }))
      continue;
    ArrayRef<End> own = getEnds(node);
    bool isFollowing =
        !own.empty() && !own.front().slot.isResult &&
        take([&](const OpConfig &config) {
          return follows(config) &&
                 getLayoutAt(config.layouts, own.front().slot) ==
                     getMade(program.tensors[own.front().tensor]);
        });
    if (!isFollowing)
      take(follows);
  }
}

/// Replaces each shared conversion by one conversion for each of its consumers.
static void convertForEach(LayoutAssignment &assignment) {
  const Program &program = assignment.program;
  llvm::DenseMap<Value, const Tensor *> tensors;
  for (const Tensor &tensor : program.tensors)
    tensors[tensor.value] = &tensor;
  std::vector<PlannedConversion> conversions;
  Cost total = 0;
  for (const PlannedConversion &shared : assignment.conversions) {
    const Tensor &tensor = *tensors.at(shared.value);
    const TensorClass &known = program.tensorClasses[tensor.tensorClass];
    for (const auto &consumer : shared.consumers) {
      PlannedConversion own = shared;
      own.consumers.assign(1, consumer);
      const unsigned *place =
          llvm::find(program.getConsumers(tensor), consumer.first);
      own.frequency =
          std::min(known.consumers[place - program.getConsumers(tensor).begin()]
                       .frequency,
                   known.frequency);
      own.cost = scaleCost(shared.cost / shared.frequency, own.frequency);
      total = addCosts(total, own.cost);
      conversions.push_back(std::move(own));
    }
  }
  assignment.cost =
      addCosts(assignment.cost - assignment.conversionCost, total);
  assignment.conversionCost = total;
  assignment.conversions = std::move(conversions);
  assignment.exact = assignment.cost == assignment.lowerBound;
}

void layout::setBaseline(LayoutAssignment &assignment, Baseline rule,
                         CostModel &costs) {
  Chooser chooser(assignment.program, assignment.candidates, costs);
  switch (rule) {
  case Baseline::forward:
    chooser.goForward();
    break;
  case Baseline::priority:
    chooser.spread();
    break;
  case Baseline::rank:
    chooser.lowerRanks();
    break;
  case Baseline::majority:
    chooser.vote();
    break;
  case Baseline::greedy:
    chooser.state();
    break;
  case Baseline::bidirectional:
    chooser.goForward();
    chooser.goBackward();
    break;
  case Baseline::asTyped:
    // Keeps the first configuration of every node.
    break;
  }
  setChoice(assignment, std::move(chooser.choice), costs);
  if (rule == Baseline::greedy)
    convertForEach(assignment);
}
