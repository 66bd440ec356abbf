//===- LayoutModel.cpp - Layout assignment as a factor graph --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutModel.h"
#include "Memory/Weights.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::layout;

SmallVector<LayoutId, 2> LayoutModel::getNeeds(const OpConfig &config,
                                               ArrayRef<unsigned> operands) {
  SmallVector<LayoutId, 2> needs;
  for (unsigned operand : operands) {
    LayoutId layout = config.layouts.operands[operand];
    if (layout != kAnyLayout && !llvm::is_contained(needs, layout))
      needs.push_back(layout);
  }
  return needs;
}

LayoutId LayoutModel::getMade(const TensorClass &tensor,
                              unsigned producerConfig) const {
  if (!tensor.producer)
    return costs.getLayoutOf(tensor.type);
  return getConfigs(*tensor.producer)[producerConfig]
      .layouts.results[tensor.result];
}

/// Adds a cost table to the factors of a class of tensors, unless all of its
/// costs are 0. `roles` has its variables: 0 is the producer, followed by
/// consumers and copies. If there is no producer, role 0 is dropped; the table
/// must then have been made for a single configuration of it.
void LayoutModel::addEntry(Pattern &pattern, const TensorClass &tensor,
                           ArrayRef<unsigned> roles, std::vector<Cost> table) {
  if (llvm::all_of(table, [](Cost cost) { return cost == 0; }))
    return;
  if (!tensor.producer && roles.front() == 0)
    roles = roles.drop_front();
  pattern.entries.push_back(
      {SmallVector<unsigned, 2>(roles), graph.addTable(std::move(table))});
}

/// Returns the position of `layout`, which is appended if it is new.
static unsigned getPosition(SmallVectorImpl<LayoutId> &layouts,
                            LayoutId layout) {
  unsigned position = llvm::find(layouts, layout) - layouts.begin();
  if (position == layouts.size())
    layouts.push_back(layout);
  return position;
}

LayoutModel::Demand LayoutModel::getDemand(const TensorClass &tensor) {
  Demand demand;
  unsigned numMade = tensor.producer ? getConfigs(*tensor.producer).size() : 1;
  for (unsigned p = 0; p < numMade; ++p)
    demand.madeBy.push_back(getPosition(demand.made, getMade(tensor, p)));
  for (const TensorClass::Consumer &consumer : tensor.consumers) {
    auto &requestedBy = demand.requestedBy.emplace_back();
    SmallVector<unsigned, 8> all;
    for (const OpConfig &config : getConfigs(consumer.nodeClass)) {
      SmallVector<unsigned, 1> &requested = requestedBy.emplace_back();
      for (LayoutId layout : getNeeds(config, consumer.operands))
        requested.push_back(getPosition(demand.requested, layout));
      for (unsigned i : requested)
        if (!llvm::is_contained(all, i))
          all.push_back(i);
    }
    demand.numConsumers.resize(demand.requested.size(), 0);
    for (unsigned i : all)
      ++demand.numConsumers[i];
  }
  bool overwrites = mayOverwrite(tensor);
  for (LayoutId made : demand.made)
    for (LayoutId requested : demand.requested)
      demand.costs.push_back(
          costs.getConversionCost(tensor.type, made, requested, overwrites));
  return demand;
}

/// Returns the subsets of `count` elements with at most `most` elements, as bit
/// masks in ascending order. Returns std::nullopt if there are more than
/// `limit` subsets or more than 12 elements.
static std::optional<std::vector<unsigned>>
getSets(unsigned count, unsigned most, size_t limit) {
  if (count > 12)
    return std::nullopt;
  std::vector<unsigned> sets;
  for (unsigned set = 0; set < 1u << count; ++set)
    if (unsigned(llvm::popcount(set)) <= most)
      sets.push_back(set);
  if (sets.size() > limit)
    return std::nullopt;
  return sets;
}

/// The minimum number of consumers of two tensors A and B for which one factor
/// between the copies of A and of B replaces one factor per consumer of A, if
/// all consumers of A are the last consumers of B and request the same layouts
/// of both.
static constexpr size_t kManyConsumers = 3;

