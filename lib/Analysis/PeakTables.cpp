//===- PeakTables.cpp - Peak memory as terms of a budget ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes of a live tensor depend on its producer or consumer. If they depend
// on several nodes, an additional variable represents the bytes, and tables
// forbid values that are too small. Larger values are never better.
//
//===----------------------------------------------------------------------===//

#include "LayoutModel.h"
#include <map>

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Adds peaks to a budget.
class PeakTables {
public:
  PeakTables(const Program &program, ArrayRef<Candidates> candidates,
             MemoryModel &memory, FactorGraph &graph,
             std::vector<unsigned> &initial)
      : program(program), candidates(candidates), memory(memory), graph(graph),
        initial(initial) {}

  std::vector<Budget::Term> add(const MemoryPoint &point);

private:
  ArrayRef<OpConfig> getConfigs(unsigned node) const {
    return candidates[program.nodes[node].nodeClass].configs;
  }
  void addTo(std::vector<Budget::Term> &terms, unsigned variable,
             ArrayRef<int64_t> amounts);
  void addConstant(std::vector<Budget::Term> &terms, int64_t amount);
  Budget::Term makeTerm(std::vector<int64_t> amounts);
  void forbidLess(const Tensor &tensor, unsigned consumer,
                  bool dependsOnProducer, const Budget::Term &term,
                  llvm::function_ref<int64_t(unsigned, const OpConfig &)> get);
  /// Returns the bytes for configurations of the producer and of a consumer.
  using GetBytes = llvm::function_ref<int64_t(
      unsigned consumer, unsigned producerConfig, const OpConfig &config)>;
  const TensorClass &getClass(const HeldTensor &held) const {
    return program.tensorClasses[program.tensors[held.tensor].tensorClass];
  }
  ArrayRef<OpConfig> getConfigs(const HeldTensor &held,
                                unsigned consumer) const {
    return getConfigs(
        program.getConsumers(program.tensors[held.tensor])[consumer]);
  }
  /// Returns the layouts in which `consumer` requests the tensor, each once.
  SmallVector<LayoutId, 2> getNeeds(const HeldTensor &held, unsigned consumer,
                                    const OpConfig &config) const {
    return LayoutModel::getNeeds(config,
                                 getClass(held).consumers[consumer].operands);
  }
  unsigned countProducerConfigs(const HeldTensor &held) const;
  int64_t getAskedBytes(const HeldTensor &held, unsigned consumer,
                        unsigned producerConfig, const OpConfig &config);
  int64_t getBufferBytes(const HeldTensor &held, unsigned consumer,
                         unsigned producerConfig, const OpConfig &config);
  void addJoint(const HeldTensor &held, ArrayRef<unsigned> consumers,
                bool dependsOnProducer, GetBytes get,
                std::vector<Budget::Term> &terms);
  void addAsked(const HeldTensor &held, std::vector<Budget::Term> &terms);
  void addAskedLayouts(const HeldTensor &held, bool dependsOnProducer,
                       std::vector<Budget::Term> &terms);
  ArrayRef<Budget::Term> getAsked(const HeldTensor &held);

  const Program &program;
  ArrayRef<Candidates> candidates;
  MemoryModel &memory;
  FactorGraph &graph;
  std::vector<unsigned> &initial;
  std::map<
      std::tuple<unsigned, bool, std::vector<unsigned>, std::vector<unsigned>>,
      std::vector<Budget::Term>>
      known;
  std::optional<unsigned> constant;
};
} // namespace

void PeakTables::addTo(std::vector<Budget::Term> &terms, unsigned variable,
                       ArrayRef<int64_t> amounts) {
  auto it = llvm::find_if(terms, [&](const Budget::Term &term) {
    return term.variable == variable;
  });
  if (it == terms.end())
    it = terms.insert(it, {variable, std::vector<int64_t>(amounts.size())});
  for (auto [sum, amount] : llvm::zip_equal(it->amounts, amounts))
    sum = addCosts(sum, amount);
}

/// Adds bytes for every choice, to a variable with a single value.
void PeakTables::addConstant(std::vector<Budget::Term> &terms, int64_t amount) {
  if (amount == 0)
    return;
  if (!constant) {
    constant = graph.addVariable(1);
    initial.push_back(0);
  }
  addTo(terms, *constant, {amount});
}

