//===- Assignment.cpp - Minimum-cost assignment of layouts ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Assignment.h"
#include "LayoutModel.h"
#include "Memory/Weights.h"
#include "layout/Solver/Wcsp.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/raw_ostream.h"

#define DEBUG_TYPE "layout-assignment"

using namespace mlir;
using namespace mlir::layout;

Operation *LayoutAssignment::getAnchor(unsigned node) const {
  const Node &chooser = program.nodes[node];
  if (chooser.op)
    return chooser.op;
  const TypeEquivalenceClass &flowClass =
      program.flow.classes[chooser.flowClass];
  if (!flowClass.operands.empty())
    return flowClass.operands.front()->getOwner();
  Value value = flowClass.values.front();
  Operation *op = value.getDefiningOp();
  return op ? op : value.getParentBlock()->getParentOp();
}

/// Computes the conversions that the choice of `result` requires, in the order
/// of the tensors, and adds their cost to its `conversionCost`.
static void readConversions(LayoutAssignment &result, CostModel &costs) {
  const Program &program = result.program;
  LayoutModel model(program, result.candidates, costs);
  // Per class of tensors, the configurations of the producer and the consumers
  // of the last tensor that needs no conversion. Most tensors of a class have
  // the same ones.
  std::vector<SmallVector<unsigned, 4>> without(program.tensorClasses.size());
  for (const Tensor &tensor : program.tensors) {
    const TensorClass &known = program.tensorClasses[tensor.tensorClass];
    unsigned made = known.producer ? result.choice[tensor.producer] : 0;
    ArrayRef<unsigned> consumers = program.getConsumers(tensor);
    SmallVector<unsigned, 4> &before = without[tensor.tensorClass];
    bool isSame = !before.empty() && before.front() == made;
    for (size_t c = 0; isSame && c < consumers.size(); ++c)
      isSame = before[1 + c] == result.choice[consumers[c]];
    if (isSame)
      continue;
    LayoutId from = model.getMade(known, made);
    auto takes = [&](const TensorClass::Consumer &consumer, unsigned node) {
      return llvm::all_of(consumer.operands, [&](unsigned operand) {
        LayoutId layout = result.getConfig(node).layouts.operands[operand];
        return layout == from || layout == kAnyLayout;
      });
    };
    if (llvm::all_of(llvm::zip(known.consumers, consumers),
                     [&](auto pair) { return std::apply(takes, pair); })) {
      before.assign(1, made);
      for (unsigned node : consumers)
        before.push_back(result.choice[node]);
      continue;
    }
    // Per requested layout, i.e. per conversion, the consumers.
    SmallVector<
        std::pair<LayoutId, SmallVector<const TensorClass::Consumer *, 2>>, 2>
        consumersOf;
    auto request = [&](LayoutId to, const TensorClass::Consumer &consumer) {
      auto *known = llvm::find_if(consumersOf, [&](const auto &requested) {
        return requested.first == to;
      });
      if (known == consumersOf.end())
        consumersOf.push_back({to, {&consumer}});
      else
        known->second.push_back(&consumer);
    };
    for (auto [consumer, node] : llvm::zip(known.consumers, consumers))
      for (LayoutId to :
           LayoutModel::getNeeds(result.getConfig(node), consumer.operands))
        if (to != from)
          request(to, consumer);
    for (auto &[to, consumers] : consumersOf) {
      PlannedConversion conversion;
      conversion.value = tensor.value;
      conversion.from = from;
      conversion.to = to;
      bool mayOverwrite = LayoutModel::mayOverwrite(known);
      conversion.plan = costs.getPlan(known.type, from, to, mayOverwrite);
      conversion.frequency = LayoutModel::getCopyFrequency(known, consumers);
      conversion.cost =
          scaleCost(costs.getConversionCost(known.type, from, to, mayOverwrite),
                    conversion.frequency);
      if (known.producer)
        conversion.producer = &result.getConfig(tensor.producer);
      for (const TensorClass::Consumer *consumer : consumers) {
        unsigned node =
            program.getConsumers(tensor)[consumer - known.consumers.data()];
        conversion.consumers.push_back({node, &result.getConfig(node)});
      }
      result.conversionCost = addCosts(result.conversionCost, conversion.cost);
      result.conversions.push_back(std::move(conversion));
    }
  }
}