bool LayoutModel::addCopiesAsSets(Pattern &pattern, const TensorClass &tensor,
                                  const Demand &demand) {
  unsigned numNeeds = 0;
  for (const TensorClass::Consumer &consumer : tensor.consumers) {
    // The price of a separate copy for this consumer also depends on the
    // producer, so sets are not enough.
    if (consumer.frequency < tensor.frequency)
      return false;
    numNeeds += consumer.operands.size();
  }
  std::optional<std::vector<unsigned>> sets =
      getSets(demand.requested.size(), numNeeds, /*limit=*/64);
  if (!sets)
    return false;
  auto getBits = [](ArrayRef<unsigned> requested) {
    unsigned bits = 0;
    for (unsigned i : requested)
      bits |= 1u << i;
    return bits;
  };

  unsigned role = 1 + tensor.consumers.size();
  std::vector<Cost> prices;
  prices.reserve(demand.madeBy.size() * sets->size());
  for (unsigned p = 0, e = demand.madeBy.size(); p < e; ++p)
    for (unsigned set : *sets) {
      Cost cost = 0;
      for (unsigned bits = set; bits; bits &= bits - 1)
        cost = addCosts(cost,
                        getPrice(demand, p, llvm::countr_zero(bits), tensor));
      prices.push_back(cost);
    }
  addEntry(pattern, tensor, {0, role}, std::move(prices));

  unsigned asTyped = 0;
  for (auto [i, requestedBy] : llvm::enumerate(demand.requestedBy)) {
    std::vector<Cost> table;
    table.reserve(requestedBy.size() * sets->size());
    asTyped |= getBits(requestedBy.front());
    for (ArrayRef<unsigned> requested : requestedBy) {
      unsigned needed = getBits(requested);
      for (unsigned set : *sets)
        table.push_back((needed & ~set) == 0 ? 0 : kInfiniteCost);
    }
    addEntry(pattern, tensor, {unsigned(1 + i), role}, std::move(table));
  }
  unsigned initial = llvm::find(*sets, asTyped) - sets->begin();
  pattern.copies.push_back({unsigned(sets->size()), initial});
  if (tensor.consumers.size() < kManyConsumers || pattern.entries.empty())
    return true;
  for (unsigned set : *sets) {
    LayoutSet &layouts = pattern.sets.emplace_back();
    for (unsigned bits = set; bits; bits &= bits - 1)
      layouts.push_back(demand.requested[llvm::countr_zero(bits)]);
    llvm::sort(layouts);
  }
  for (const TensorClass::Consumer &consumer : tensor.consumers)
    pattern.requests.push_back(getRequest(consumer));
  return true;
}

unsigned LayoutModel::getRequest(const TensorClass::Consumer &consumer) {
  std::vector<LayoutId> key;
  for (const OpConfig &config : getConfigs(consumer.nodeClass)) {
    llvm::append_range(key, getNeeds(config, consumer.operands));
    key.push_back(kAnyLayout);
  }
  return requests.try_emplace(std::move(key), requests.size()).first->second;
}

void LayoutModel::addCopiesOneByOne(Pattern &pattern, const TensorClass &tensor,
                                    const Demand &demand) {
  unsigned numMade = demand.madeBy.size();
  // Layouts that several consumers may request, with roles of their copies.
  SmallVector<std::pair<unsigned, unsigned>, 4> copies;
  for (auto [i, count] : llvm::enumerate(demand.numConsumers)) {
    if (count < 2)
      continue;
    std::vector<Cost> table;
    for (unsigned p = 0; p < numMade; ++p) {
      table.push_back(0);
      table.push_back(getPrice(demand, p, i, tensor));
    }
    if (llvm::all_of(table, [](Cost cost) { return cost == 0; }))
      continue; // made by every configuration of the producer
    unsigned role = 1 + tensor.consumers.size() + pattern.copies.size();
    pattern.copies.push_back({/*domain=*/2, /*initial=*/1});
    copies.push_back({i, role});
    addEntry(pattern, tensor, {0, role}, std::move(table));
  }

  for (auto [c, consumer, requestedBy] :
       llvm::enumerate(tensor.consumers, demand.requestedBy)) {
    unsigned role = 1 + c;
    // One factor with the producer prices layouts that no other consumer
    // requests.
    std::vector<Cost> table;
    table.reserve(numMade * requestedBy.size());
    for (unsigned p = 0; p < numMade; ++p)
      for (ArrayRef<unsigned> requested : requestedBy) {
        Cost cost = 0;
        for (unsigned i : requested)
          if (demand.numConsumers[i] < 2)
            cost = addCosts(cost, getPrice(demand, p, i, consumer));
        table.push_back(cost);
      }
    addEntry(pattern, tensor, {0, role}, std::move(table));

    for (auto [i, copy] : copies) {
      // A copy for this consumer alone is an alternative if it is made less
      // often than the shared copy.
      bool mayStandAlone = consumer.frequency < tensor.frequency;
      std::vector<Cost> choices;
      for (unsigned p = 0; p < (mayStandAlone ? numMade : 1); ++p)
        for (ArrayRef<unsigned> requested : requestedBy) {
          choices.push_back(!llvm::is_contained(requested, i) ? 0
                            : mayStandAlone ? getPrice(demand, p, i, consumer)
                                            : kInfiniteCost);
          choices.push_back(0);
        }
      if (mayStandAlone)
        addEntry(pattern, tensor, {0, role, copy}, std::move(choices));
      else
        addEntry(pattern, tensor, {role, copy}, std::move(choices));
    }
  }
}