/// Creates a variable for the sorted amounts. Its initial value is the largest.
Budget::Term PeakTables::makeTerm(std::vector<int64_t> amounts) {
  llvm::sort(amounts);
  amounts.erase(llvm::unique(amounts), amounts.end());
  initial.push_back(amounts.size() - 1);
  return {graph.addVariable(amounts.size()), std::move(amounts)};
}

/// Forbids values of `term` less than `get` for a configuration of the consumer
/// and, if it matters, of the producer.
void PeakTables::forbidLess(
    const Tensor &tensor, unsigned consumer, bool dependsOnProducer,
    const Budget::Term &term,
    llvm::function_ref<int64_t(unsigned, const OpConfig &)> get) {
  const TensorClass &known = program.tensorClasses[tensor.tensorClass];
  unsigned node = program.getConsumers(tensor)[consumer];
  unsigned numMade = dependsOnProducer && known.producer
                         ? candidates[*known.producer].configs.size()
                         : 1;
  std::vector<Cost> table;
  for (unsigned p = 0; p < numMade; ++p)
    for (const OpConfig &config : getConfigs(node)) {
      int64_t least = get(p, config);
      for (int64_t amount : term.amounts)
        table.push_back(amount >= least ? 0 : kInfiniteCost);
    }
  if (!llvm::is_contained(table, kInfiniteCost))
    return;
  if (known.producer && numMade > 1)
    graph.addFactor({tensor.producer, node, term.variable}, table);
  else
    graph.addFactor({node, term.variable}, table);
}

unsigned PeakTables::countProducerConfigs(const HeldTensor &held) const {
  std::optional<unsigned> producer = getClass(held).producer;
  return producer ? candidates[*producer].configs.size() : 1;
}

/// Returns the bytes of all copies of the tensor that `consumer` requests.
int64_t PeakTables::getAskedBytes(const HeldTensor &held, unsigned consumer,
                                  unsigned producerConfig,
                                  const OpConfig &config) {
  const TensorClass &tensor = getClass(held);
  int64_t sum = 0;
  for (LayoutId layout : getNeeds(held, consumer, config))
    sum = addCosts(
        sum, memory.getAskedBytes(tensor, held.isMade, producerConfig, layout));
  return sum;
}

/// Returns the bytes of the largest buffer that a conversion for `consumer`
/// needs.
int64_t PeakTables::getBufferBytes(const HeldTensor &held, unsigned consumer,
                                   unsigned producerConfig,
                                   const OpConfig &config) {
  const TensorClass &tensor = getClass(held);
  int64_t most = 0;
  for (LayoutId layout : getNeeds(held, consumer, config))
    most =
        std::max(most, memory.getBufferBytes(tensor, producerConfig, layout));
  return most;
}

/// Adds one term for all of `consumers`: the maximum of their bytes.
void PeakTables::addJoint(const HeldTensor &held, ArrayRef<unsigned> consumers,
                          bool dependsOnProducer, GetBytes get,
                          std::vector<Budget::Term> &terms) {
  unsigned numMade = dependsOnProducer ? countProducerConfigs(held) : 1;
  std::vector<int64_t> amounts = {0};
  for (unsigned c : consumers)
    for (unsigned p = 0; p < numMade; ++p)
      for (const OpConfig &config : getConfigs(held, c))
        amounts.push_back(get(c, p, config));
  if (llvm::all_of(amounts, [](int64_t amount) { return amount == 0; }))
    return;
  terms.push_back(makeTerm(std::move(amounts)));
  for (unsigned c : consumers)
    forbidLess(
        program.tensors[held.tensor], c, dependsOnProducer, terms.back(),
        [&](unsigned p, const OpConfig &config) { return get(c, p, config); });
}

/// Adds one term per requested layout, whose copy all consumers share.
void PeakTables::addAskedLayouts(const HeldTensor &held, bool dependsOnProducer,
                                 std::vector<Budget::Term> &terms) {
  const TensorClass &tensor = getClass(held);
  SmallVector<LayoutId, 8> layouts;
  for (unsigned c : held.askers)
    for (const OpConfig &config : getConfigs(held, c))
      for (LayoutId layout : getNeeds(held, c, config))
        if (!llvm::is_contained(layouts, layout))
          layouts.push_back(layout);
  for (LayoutId layout : layouts)
    addJoint(
        held, held.askers, dependsOnProducer,
        [&](unsigned c, unsigned p, const OpConfig &config) {
          return llvm::is_contained(getNeeds(held, c, config), layout)
                     ? memory.getAskedBytes(tensor, held.isMade, p, layout)
                     : 0;
        },
        terms);
}