void layout::setChoice(LayoutAssignment &assignment,
                       std::vector<unsigned> choice, CostModel &costs) {
  assert(choice.size() == assignment.program.nodes.size() &&
         "every node chooses");
  assignment.choice = std::move(choice);
  assignment.conversions.clear();
  assignment.conversionCost = 0;
  readConversions(assignment, costs);
  assignment.cost = assignment.conversionCost;
  std::vector<SmallVector<Cost, 8>> costOf; // of classes, by configuration
  for (auto [nodeClass, candidates] :
       llvm::zip_equal(assignment.program.nodeClasses, assignment.candidates)) {
    SmallVector<Cost, 8> &own = costOf.emplace_back();
    for (const OpConfig &config : candidates.configs)
      own.push_back(scaleCost(config.cost, nodeClass.frequency));
  }
  for (auto [node, chosen] :
       llvm::zip_equal(assignment.program.nodes, assignment.choice))
    assignment.cost = addCosts(assignment.cost, costOf[node.nodeClass][chosen]);
  if (assignment.weights.areCounted()) {
    countWeights(assignment, costs);
    assignment.cost = addCosts(assignment.cost, assignment.weightCost);
  }
  assignment.exact = assignment.cost == assignment.lowerBound;
}

std::optional<int64_t> layout::getMemoryLimit(const CostModel &costs) {
  std::optional<int64_t> memory = costs.getModel().getMemory();
  return memory == MeshTargetAttr::kAnyMemory ? std::nullopt : memory;
}

void layout::reportMemory(Operation *root, const LayoutAssignment &assignment) {
  Operation *op = assignment.memoryOp;
  InFlightDiagnostic error = (op ? op : root)->emitError()
                             << "the target's 'memory': ";
  int64_t least = *assignment.leastMemoryBytes,
          memory = *assignment.weights.memory;
  if (least > memory)
    error << "one device needs at least " << least
          << " bytes at its peak, which is here, but " << memory
          << " are allowed; state arguments and results of functions as split "
             "(#layout.mesh), or give the target more devices or 'memory'";
  else
    error << "no layouts in which one device needs at most " << memory
          << " bytes were found, nor a proof that none exist; more 'memory' or "
             "'max-nodes' of layout-solve may help";
}

namespace {
/// Finds a configuration for each node and a lower bound of the cost by the
/// solver, in several rounds if the memory of a device is limited.
class AssignmentSolver {
public:
  AssignmentSolver(Operation *root, LayoutAssignment &result, CostModel &costs,
                   const SolveOptions &options)
      : result(result), weights(result.weights), costs(costs), options(options),
        memory(result.program, result.candidates, costs) {
    if (costs.getModel().getMemory())
      points = findLivenessPoints(root, result.program);
  }

  Solution run();
  std::vector<int64_t> measure(ArrayRef<unsigned> choice);

private:
  /// Returns true if the live bytes at each program point are limited: there is
  /// a memory limit and no limit on the constants alone.
  bool limitsPoints() const { return weights.memory && !weights.budget; }
  Solution search(const SolveOptions &options,
                  std::vector<const LivenessPoint *> limited,
                  ArrayRef<unsigned> known);
  Solution solve(LayoutModel &model, const SolveOptions &options,
                 ArrayRef<const LivenessPoint *> limited,
                 ArrayRef<unsigned> known);
  bool addExceeded(std::vector<const LivenessPoint *> &limited,
                   ArrayRef<unsigned> choice);

  LayoutAssignment &result;
  const WeightOptions &weights;
  CostModel &costs;
  const SolveOptions &options;
  MemoryModel memory;
  std::vector<LivenessPoint> points;
  /// The maximal number of program points whose live bytes are limited in the
  /// next run of the solver in addition to those of the last one. It doubles
  /// with each run.
  unsigned step = 4;
};
} // namespace

