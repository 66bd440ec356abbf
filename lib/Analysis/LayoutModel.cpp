//===- LayoutModel.cpp - A choice of layouts as a factor graph ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutModel.h"
#include "llvm/ADT/MapVector.h"
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

/// Roles start with the producer; without one its table has one row, which is
/// left out.
void LayoutModel::addEntry(Pattern &pattern, const TensorClass &tensor,
                           ArrayRef<unsigned> roles, std::vector<Cost> table) {
  if (llvm::all_of(table, [](Cost cost) { return cost == 0; }))
    return;
  if (!tensor.producer && roles.front() == 0)
    roles = roles.drop_front();
  pattern.entries.push_back(
      {SmallVector<unsigned, 2>(roles), graph.addTable(std::move(table))});
}

/// The layouts that consumers may ask for, with the number of those that may.
static llvm::MapVector<LayoutId, unsigned>
getAskers(const TensorClass &tensor, ArrayRef<Candidates> candidates) {
  llvm::MapVector<LayoutId, unsigned> askers;
  for (const TensorClass::Consumer &consumer : tensor.consumers) {
    SmallVector<LayoutId, 4> seen;
    for (const OpConfig &config : candidates[consumer.unitClass].configs)
      for (LayoutId layout : LayoutModel::getNeeds(config, consumer.operands))
        if (!llvm::is_contained(seen, layout)) {
          seen.push_back(layout);
          ++askers[layout];
        }
  }
  return askers;
}

/// Sets of at most `most` of `count` things as bits, in ascending order;
/// nothing where there are more than `limit`.
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

/// Consumers from which on it pays to look for other tensors that they read.
static constexpr size_t kManyConsumers = 3;

bool LayoutModel::addCopiesAsSets(Pattern &pattern, const TensorClass &tensor) {
  unsigned numNeeds = 0;
  for (const TensorClass::Consumer &consumer : tensor.consumers) {
    // One that may do with a copy of its own looks at the producer, too.
    if (consumer.frequency < tensor.frequency)
      return false;
    numNeeds += consumer.operands.size();
  }
  llvm::MapVector<LayoutId, unsigned> askers = getAskers(tensor, candidates);
  std::optional<std::vector<unsigned>> sets =
      getSets(askers.size(), numNeeds, /*limit=*/64);
  if (!sets)
    return false;
  auto getBits = [&](const OpConfig &config, ArrayRef<unsigned> operands) {
    unsigned bits = 0;
    for (LayoutId layout : getNeeds(config, operands))
      bits |= 1u << (askers.find(layout) - askers.begin());
    return bits;
  };

  unsigned role = 1 + tensor.consumers.size();
  std::vector<Cost> prices;
  for (unsigned p = 0, e = getNumMade(tensor); p < e; ++p)
    for (unsigned set : *sets) {
      Cost cost = 0;
      for (auto [i, asker] : llvm::enumerate(askers))
        if (set >> i & 1)
          cost = addCosts(cost, getPrice(tensor, p, asker.first, tensor));
      prices.push_back(cost);
    }
  addEntry(pattern, tensor, {0, role}, std::move(prices));

  unsigned asTyped = 0;
  for (auto [i, consumer] : llvm::enumerate(tensor.consumers)) {
    std::vector<Cost> demand;
    ArrayRef<OpConfig> configs = getConfigs(consumer.unitClass);
    asTyped |= getBits(configs.front(), consumer.operands);
    for (const OpConfig &config : configs) {
      unsigned needed = getBits(config, consumer.operands);
      for (unsigned set : *sets)
        demand.push_back((needed & ~set) == 0 ? 0 : kInfiniteCost);
    }
    addEntry(pattern, tensor, {unsigned(1 + i), role}, std::move(demand));
  }
  unsigned initial = llvm::find(*sets, asTyped) - sets->begin();
  pattern.copies.push_back({unsigned(sets->size()), initial});
  if (tensor.consumers.size() < kManyConsumers || pattern.entries.empty())
    return true;
  for (unsigned set : *sets) {
    LayoutSet &layouts = pattern.sets.emplace_back();
    for (auto [i, asker] : llvm::enumerate(askers))
      if (set >> i & 1)
        layouts.push_back(asker.first);
    llvm::sort(layouts);
  }
  for (const TensorClass::Consumer &consumer : tensor.consumers)
    pattern.asks.push_back(getAsk(consumer));
  return true;
}

unsigned LayoutModel::getAsk(const TensorClass::Consumer &consumer) {
  std::vector<LayoutId> key;
  for (const OpConfig &config : getConfigs(consumer.unitClass)) {
    llvm::append_range(key, getNeeds(config, consumer.operands));
    key.push_back(kAnyLayout);
  }
  return asks.try_emplace(std::move(key), asks.size()).first->second;
}