LayoutModel::Pattern LayoutModel::makePattern(const TensorClass &tensor) {
  Pattern pattern;
  Demand demand = getDemand(tensor);
  // With one variable for all copies of a tensor, straight programs with skips
  // are series-parallel, and the solver reduces them in linear time.
  if (tensor.consumers.size() < 2 || !addCopiesAsSets(pattern, tensor, demand))
    addCopiesOneByOne(pattern, tensor, demand);
  return pattern;
}

int64_t LayoutModel::getCopyFrequency(
    const TensorClass &tensor,
    ArrayRef<const TensorClass::Consumer *> consumers) {
  int64_t alone = 0;
  for (const TensorClass::Consumer *consumer : consumers)
    alone = addCosts(alone, consumer->frequency);
  return std::min(alone, tensor.frequency);
}

bool LayoutModel::breakTies() {
  // Bounds the contribution of each tensor: a copy for each operand of each
  // consumer, and the shared copies.
  constexpr int64_t kMost = int64_t(1) << 20;
  int64_t moves = 0, depths = 0;
  for (const Tensor &tensor : program.tensors) {
    const TensorClass &known = program.tensorClasses[tensor.tensorClass];
    for (const TensorClass::Consumer &consumer : known.consumers) {
      int64_t copies = consumer.operands.size();
      moves += copies * (known.frequency + consumer.frequency);
      depths += copies * (known.depth + consumer.depth);
    }
    // Saturates; larger sums are not used.
    moves = std::min(moves, kMost);
    depths = std::min(depths, kMost);
  }
  if (depths == 0 || depths == kMost)
    return false;
  // Leaves 43 bits for costs.
  bool countsMoves = (moves + 1) * (depths + 1) < kMost;
  perMove = countsMoves ? depths + 1 : 0;
  scale = (countsMoves ? moves + 1 : 1) * (depths + 1);
  return true;
}

std::vector<std::optional<TableId>> LayoutModel::makeTables() {
  std::vector<std::optional<TableId>> ownCosts;
  for (auto [c, nodeClass] : llvm::enumerate(program.nodeClasses)) {
    std::vector<Cost> table;
    for (const OpConfig &config : getConfigs(c))
      table.push_back(
          scaleCost(scaleCost(config.cost, nodeClass.frequency), scale));
    bool isFree = llvm::all_of(table, [](Cost cost) { return cost == 0; });
    ownCosts.push_back(isFree
                           ? std::nullopt
                           : std::optional(graph.addTable(std::move(table))));
  }
  for (const TensorClass &tensor : program.tensorClasses)
    patterns.push_back(makePattern(tensor));
  return ownCosts;
}

FactorGraph LayoutModel::build() {
  std::vector<std::optional<TableId>> ownCosts = makeTables();
  for (const Node &node : program.nodes) {
    unsigned variable = graph.addVariable(getConfigs(node.nodeClass).size());
    if (std::optional<TableId> table = ownCosts[node.nodeClass])
      graph.addFactor({variable}, *table);
  }
  initial.assign(program.nodes.size(), 0);
  addTensors();
  if (weights.areCounted())
    addWeights();
  return std::move(graph);
}

