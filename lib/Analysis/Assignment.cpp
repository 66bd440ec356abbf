//===- Assignment.cpp - One layout per tensor, at the least cost ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Assignment.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A value and those of its uses that depend on a choice.
struct ValueProblem {
  Value value;
  std::optional<unsigned> producer; // op; none where the layout is fixed
  LayoutId fixed = 0;               // .. to this
  // Consuming ops in order, each with the operands that are the value.
  llvm::MapVector<unsigned, SmallVector<unsigned, 1>> consumers;
};

class Modeller {
public:
  Modeller(LayoutAssignment &result, CostModel &costs)
      : result(result), ops(result.candidates.ops), costs(costs) {}

  void run(const SolveOptions &options);

private:
  void collectValues();
  void modelValue(const ValueProblem &problem);
  void readConversions();

  /// The layouts in which `op` asks for the value, one entry per layout.
  SmallVector<LayoutId, 2> getNeeds(unsigned op, unsigned config,
                                    ArrayRef<unsigned> operands) const;
  LayoutId getProduced(const ValueProblem &problem, unsigned config) const;
  unsigned getNumProducerConfigs(const ValueProblem &problem) const {
    return problem.producer ? ops[*problem.producer].configs.size() : 1;
  }
  void addProducerFactor(const ValueProblem &problem,
                         ArrayRef<unsigned> otherVariables,
                         std::vector<Cost> table);

  LayoutAssignment &result;
  std::vector<OpCandidates> &ops;
  CostModel &costs;
  FactorGraph graph;
  std::vector<ValueProblem> values;
  /// The all-as-typed assignment, extended by every copy variable.
  std::vector<unsigned> initial;
};
} // namespace

void Modeller::collectValues() {
  llvm::DenseMap<Value, unsigned> indexOf;
  for (auto [o, candidates] : llvm::enumerate(ops)) {
    for (OpOperand &operand : candidates.op->getOpOperands()) {
      Value value = operand.get();
      if (candidates.configs[0].layouts.operands[operand.getOperandNumber()] ==
              kAnyLayout ||
          result.candidates.freeSources.contains(value.getDefiningOp()))
        continue;
      auto [it, isNew] = indexOf.try_emplace(value, values.size());
      if (isNew) {
        ValueProblem problem;
        problem.value = value;
        auto producer =
            value.getDefiningOp()
                ? result.candidates.indexOf.find(value.getDefiningOp())
                : result.candidates.indexOf.end();
        if (producer != result.candidates.indexOf.end())
          problem.producer = producer->second;
        else
          problem.fixed =
              costs.getLayoutOf(cast<RankedTensorType>(value.getType()));
        values.push_back(std::move(problem));
      }
      values[it->second].consumers[o].push_back(operand.getOperandNumber());
    }
  }
}

SmallVector<LayoutId, 2> Modeller::getNeeds(unsigned op, unsigned config,
                                            ArrayRef<unsigned> operands) const {
  SmallVector<LayoutId, 2> needs;
  for (unsigned operand : operands) {
    LayoutId layout = ops[op].configs[config].layouts.operands[operand];
    if (!llvm::is_contained(needs, layout))
      needs.push_back(layout);
  }
  return needs;
}

LayoutId Modeller::getProduced(const ValueProblem &problem,
                               unsigned config) const {
  if (!problem.producer)
    return problem.fixed;
  unsigned index = cast<OpResult>(problem.value).getResultNumber();
  return ops[*problem.producer].configs[config].layouts.results[index];
}

/// Adds a factor over the producer, if it has a choice, and other variables.
void Modeller::addProducerFactor(const ValueProblem &problem,
                                 ArrayRef<unsigned> otherVariables,
                                 std::vector<Cost> table) {
  if (llvm::all_of(table, [](Cost cost) { return cost == 0; }))
    return;
  SmallVector<unsigned, 2> variables;
  if (problem.producer)
    variables.push_back(*problem.producer);
  llvm::append_range(variables, otherVariables);
  graph.addFactor(variables, std::move(table));
}