/// Adds the terms of the copies that consumers request.
void PeakTables::addAsked(const HeldTensor &held,
                          std::vector<Budget::Term> &terms) {
  const TensorClass &tensor = getClass(held);
  bool dependsOnProducer = tensor.producer && countProducerConfigs(held) != 1 &&
                           memory.dependsOnProducer(tensor, held.isMade);
  if (held.askers.size() != 1)
    return addAskedLayouts(held, dependsOnProducer, terms);
  auto getBytes = [&](unsigned c, unsigned p, const OpConfig &config) {
    return getAskedBytes(held, c, p, config);
  };
  if (dependsOnProducer)
    return addJoint(held, held.askers, /*dependsOnProducer=*/true, getBytes,
                    terms);
  unsigned asker = held.askers.front();
  std::vector<int64_t> amounts;
  for (const OpConfig &config : getConfigs(held, asker))
    amounts.push_back(getBytes(asker, 0, config));
  terms.push_back({program.getConsumers(program.tensors[held.tensor])[asker],
                   std::move(amounts)});
}

/// Returns the terms of the copies that consumers request, and of the buffers
/// that convert to them.
ArrayRef<Budget::Term> PeakTables::getAsked(const HeldTensor &held) {
  auto [it, isNew] = known.try_emplace(
      {held.tensor, held.isMade,
       std::vector<unsigned>(held.askers.begin(), held.askers.end()),
       std::vector<unsigned>(held.movers.begin(), held.movers.end())});
  std::vector<Budget::Term> &terms = it->second;
  if (!isNew)
    return terms;
  auto getBuffer = [&](unsigned c, unsigned p, const OpConfig &config) {
    return getBufferBytes(held, c, p, config);
  };
  if (held.askers.size() == 1 && held.askers == held.movers) {
    addJoint(
        held, held.askers, /*dependsOnProducer=*/true,
        [&](unsigned c, unsigned p, const OpConfig &config) {
          return addCosts(getAskedBytes(held, c, p, config),
                          getBuffer(c, p, config));
        },
        terms);
    return terms;
  }
  addJoint(held, held.movers, /*dependsOnProducer=*/true, getBuffer, terms);
  addAsked(held, terms);
  return terms;
}

std::vector<Budget::Term> PeakTables::add(const MemoryPoint &point) {
  std::vector<Budget::Term> terms;
  int64_t always = 0;
  for (const HeldTensor &held : point.held) {
    const Tensor &tensor = program.tensors[held.tensor];
    const TensorClass &known = program.tensorClasses[tensor.tensorClass];
    if (held.isMade && !known.producer)
      always = addCosts(always, memory.getMadeBytes(known, 0));
    if (held.isMade && known.producer) {
      SmallVector<int64_t> amounts;
      for (unsigned p = 0, e = getConfigs(tensor.producer).size(); p < e; ++p)
        amounts.push_back(memory.getMadeBytes(known, p));
      addTo(terms, tensor.producer, amounts);
    }
    if (!held.askers.empty() || !held.movers.empty())
      for (const Budget::Term &term : getAsked(held))
        addTo(terms, term.variable, term.amounts);
  }
  for (auto [node, operand] : point.fresh) {
    SmallVector<int64_t> amounts;
    for (unsigned c = 0, e = getConfigs(node).size(); c < e; ++c)
      amounts.push_back(memory.getFreshBytes(node, operand, c));
    addTo(terms, node, amounts);
  }
  addConstant(terms, always);
  return terms;
}

void LayoutModel::addPeaks(FactorGraph &graph,
                           ArrayRef<const MemoryPoint *> points,
                           MemoryModel &memory) {
  PeakTables tables(program, candidates, memory, graph, initial);
  for (const MemoryPoint *point : points)
    budget.peaks.push_back(tables.add(*point));
}
