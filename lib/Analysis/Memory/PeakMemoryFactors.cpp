//===- PeakMemoryFactors.cpp - Peak memory as terms of a budget -----------===//
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
/// Computes the budget terms of the bytes that are live at a program point.
/// Appends a variable to the graph for each sum that depends on several nodes.
class PeakMemoryFactors {
public:
  PeakMemoryFactors(const Program &program, ArrayRef<Candidates> candidates,
                    MemoryModel &memory, FactorGraph &graph,
                    std::vector<unsigned> &initial)
      : program(program), candidates(candidates), memory(memory), graph(graph),
        initial(initial) {}

  std::vector<Budget::Term> add(const LivenessPoint &point);

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
  /// Returns the bytes, e.g. of a copy or of a buffer, that a live tensor needs
  /// for a consumer if its producer and the consumer have these configurations.
  using GetBytes = llvm::function_ref<int64_t(
      unsigned consumer, unsigned producerConfig, const OpConfig &config)>;
  const TensorClass &getClass(const LiveTensor &live) const {
    return program.tensorClasses[program.tensors[live.tensor].tensorClass];
  }
  ArrayRef<OpConfig> getConfigs(const LiveTensor &live,
                                unsigned consumer) const {
    return getConfigs(
        program.getConsumers(program.tensors[live.tensor])[consumer]);
  }
  /// Returns the layouts in which `consumer` requests the tensor, each once.
  SmallVector<LayoutId, 2> getNeeds(const LiveTensor &live, unsigned consumer,
                                    const OpConfig &config) const {
    return LayoutModel::getNeeds(config,
                                 getClass(live).consumers[consumer].operands);
  }
  unsigned countProducerConfigs(const LiveTensor &live) const;
  int64_t getRequestedBytes(const LiveTensor &live, unsigned consumer,
                            unsigned producerConfig, const OpConfig &config);
  int64_t getBufferBytes(const LiveTensor &live, unsigned consumer,
                         unsigned producerConfig, const OpConfig &config);
  void addJoint(const LiveTensor &live, ArrayRef<unsigned> consumers,
                bool dependsOnProducer, GetBytes get,
                std::vector<Budget::Term> &terms);
  void addRequested(const LiveTensor &live, std::vector<Budget::Term> &terms);
  void addRequestedLayouts(const LiveTensor &live, bool dependsOnProducer,
                           std::vector<Budget::Term> &terms);
  ArrayRef<Budget::Term> getRequested(const LiveTensor &live);

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

void PeakMemoryFactors::addTo(std::vector<Budget::Term> &terms,
                              unsigned variable, ArrayRef<int64_t> amounts) {
  auto it = llvm::find_if(terms, [&](const Budget::Term &term) {
    return term.variable == variable;
  });
  if (it == terms.end())
    it = terms.insert(it, {variable, std::vector<int64_t>(amounts.size())});
  for (auto [sum, amount] : llvm::zip_equal(it->amounts, amounts))
    sum = addCosts(sum, amount);
}

/// Adds `amount` bytes that are live whatever the nodes choose, as a term of a
/// variable with a single value.
void PeakMemoryFactors::addConstant(std::vector<Budget::Term> &terms,
                                    int64_t amount) {
  if (amount == 0)
    return;
  if (!constant) {
    constant = graph.addVariable(1);
    initial.push_back(0);
  }
  addTo(terms, *constant, {amount});
}

/// Adds a variable to the graph that has one value for each distinct amount of
/// bytes, and returns its term. The initial value is the largest amount.
Budget::Term PeakMemoryFactors::makeTerm(std::vector<int64_t> amounts) {
  llvm::sort(amounts);
  amounts.erase(llvm::unique(amounts), amounts.end());
  initial.push_back(amounts.size() - 1);
  return {graph.addVariable(amounts.size()), std::move(amounts)};
}

/// Adds a factor that forbids values of `term` with fewer bytes than get(p, c),
/// for each configuration c of the consumer. If `dependsOnProducer`, p is each
/// configuration of the producer, and otherwise only 0.
void PeakMemoryFactors::forbidLess(
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

unsigned PeakMemoryFactors::countProducerConfigs(const LiveTensor &live) const {
  std::optional<unsigned> producer = getClass(live).producer;
  return producer ? candidates[*producer].configs.size() : 1;
}

/// Returns the bytes of all copies of the tensor that `consumer` requests.
int64_t PeakMemoryFactors::getRequestedBytes(const LiveTensor &live,
                                             unsigned consumer,
                                             unsigned producerConfig,
                                             const OpConfig &config) {
  const TensorClass &tensor = getClass(live);
  int64_t sum = 0;
  for (LayoutId layout : getNeeds(live, consumer, config))
    sum = addCosts(sum, memory.getRequestedBytes(tensor, live.isMade,
                                                 producerConfig, layout));
  return sum;
}

/// Returns the bytes of the largest buffer that a conversion for `consumer`
/// needs.
int64_t PeakMemoryFactors::getBufferBytes(const LiveTensor &live,
                                          unsigned consumer,
                                          unsigned producerConfig,
                                          const OpConfig &config) {
  const TensorClass &tensor = getClass(live);
  int64_t most = 0;
  for (LayoutId layout : getNeeds(live, consumer, config))
    most =
        std::max(most, memory.getBufferBytes(tensor, producerConfig, layout));
  return most;
}

/// Adds to `terms` one term for all of `consumers`: the maximum, over these
/// consumers c, of the bytes get(c, p, config) if c has the configuration
/// `config`. If `dependsOnProducer`, the bytes also depend on p, the number of
/// the producer's configuration; otherwise p is 0.
void PeakMemoryFactors::addJoint(const LiveTensor &live,
                                 ArrayRef<unsigned> consumers,
                                 bool dependsOnProducer, GetBytes get,
                                 std::vector<Budget::Term> &terms) {
  unsigned numMade = dependsOnProducer ? countProducerConfigs(live) : 1;
  std::vector<int64_t> amounts = {0};
  for (unsigned c : consumers)
    for (unsigned p = 0; p < numMade; ++p)
      for (const OpConfig &config : getConfigs(live, c))
        amounts.push_back(get(c, p, config));
  if (llvm::all_of(amounts, [](int64_t amount) { return amount == 0; }))
    return;
  terms.push_back(makeTerm(std::move(amounts)));
  for (unsigned c : consumers)
    forbidLess(
        program.tensors[live.tensor], c, dependsOnProducer, terms.back(),
        [&](unsigned p, const OpConfig &config) { return get(c, p, config); });
}

/// Adds one budget term per layout that consumers may request: the bytes of its
/// copy, which all of them share, or 0 if none requests it. If
/// `dependsOnProducer`, the bytes also depend on the configuration of the
/// producer.
void PeakMemoryFactors::addRequestedLayouts(const LiveTensor &live,
                                            bool dependsOnProducer,
                                            std::vector<Budget::Term> &terms) {
  const TensorClass &tensor = getClass(live);
  SmallVector<LayoutId, 8> layouts;
  for (unsigned c : live.consumers)
    for (const OpConfig &config : getConfigs(live, c))
      for (LayoutId layout : getNeeds(live, c, config))
        if (!llvm::is_contained(layouts, layout))
          layouts.push_back(layout);
  for (LayoutId layout : layouts)
    addJoint(
        live, live.consumers, dependsOnProducer,
        [&](unsigned c, unsigned p, const OpConfig &config) {
          return llvm::is_contained(getNeeds(live, c, config), layout)
                     ? memory.getRequestedBytes(tensor, live.isMade, p, layout)
                     : 0;
        },
        terms);
}

/// Adds the budget terms of the copies of a live tensor that its consumers
/// request.
void PeakMemoryFactors::addRequested(const LiveTensor &live,
                                     std::vector<Budget::Term> &terms) {
  const TensorClass &tensor = getClass(live);
  bool dependsOnProducer = tensor.producer && countProducerConfigs(live) != 1 &&
                           memory.dependsOnProducer(tensor, live.isMade);
  if (live.consumers.size() != 1)
    return addRequestedLayouts(live, dependsOnProducer, terms);
  auto getBytes = [&](unsigned c, unsigned p, const OpConfig &config) {
    return getRequestedBytes(live, c, p, config);
  };
  if (dependsOnProducer)
    return addJoint(live, live.consumers, /*dependsOnProducer=*/true, getBytes,
                    terms);
  unsigned consumer = live.consumers.front();
  std::vector<int64_t> amounts;
  for (const OpConfig &config : getConfigs(live, consumer))
    amounts.push_back(getBytes(consumer, 0, config));
  terms.push_back({program.getConsumers(program.tensors[live.tensor])[consumer],
                   std::move(amounts)});
}

/// Returns the budget terms of the copies of a live tensor that its consumers
/// request, and of the buffers that convert to them.
ArrayRef<Budget::Term> PeakMemoryFactors::getRequested(const LiveTensor &live) {
  auto [it, isNew] = known.try_emplace(
      {live.tensor, live.isMade,
       std::vector<unsigned>(live.consumers.begin(), live.consumers.end()),
       std::vector<unsigned>(live.movers.begin(), live.movers.end())});
  std::vector<Budget::Term> &terms = it->second;
  if (!isNew)
    return terms;
  auto getBuffer = [&](unsigned c, unsigned p, const OpConfig &config) {
    return getBufferBytes(live, c, p, config);
  };
  if (live.consumers.size() == 1 && live.consumers == live.movers) {
    addJoint(
        live, live.consumers, /*dependsOnProducer=*/true,
        [&](unsigned c, unsigned p, const OpConfig &config) {
          return addCosts(getRequestedBytes(live, c, p, config),
                          getBuffer(c, p, config));
        },
        terms);
    return terms;
  }
  addJoint(live, live.movers, /*dependsOnProducer=*/true, getBuffer, terms);
  addRequested(live, terms);
  return terms;
}

std::vector<Budget::Term> PeakMemoryFactors::add(const LivenessPoint &point) {
  std::vector<Budget::Term> terms;
  int64_t always = 0;
  for (const LiveTensor &live : point.live) {
    const Tensor &tensor = program.tensors[live.tensor];
    const TensorClass &known = program.tensorClasses[tensor.tensorClass];
    if (live.isMade && !known.producer)
      always = addCosts(always, memory.getMadeBytes(known, 0));
    if (live.isMade && known.producer) {
      SmallVector<int64_t> amounts;
      for (unsigned p = 0, e = getConfigs(tensor.producer).size(); p < e; ++p)
        amounts.push_back(memory.getMadeBytes(known, p));
      addTo(terms, tensor.producer, amounts);
    }
    if (!live.consumers.empty() || !live.movers.empty())
      for (const Budget::Term &term : getRequested(live))
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
                           ArrayRef<const LivenessPoint *> points,
                           MemoryModel &memory) {
  PeakMemoryFactors tables(program, candidates, memory, graph, initial);
  for (const LivenessPoint *point : points)
    budget.peaks.push_back(tables.add(*point));
}