void Modeller::modelValue(const ValueProblem &problem) {
  auto type = cast<RankedTensorType>(problem.value.getType());
  unsigned numProduced = getNumProducerConfigs(problem);

  // The layouts that more than one consumer may ask for.
  llvm::MapVector<LayoutId, unsigned> askers;
  for (auto &[op, operands] : problem.consumers) {
    SmallVector<LayoutId, 4> seen;
    for (unsigned c = 0, e = ops[op].configs.size(); c < e; ++c)
      for (LayoutId layout : getNeeds(op, c, operands))
        if (!llvm::is_contained(seen, layout)) {
          seen.push_back(layout);
          ++askers[layout];
        }
  }
  llvm::DenseMap<LayoutId, unsigned> copyVariable;
  for (auto [layout, count] : askers) {
    if (count < 2)
      continue;
    std::vector<Cost> table;
    for (unsigned p = 0; p < numProduced; ++p) {
      table.push_back(0);
      table.push_back(
          costs.getConversionCost(type, getProduced(problem, p), layout));
    }
    if (llvm::all_of(table, [](Cost cost) { return cost == 0; }))
      continue; // everyone produces it
    unsigned variable = graph.addVariable(2);
    copyVariable[layout] = variable;
    addProducerFactor(problem, variable, std::move(table));
    initial.push_back(1);
  }

  for (auto &[op, operands] : problem.consumers) {
    unsigned numConfigs = ops[op].configs.size();
    // What is asked for by this consumer alone is paid between the two. An op
    // never consumes its own result.
    std::vector<Cost> table;
    for (unsigned p = 0; p < numProduced; ++p)
      for (unsigned c = 0; c < numConfigs; ++c) {
        Cost cost = 0;
        for (LayoutId layout : getNeeds(op, c, operands))
          if (askers.lookup(layout) < 2)
            cost = addCosts(cost, costs.getConversionCost(
                                      type, getProduced(problem, p), layout));
        table.push_back(cost);
      }
    addProducerFactor(problem, op, std::move(table));

    for (auto [layout, count] : askers) {
      auto copy = copyVariable.find(layout);
      if (copy == copyVariable.end())
        continue;
      std::vector<Cost> demand;
      bool asks = false;
      for (unsigned c = 0; c < numConfigs; ++c) {
        bool needed = llvm::is_contained(getNeeds(op, c, operands), layout);
        asks |= needed;
        demand.push_back(needed ? kInfiniteCost : 0);
        demand.push_back(0);
      }
      if (asks)
        graph.addFactor({op, copy->second}, std::move(demand));
    }
  }
}

void Modeller::readConversions() {
  for (const ValueProblem &problem : values) {
    auto type = cast<RankedTensorType>(problem.value.getType());
    unsigned producerChoice =
        problem.producer ? result.choice[*problem.producer] : 0;
    LayoutId from = getProduced(problem, producerChoice);
    size_t first = result.conversions.size();
    for (auto &[op, operands] : problem.consumers)
      for (LayoutId to : getNeeds(op, result.choice[op], operands)) {
        if (to == from)
          continue;
        auto known = llvm::find_if(
            llvm::drop_begin(result.conversions, first),
            [&](const PlannedConversion &c) { return c.to == to; });
        if (known == result.conversions.end()) {
          PlannedConversion conversion;
          conversion.value = problem.value;
          conversion.from = from;
          conversion.to = to;
          conversion.plan = ConversionPlan::get(
              costs.getMap(from), costs.getMap(to), type.getShape(),
              getElementBytes(type.getElementType()), costs.getTarget());
          conversion.cost = costs.getConversionCost(type, from, to);
          if (problem.producer)
            conversion.producer = &result.getConfig(*problem.producer);
          result.conversionCost =
              addCosts(result.conversionCost, conversion.cost);
          result.conversions.push_back(std::move(conversion));
          known = std::prev(result.conversions.end());
        }
        known->consumers.push_back({ops[op].op, &result.getConfig(op)});
      }
  }
}

void Modeller::run(const SolveOptions &options) {
  for (OpCandidates &candidates : ops) {
    unsigned variable = graph.addVariable(candidates.configs.size());
    std::vector<Cost> table;
    for (const OpConfig &config : candidates.configs)
      table.push_back(config.cost);
    if (llvm::any_of(table, [](Cost cost) { return cost != 0; }))
      graph.addFactor({variable}, std::move(table));
    initial.push_back(0);
  }
  collectValues();
  for (const ValueProblem &problem : values)
    modelValue(problem);

  SolveOptions withInitial = options;
  withInitial.initial = initial;
  Solution solution = graph.solve(withInitial);
  result.numVariables = graph.getNumVariables();
  result.numFactors = graph.getFactors().size();
  result.cost = solution.cost;
  result.lowerBound = solution.lowerBound;
  result.exact = solution.exact;
  result.choice.assign(solution.assignment.begin(),
                       solution.assignment.begin() + ops.size());
  readConversions();
}

LayoutAssignment layout::assignLayouts(Operation *root, CostModel &costs,
                                       const CandidateLimits &limits,
                                       const SolveOptions &options) {
  LayoutAssignment result;
  result.candidates = collectCandidates(root, costs, limits);
  Modeller(result, costs).run(options);
  auto isDynamic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  for (const OpCandidates &candidates : result.candidates.ops)
    result.hasAssumedSizes |=
        candidates.configs.size() > 1 &&
        (llvm::any_of(candidates.op->getOperandTypes(), isDynamic) ||
         llvm::any_of(candidates.op->getResultTypes(), isDynamic));
  return result;
}

std::string layout::describe(const OpConfig &config, CostModel &costs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  switch (config.origin) {
  case OpConfig::Origin::AsTyped:
    os << "keeps its types";
    break;
  case OpConfig::Origin::Lanes:
    os << "tiles its channels for " << costs.getTarget().getLanes() << " lanes";
    break;
  case OpConfig::Origin::Carried:
    if (Operation *producer = config.from.getDefiningOp())
      os << "follows the layout of the result of " << producer->getName();
    else
      os << "follows the layout of an argument";
    break;
  }
  return text;
}