/// Sets `memoryBytes` and `memoryOp` of the result, the peak of live bytes and
/// the op at the peak, for the configurations `choice`. Returns the live bytes
/// at each program point. If the target does not measure memory, returns an
/// empty list and sets neither.
std::vector<int64_t> AssignmentSolver::measure(ArrayRef<unsigned> choice) {
  std::vector<int64_t> bytes;
  if (!costs.getModel().getMemory())
    return bytes;
  int64_t kept = countWeightBytes(result, choice, costs);
  result.memoryBytes = kept;
  result.memoryOp = nullptr;
  for (const LivenessPoint &point : points) {
    bytes.push_back(addCosts(kept, memory.getBytes(point, choice)));
    if (bytes.back() > *result.memoryBytes || !result.memoryOp) {
      result.memoryBytes = bytes.back();
      result.memoryOp = point.op;
    }
  }
  return bytes;
}

/// Adds to `limited` the program points at which `choice` exceeds the memory
/// limit, highest first, at most `step` of them. Returns false if it adds none.
/// An empty `choice` stands for the given types, and adds points only if none
/// is limited yet.
bool AssignmentSolver::addExceeded(std::vector<const LivenessPoint *> &limited,
                                   ArrayRef<unsigned> choice) {
  bool hasNone = choice.empty();
  std::vector<unsigned> typed(result.program.nodes.size(), 0);
  if (hasNone)
    choice = typed;
  std::vector<int64_t> bytesAt = measure(choice);
  if ((hasNone && !limited.empty()) ||
      (!hasNone && *result.memoryBytes <= *weights.memory))
    return false;
  std::vector<std::pair<int64_t, const LivenessPoint *>> exceeded;
  for (auto [point, bytes] : llvm::zip_equal(points, bytesAt))
    if (bytes > *weights.memory && !llvm::is_contained(limited, &point))
      exceeded.push_back({-bytes, &point});
  llvm::stable_sort(exceeded, llvm::less_first());
  exceeded.resize(std::min<size_t>(exceeded.size(), step));
  step *= 2;
  llvm::append_range(limited, llvm::make_second_range(exceeded));
  return !exceeded.empty();
}

/// Extends the assignment `known` to all variables of the graph. The further
/// variables are live bytes at peaks. They come last in the graph and in their
/// factors; each gets the least value that its factors allow.
static std::vector<unsigned> extendToPeaks(const FactorGraph &graph,
                                           ArrayRef<unsigned> known) {
  std::vector<unsigned> values(known);
  values.resize(graph.getNumVariables(), 0);
  for (FactorGraph::Factor factor : graph.getFactors()) {
    unsigned last = factor.variables.back();
    if (last < known.size())
      continue;
    size_t entry = 0;
    for (unsigned variable : factor.variables.drop_back())
      entry = entry * graph.getDomainSize(variable) + values[variable];
    entry *= graph.getDomainSize(last);
    while (graph.getTable(factor.table)[entry + values[last]] == kInfiniteCost)
      ++values[last];
  }
  return values;
}

/// Solves `model` with limits on the live bytes at the `limited` program
/// points. Starts from the assignment `known`, or from the given types if it is
/// empty.
Solution AssignmentSolver::solve(LayoutModel &model,
                                 const SolveOptions &options,
                                 ArrayRef<const LivenessPoint *> limited,
                                 ArrayRef<unsigned> known) {
  WcspProblem problem;
  problem.graph = model.build();
  known = known.take_front(problem.graph.getNumVariables());
  model.addPeaks(problem.graph, limited, memory);
  SolveOptions withInitial = options;
  withInitial.initial = model.getInitial();
  std::vector<unsigned> extended;
  if (!known.empty())
    withInitial.initial = extended = extendToPeaks(problem.graph, known);
  result.numVariables = problem.graph.getNumVariables();
  result.numFactors = problem.graph.getNumFactors();
  if (weights.budget || weights.memory) {
    Budget budget = model.getBudget();
    budget.limit = weights.budget ? *weights.budget : *weights.memory;
    BudgetedSolution found =
        solveUnderBudget(problem.graph, budget, withInitial);
    result.leastWeightBytes = std::nullopt;
    if (found.solution.assignment.empty())
      result.leastWeightBytes = found.leastAmount;
    result.certificate = std::move(found.certificate);
    return std::move(found.solution);
  }
  Solution solution = problem.solve(withInitial);
  if (options.certify) {
    result.certificate.clear();
    llvm::raw_string_ostream os(result.certificate);
    llvm::consumeError(writeCertificate(os, problem, solution));
  }
  return solution;
}