void LayoutModel::addCopiesOneByOne(Pattern &pattern,
                                    const TensorClass &tensor) {
  unsigned numMade = getNumMade(tensor);
  llvm::MapVector<LayoutId, unsigned> askers = getAskers(tensor, candidates);
  llvm::DenseMap<LayoutId, unsigned> copyRole;
  for (auto [layout, count] : askers) {
    if (count < 2)
      continue;
    std::vector<Cost> table;
    for (unsigned p = 0; p < numMade; ++p) {
      table.push_back(0);
      table.push_back(getPrice(tensor, p, layout, tensor));
    }
    if (llvm::all_of(table, [](Cost cost) { return cost == 0; }))
      continue; // everyone makes it
    unsigned role = 1 + tensor.consumers.size() + pattern.copies.size();
    pattern.copies.push_back({/*domain=*/2, /*initial=*/1});
    copyRole[layout] = role;
    addEntry(pattern, tensor, {0, role}, std::move(table));
  }

  for (auto [i, consumer] : llvm::enumerate(tensor.consumers)) {
    ArrayRef<OpConfig> configs = getConfigs(consumer.unitClass);
    unsigned role = 1 + i;
    // What is asked for by this consumer alone is paid between the two.
    std::vector<Cost> table;
    for (unsigned p = 0; p < numMade; ++p)
      for (const OpConfig &config : configs) {
        Cost cost = 0;
        for (LayoutId layout : getNeeds(config, consumer.operands))
          if (askers.lookup(layout) < 2)
            cost = addCosts(cost, getPrice(tensor, p, layout, consumer));
        table.push_back(cost);
      }
    addEntry(pattern, tensor, {0, role}, std::move(table));

    for (auto [layout, count] : askers) {
      auto copy = copyRole.find(layout);
      if (copy == copyRole.end())
        continue;
      // Where a copy of its own would be made less often than one for all, it
      // may do with that.
      bool mayStandAlone = consumer.frequency < tensor.frequency;
      std::vector<Cost> demand;
      for (unsigned p = 0; p < (mayStandAlone ? numMade : 1); ++p)
        for (const OpConfig &config : configs) {
          bool isNeeded =
              llvm::is_contained(getNeeds(config, consumer.operands), layout);
          demand.push_back(!isNeeded ? 0
                           : mayStandAlone
                               ? getPrice(tensor, p, layout, consumer)
                               : kInfiniteCost);
          demand.push_back(0);
        }
      if (mayStandAlone)
        addEntry(pattern, tensor, {0, role, copy->second}, std::move(demand));
      else
        addEntry(pattern, tensor, {role, copy->second}, std::move(demand));
    }
  }
}

LayoutModel::Pattern LayoutModel::makePattern(const TensorClass &tensor) {
  Pattern pattern;
  // With one variable for all copies of a tensor, straight programs with skips
  // stay series-parallel, which the solver reduces in linear time.
  if (tensor.consumers.size() < 2 || !addCopiesAsSets(pattern, tensor))
    addCopiesOneByOne(pattern, tensor);
  return pattern;
}

int64_t
LayoutModel::getCopyFrequency(const TensorClass &tensor,
                              ArrayRef<const TensorClass::Consumer *> askers) {
  int64_t alone = 0;
  for (const TensorClass::Consumer *consumer : askers)
    alone = addCosts(alone, consumer->frequency);
  return std::min(alone, tensor.frequency);
}

bool LayoutModel::breakTies() {
  // The most that each tensor can add: every consumer has a copy of its own for
  // each operand, and all have one together.
  constexpr int64_t kMost = int64_t(1) << 20;
  int64_t moves = 0, depths = 0;
  for (const Tensor &tensor : program.tensors) {
    const TensorClass &known = program.tensorClasses[tensor.tensorClass];
    for (const TensorClass::Consumer &consumer : known.consumers) {
      int64_t copies = consumer.operands.size();
      moves += copies * (known.frequency + consumer.frequency);
      depths += copies * (known.depth + consumer.depth);
    }
    // A sum that is too large is not made use of.
    moves = std::min(moves, kMost);
    depths = std::min(depths, kMost);
  }
  if (depths == 0 || depths == kMost)
    return false;
  // What is left for costs are 43 bits.
  bool countsMoves = (moves + 1) * (depths + 1) < kMost;
  perMove = countsMoves ? depths + 1 : 0;
  unit = (countsMoves ? moves + 1 : 1) * (depths + 1);
  return true;
}

FactorGraph LayoutModel::build() {
  std::vector<std::optional<TableId>> ownCosts;
  for (auto [c, unitClass] : llvm::enumerate(program.unitClasses)) {
    std::vector<Cost> table;
    for (const OpConfig &config : getConfigs(c))
      table.push_back(
          scaleCost(scaleCost(config.cost, unitClass.frequency), unit));
    bool isFree = llvm::all_of(table, [](Cost cost) { return cost == 0; });
    ownCosts.push_back(isFree
                           ? std::nullopt
                           : std::optional(graph.addTable(std::move(table))));
  }
  for (const Unit &unit : program.units) {
    unsigned variable = graph.addVariable(getConfigs(unit.unitClass).size());
    if (std::optional<TableId> table = ownCosts[unit.unitClass])
      graph.addFactor({variable}, *table);
  }
  initial.assign(program.units.size(), 0);

  for (const TensorClass &tensor : program.tensorClasses)
    patterns.push_back(makePattern(tensor));
  addTensors();
  return std::move(graph);
}

/// Of the tensors whose patterns have `asks`, as sequences of consumers and
/// what these ask for.
CommonTails LayoutModel::findCommonConsumers() const {
  CommonTails tails;
  std::vector<CommonTails::Element> sequence;
  for (const Tensor &tensor : program.tensors) {
    const Pattern &pattern = patterns[tensor.tensorClass];
    if (pattern.asks.empty())
      continue;
    sequence.clear();
    for (auto [unit, ask] :
         llvm::zip(program.getConsumers(tensor), pattern.asks))
      sequence.push_back({unit, ask});
    tails.add(sequence);
  }
  return tails;
}

/// Where all consumers of one tensor are the last consumers of another and ask
/// for the same of both, the copies of the second are a superset of those of
/// the first: one factor for as many as there are consumers. Each concatenation
/// of a dense block reads all tensors before it; so they make a chain.
void LayoutModel::addTensors() {
  CommonTails tails = findCommonConsumers();
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
    if (!pattern.asks.empty()) {
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