/// Adds bytes and prices of stored constants to the budget term and the costs
/// of `variable`, whose value v stores the layouts kept[v].
void LayoutModel::addKept(unsigned variable,
                          ArrayRef<SmallVector<unsigned, 1>> kept,
                          ArrayRef<int64_t> bytes, ArrayRef<Cost> prices) {
  auto [it, isNew] = termOf.try_emplace(variable, budget.terms.size());
  if (isNew)
    budget.terms.push_back({variable, std::vector<int64_t>(kept.size())});
  std::vector<Cost> table(kept.size());
  for (auto [amount, cost, layouts] :
       llvm::zip(budget.terms[it->second].amounts, table, kept))
    for (unsigned i : layouts) {
      amount = addCosts(amount, bytes[i]);
      cost = addCosts(cost, scaleCost(prices[i], scale));
    }
  if (llvm::any_of(table, [](Cost cost) { return cost != 0; }))
    graph.addFactor({variable}, table);
}

/// Adds the bytes and prices of all weights, i.e. constants. The stored layouts
/// of a weight with one use depend on one node. Other weights have a variable
/// for the set of stored layouts, or one per layout if there are more than 12
/// layouts or 64 sets.
void LayoutModel::addWeights() {
  for (const Weight &weight : collectWeights(program)) {
    SmallVector<LayoutId, 8> requested;
    std::vector<SmallVector<SmallVector<unsigned, 1>, 0>> requestedBy;
    unsigned most = 0;
    for (const Weight::Use &use : weight.uses) {
      most += use.operands.size();
      auto &ofUse = requestedBy.emplace_back();
      for (const OpConfig &config :
           getConfigs(program.nodes[use.node].nodeClass)) {
        auto &layouts = ofUse.emplace_back();
        for (LayoutId layout : getNeeds(config, use.operands))
          layouts.push_back(getPosition(requested, layout));
      }
    }
    SmallVector<int64_t, 8> bytes;
    SmallVector<Cost, 8> prices;
    for (LayoutId layout : requested) {
      bytes.push_back(costs.getStoredBytes(weight.getType(), layout));
      prices.push_back(getWeightCost(weight.getType(), layout, weights, costs));
    }
    if (weight.uses.size() == 1) {
      addKept(weight.uses.front().node, requestedBy.front(), bytes, prices);
      continue;
    }
    std::optional<std::vector<unsigned>> sets =
        getSets(requested.size(), most, /*limit=*/64);
    SmallVector<SmallVector<unsigned, 1>, 0> kept;
    if (sets) {
      for (unsigned set : *sets) {
        auto isKept = [&](unsigned i) { return (set >> i & 1) != 0; };
        // Skips sets with which a node could not run.
        if (!llvm::all_of(requestedBy, [&](const auto &ofUse) {
              return llvm::any_of(ofUse, [&](const auto &layouts) {
                return llvm::all_of(layouts, isKept);
              });
            }))
          continue;
        auto &layouts = kept.emplace_back();
        llvm::copy_if(llvm::seq<unsigned>(0, requested.size()),
                      std::back_inserter(layouts), isKept);
      }
      addCopies(weight.uses, requestedBy, kept);
      addKept(graph.getNumVariables() - 1, kept, bytes, prices);
      continue;
    }
    for (unsigned i = 0; i < requested.size(); ++i) {
      std::vector<SmallVector<SmallVector<unsigned, 1>, 0>> alone;
      for (auto &ofUse : requestedBy) {
        auto &ofThis = alone.emplace_back();
        for (ArrayRef<unsigned> layouts : ofUse)
          ofThis.push_back(llvm::is_contained(layouts, i)
                               ? SmallVector<unsigned, 1>{i}
                               : SmallVector<unsigned, 1>{});
      }
      kept.clear();
      kept.emplace_back();
      kept.emplace_back().push_back(i);
      addCopies(weight.uses, alone, kept);
      addKept(graph.getNumVariables() - 1, kept, bytes, prices);
    }
  }
}