/// Solves with limits only at program points at which a solution exceeded the
/// memory limit. A certificate needs limits at all points: if one is requested,
/// solves with all of them, starting from that solution.
Solution AssignmentSolver::run() {
  SolveOptions without = options;
  without.certify &= !limitsPoints();
  Solution solution = search(without, {}, {});
  if (without.certify == options.certify || result.leastWeightBytes)
    return solution;
  auto all = llvm::make_pointer_range(points);
  return search(options, {all.begin(), all.end()}, solution.assignment);
}

Solution AssignmentSolver::search(const SolveOptions &options,
                                  std::vector<const LivenessPoint *> limited,
                                  ArrayRef<unsigned> known) {
  for (bool breaksTies = true;;) {
    LayoutModel model(result.program, result.candidates, costs, weights);
    breaksTies = breaksTies && model.breakTies();
    Solution solution = solve(model, options, limited, known);
    // Retries without tie-breaking if scaled costs are close to overflow.
    if (breaksTies && !solution.assignment.empty() &&
        solution.cost > kInfiniteCost / 2) {
      breaksTies = false;
      continue;
    }
    result.lowerBound =
        std::max(result.lowerBound, model.getCost(solution.lowerBound));
    if (!limitsPoints() || !addExceeded(limited, solution.assignment))
      return solution;
  }
}

LayoutAssignment layout::assignLayouts(Operation *root, CostModel &costs,
                                       const CandidateLimits &limits,
                                       const SolveOptions &options,
                                       const LayoutConstraints &constraints,
                                       const WeightOptions &weights) {
  const TargetModel &model = costs.getModel();
  LayoutAssignment result;
  result.weights = weights;
  result.program = readProgram(root, model.getAssumedTrips(), constraints,
                               model.usesPerElementAddressing());
  result.candidates = collectCandidates(result.program, costs, limits);
  LDBG() << result.program.nodes.size() << " nodes of "
         << result.program.nodeClasses.size() << " classes, "
         << result.program.tensors.size() << " tensors of "
         << result.program.tensorClasses.size() << " classes";

  AssignmentSolver solver(root, result, costs, options);
  Solution solution = solver.run();
  if (result.leastWeightBytes) {
    if (weights.memory && !weights.budget)
      result.leastMemoryBytes = std::exchange(result.leastWeightBytes, {});
    return result;
  }
  // Variables after those of the nodes represent copies.
  solution.assignment.resize(result.program.nodes.size());
  setChoice(result, std::move(solution.assignment), costs);
  assert((!weights.budget || *result.weightBytes <= *weights.budget) &&
         "the budget holds");
  solver.measure(result.choice);
  LDBG() << "cost " << result.cost << ", at least " << result.lowerBound
         << ", of " << result.numVariables << " variables and "
         << result.numFactors << " factors";
  for (auto [n, node] : llvm::enumerate(result.program.nodes)) {
    const OpConfig &config = result.getConfig(n);
    LDBG() << "node " << n << ", class " << node.nodeClass << ": "
           << describe(config, costs) << ", at " << config.cost;
  }
  for (const PlannedConversion &conversion : result.conversions)
    LDBG() << "a conversion of " << conversion.value << ", at "
           << conversion.cost;

  auto hasChoice = [&](unsigned nodeClass) {
    return result.candidates[nodeClass].configs.size() > 1;
  };
  for (const TensorClass &tensor : result.program.tensorClasses)
    result.hasAssumedSizes |=
        !tensor.type.hasStaticShape() &&
        ((tensor.producer && hasChoice(*tensor.producer)) ||
         llvm::any_of(tensor.consumers, [&](const auto &consumer) {
           return hasChoice(consumer.nodeClass);
         }));
  return result;
}

std::string layout::describe(const OpConfig &config, CostModel &costs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  switch (config.origin) {
  case OpConfig::Origin::AsTyped:
    os << "keeps its types";
    break;
  case OpConfig::Origin::RowMajor:
    os << "cannot run in the layouts of its types, and runs row-major";
    break;
  case OpConfig::Origin::Constrained:
    os << "keeps the layouts of its attributes";
    break;
  case OpConfig::Origin::Lanes:
  case OpConfig::Origin::Mixed:
  case OpConfig::Origin::Padded:
    costs.getModel().describe(config, os);
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

#undef DEBUG_TYPE