/// Adds a variable whose value v stores a weight in the layouts kept[v], and
/// factors that forbid v if a node requests a layout that is not among them.
void LayoutModel::addCopies(
    ArrayRef<Weight::Use> uses,
    ArrayRef<SmallVector<SmallVector<unsigned, 1>, 0>> requestedBy,
    ArrayRef<SmallVector<unsigned, 1>> kept) {
  unsigned variable = graph.addVariable(kept.size());
  SmallVector<unsigned> typed;
  for (auto [use, ofUse] : llvm::zip(uses, requestedBy)) {
    std::vector<Cost> table;
    for (ArrayRef<unsigned> layouts : ofUse)
      for (ArrayRef<unsigned> set : kept)
        table.push_back(
            llvm::all_of(layouts,
                         [&](unsigned i) { return llvm::is_contained(set, i); })
                ? 0
                : kInfiniteCost);
    llvm::append_range(typed, ofUse.front());
    if (llvm::is_contained(table, kInfiniteCost))
      graph.addFactor({use.node, variable}, table);
  }
  initial.push_back(llvm::find_if(kept,
                                  [&](ArrayRef<unsigned> set) {
                                    return llvm::all_of(typed, [&](unsigned i) {
                                      return llvm::is_contained(set, i);
                                    });
                                  }) -
                    kept.begin());
}

/// Finds the last consumers that tensors have in common and that request the
/// same layouts of them. Only considers tensors with at least kManyConsumers
/// consumers, of which one variable represents all copies.
SuffixTrie LayoutModel::findCommonConsumers() const {
  SuffixTrie tails;
  std::vector<SuffixTrie::Element> sequence;
  for (const Tensor &tensor : program.tensors) {
    const Pattern &pattern = patterns[tensor.tensorClass];
    if (pattern.requests.empty())
      continue;
    sequence.clear();
    for (auto [node, request] :
         llvm::zip(program.getConsumers(tensor), pattern.requests))
      sequence.push_back({node, request});
    tails.add(sequence);
  }
  return tails;
}

/// Adds the factors of each tensor by the pattern of its class. If all
/// consumers of a tensor A are the last consumers of a tensor B, and request
/// the same layouts of both, the copies of B are a superset of those of A. Then
/// one factor between their copies replaces one per consumer. Such tensors form
/// a chain in a DenseNet block, whose concatenations read all tensors before
/// them.
void LayoutModel::addTensors() {
  SuffixTrie tails = findCommonConsumers();
  std::vector<std::pair<const Pattern *, unsigned>> sequences; // with variable
  SmallVector<unsigned> variableOf;
  for (const Tensor &tensor : program.tensors) {
    const Pattern &pattern = patterns[tensor.tensorClass];
    if (pattern.entries.empty())
      continue;
    variableOf.assign(1, tensor.producer);
    llvm::append_range(variableOf, program.getConsumers(tensor));
    unsigned end = variableOf.size(), firstCommon = end;
    for (const Pattern::Copies &copies : pattern.copies) {
      variableOf.push_back(graph.addVariable(copies.domain));
      initial.push_back(copies.initial);
    }
    if (!pattern.requests.empty()) {
      if (auto tail = tails.find(sequences.size()))
        firstCommon -= tail->length;
      sequences.push_back({&pattern, variableOf.back()});
    }
    for (const Pattern::Entry &entry : pattern.entries) {
      if (firstCommon <= entry.roles.front() && entry.roles.front() < end)
        continue;
      SmallVector<unsigned, 2> variables;
      for (unsigned role : entry.roles)
        variables.push_back(variableOf[role]);
      graph.addFactor(variables, entry.table);
    }
  }

  llvm::DenseMap<std::pair<const Pattern *, const Pattern *>, TableId> tables;
  for (size_t s = 0; s < sequences.size(); ++s)
    if (auto tail = tails.find(s)) {
      auto [pattern, variable] = sequences[s];
      auto [part, partVariable] = sequences[tail->sequence];
      auto [it, isNew] = tables.try_emplace({pattern, part});
      if (isNew)
        it->second = makeSupersetTable(*pattern, *part);
      graph.addFactor({variable, partVariable}, it->second);
    }
}

TableId LayoutModel::makeSupersetTable(const Pattern &pattern,
                                       const Pattern &part) {
  std::vector<Cost> table;
  for (const LayoutSet &set : pattern.sets)
    for (const LayoutSet &subset : part.sets)
      table.push_back(llvm::includes(set, subset) ? 0 : kInfiniteCost);
  return graph.addTable(std::move(table));
}
