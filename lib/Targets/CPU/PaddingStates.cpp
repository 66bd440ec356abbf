//===- PaddingStates.cpp - Stated padding as a choice ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PaddingStates.h"
#include "PaddingUse.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include <deque>
#include <set>

using namespace mlir;
using namespace mlir::layout;

namespace {
class PaddingStates {
public:
  PaddingStates(const Program &program, bool masksCost, CostModel &costs,
                const CandidateLimits &limits,
                std::vector<Candidates> &candidates)
      : program(program), masksCost(masksCost), costs(costs), limits(limits),
        candidates(candidates) {
    for (const Candidates &known : candidates)
      numPlain.push_back(known.configs.size());
  }

  void run();

private:
  void wantTyped(unsigned nodeClass);
  void wantNeutral(unsigned nodeClass);
  void answer(unsigned tensorClass, LayoutId layout);
  void answerFlowClass(unsigned nodeClass, LayoutId layout);
  void answerLoops(unsigned nodeClass, unsigned result, LayoutId layout);
  void answerView(unsigned nodeClass, LayoutId layout);
  void wantOperands(unsigned nodeClass, const OpConfig &config);
  bool add(unsigned nodeClass, OpConfig config);
  bool setState(LayoutId &layout, LayoutId &exact, Type type,
                TypedAttr padding);
  bool setOperand(OpConfig &config, Operation *op, unsigned i,
                  TypedAttr padding);
  bool setResult(OpConfig &config, Operation *op, unsigned r,
                 TypedAttr padding);
  bool setInputs(OpConfig &config, const NodeClass &node, TypedAttr padding);

  const Program &program;
  bool masksCost;
  CostModel &costs;
  CandidateLimits limits;
  std::vector<Candidates> &candidates;
  /// Per node class, the number of its configurations before those with other
  /// stated padding were added.
  SmallVector<size_t> numPlain;
  /// The pairs of a tensor class and a layout with stated padding in which some
  /// consumer would read the tensor. `queue` has those pairs for which no
  /// configurations of the producer have been added yet.
  std::set<std::pair<unsigned, LayoutId>> wanted;
  std::deque<std::pair<unsigned, LayoutId>> queue;
};
} // namespace

/// Returns `padding` as a value of `type`: unchanged if it has that type, a
/// zero of `type` if it is a zero other than -0.0, else null.
static TypedAttr getPaddingAs(TypedAttr padding, Type type) {
  if (padding.getType() == type)
    return padding;
  bool isZero = matchPattern(padding, m_Zero()) ||
                matchPattern(padding, m_PosZeroFloat());
  return isZero && type.isIntOrIndexOrFloat()
             ? Builder(type.getContext()).getZeroAttr(type)
             : TypedAttr();
}

/// Returns the neutral elements of common reductions over `type`: sums of
/// products, maxima and minima. Integers are signed. Returns an empty list for
/// other types.
static SmallVector<TypedAttr, 3> getNeutralElements(Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &numbers = floatType.getFloatSemantics();
    SmallVector<TypedAttr, 3> elements;
    if (APFloat::semanticsHasZero(numbers))
      elements.push_back(FloatAttr::get(type, APFloat::getZero(numbers)));
    if (APFloat::semanticsHasInf(numbers))
      for (bool isNegative : {true, false})
        elements.push_back(
            FloatAttr::get(type, APFloat::getInf(numbers, isNegative)));
    return elements;
  }
  if (!type.isSignlessInteger())
    return {};
  unsigned width = type.getIntOrFloatBitWidth();
  return {IntegerAttr::get(type, 0),
          IntegerAttr::get(type, APInt::getSignedMinValue(width)),
          IntegerAttr::get(type, APInt::getSignedMaxValue(width))};
}

/// Returns true for an elementwise op such as arith.addf, whose operands and
/// results must have one type, stated padding included.
static bool hasOneType(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         !isa<DestinationStyleOpInterface>(op);
}

/// Adds stated `padding` to `layout`, which represents all layouts that store
/// `type` alike, and to `exact`, the one among them that the op's rule states.
/// Returns false, without changes, if the layout has no padding on `type` or
/// the element type cannot hold the value.
bool PaddingStates::setState(LayoutId &layout, LayoutId &exact, Type type,
                             TypedAttr padding) {
  auto tensor = cast<RankedTensorType>(type);
  TypedAttr element = getPaddingAs(padding, tensor.getElementType());
  if (!element)
    return false;
  LayoutId stated = costs.withPadding(layout, element);
  std::optional<LayoutId> known = costs.getRepresentative(stated, tensor);
  if (!known || !costs.getPadding(*known))
    return false;
  layout = *known;
  exact = costs.withPadding(exact, element);
  return true;
}

bool PaddingStates::setOperand(OpConfig &config, Operation *op, unsigned i,
                               TypedAttr padding) {
  return config.layouts.operands[i] != kAnyLayout &&
         setState(config.layouts.operands[i], config.exact.operands[i],
                  op->getOperand(i).getType(), padding);
}

/// Makes the layouts of result `r` and of its init operand, if that has
/// padding, state `padding`. Returns false if the result has no padding or
/// cannot hold the value.
bool PaddingStates::setResult(OpConfig &config, Operation *op, unsigned r,
                              TypedAttr padding) {
  if (!setState(config.layouts.results[r], config.exact.results[r],
                op->getResult(r).getType(), padding))
    return false;
  if (auto dest = dyn_cast<DestinationStyleOpInterface>(op))
    setOperand(config, op, dest.getDpsInitOperand(r)->getOperandNumber(),
               padding);
  return true;
}

/// Makes the layouts of all inputs that have padding and can hold the value
/// state `padding`. Returns false if there is no such input.
bool PaddingStates::setInputs(OpConfig &config, const NodeClass &node,
                              TypedAttr padding) {
  auto dest = dyn_cast<DestinationStyleOpInterface>(node.op);
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  bool changed = false;
  for (unsigned i = 0, e = node.op->getNumOperands(); i < e; ++i)
    if (rule.operandMaps[i] &&
        !(dest && dest.isDpsInit(&node.op->getOpOperand(i))))
      changed |= setOperand(config, node.op, i, padding);
  return changed;
}

/// Adds `config` to a node class, and adds its operands with stated padding to
/// `wanted`, for their producers. Returns false if the configuration exists or
/// the node class has the maximum number of them.
bool PaddingStates::add(unsigned nodeClass, OpConfig config) {
  const NodeClass &node = program.nodeClasses[nodeClass];
  std::vector<OpConfig> &configs = candidates[nodeClass].configs;
  if (llvm::any_of(configs, [&](const OpConfig &known) {
        return known.layouts == config.layouts;
      }))
    return false;
  if (configs.size() >= numPlain[nodeClass] + limits.configsPerOp) {
    candidates[nodeClass].isTruncated = true;
    return false;
  }
  config.origin = OpConfig::Origin::Padded;
  if (!node.isFlowClass())
    config.cost = costs.getOpCost(node.op, node.rule, config.layouts);
  wantOperands(nodeClass, config);
  configs.push_back(std::move(config));
  return true;
}

void PaddingStates::wantOperands(unsigned nodeClass, const OpConfig &config) {
  for (auto [slot, tensorClass] :
       program.nodeClasses[nodeClass].incidentTensors) {
    if (slot.isResult)
      continue;
    LayoutId layout = config.layouts.operands[slot.index];
    if (layout != kAnyLayout && costs.getPadding(layout) &&
        wanted.insert({tensorClass, layout}).second)
      queue.push_back({tensorClass, layout});
  }
}

/// Adds to `wanted` the operands that state padding in the initial
/// configurations of a node class, because types or layout constraints demand
/// it.
void PaddingStates::wantTyped(unsigned nodeClass) {
  for (size_t i = 0; i < numPlain[nodeClass]; ++i)
    wantOperands(nodeClass, candidates[nodeClass].configs[i]);
}

/// Adds configurations of a reduction whose inputs are padded with its neutral
/// element, if fewer loops are then masked and the op costs less. Adds none if
/// masks are free, or if the op has no masked loops.
void PaddingStates::wantNeutral(unsigned nodeClass) {
  const NodeClass &node = program.nodeClasses[nodeClass];
  auto *rule = std::get_if<LoopsRule>(&node.rule);
  if (node.isFlowClass() || node.isFixed || node.isInBody || !rule)
    return;
  // Masks are free, and a masked reduction has fewer iterations, so it is never
  // more expensive.
  if (!masksCost)
    return;
  auto getUse = [&](const OpConfig &config) {
    return getPaddingUse(StoredOp::get(node.op, *rule, config.layouts, costs),
                         *rule, config.layouts, costs);
  };
  for (size_t i = 0; i < numPlain[nodeClass]; ++i) {
    OpConfig plain = candidates[nodeClass].configs[i];
    if (!reducesPadding(*rule, getStoredTrips(*rule, plain.layouts, costs,
                                              /*assumed=*/1)))
      continue;
    unsigned masked = getUse(plain).maskedLoops.count();
    if (masked == 0)
      continue;
    Type element = getElementTypeOrSelf(node.op->getOperand(0));
    for (TypedAttr neutral : getNeutralElements(element)) {
      OpConfig config = plain;
      if (!setInputs(config, node, neutral) ||
          getUse(config).maskedLoops.count() >= masked)
        continue;
      if (costs.getOpCost(node.op, node.rule, config.layouts) < plain.cost)
        add(nodeClass, std::move(config));
      break;
    }
  }
}

void PaddingStates::answerFlowClass(unsigned nodeClass, LayoutId layout) {
  const NodeClass &flowClass = program.nodeClasses[nodeClass];
  LayoutId plain = costs.withoutPadding(layout);
  for (size_t i = 0; i < numPlain[nodeClass]; ++i) {
    OpConfig config = candidates[nodeClass].configs[i];
    // If parts are inserted into the tensor, their padding is not that of the
    // whole tensor.
    if (config.layouts.results.front() != plain ||
        !flowClass.insertedParts.empty())
      continue;
    config.layouts.results.front() = config.layouts.operands.front() = layout;
    LayoutId exact = costs.withPadding(config.exact.results.front(),
                                       costs.getPadding(layout));
    config.exact.results.front() = config.exact.operands.front() = exact;
    add(nodeClass, std::move(config));
  }
}

/// Adds configurations in which result number `result` has `layout`, which
/// states padding. Takes only those in which the body of the op computes the
/// padding value itself, so that padding is not written separately.
void PaddingStates::answerLoops(unsigned nodeClass, unsigned result,
                                LayoutId layout) {
  const NodeClass &node = program.nodeClasses[nodeClass];
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  TypedAttr padding = costs.getPadding(layout);
  auto makesIt = [&](const OpConfig &config) {
    return !getPaddingUse(StoredOp::get(node.op, rule, config.layouts, costs),
                          rule, config.layouts, costs)
                .writtenResults.test(result);
  };
  // Includes configurations that this pass has added, because they may state
  // the padding of operands from which the body computes `padding`.
  for (size_t i = 0; i < candidates[nodeClass].configs.size(); ++i) {
    OpConfig config = candidates[nodeClass].configs[i];
    if (config.layouts.results[result] != costs.withoutPadding(layout) ||
        !setResult(config, node.op, result, padding))
      continue;
    if (!hasOneType(node.op) && makesIt(config)) {
      add(nodeClass, std::move(config));
      continue;
    }
    if (setInputs(config, node, padding) && makesIt(config))
      add(nodeClass, std::move(config));
  }
}

/// Adds configurations of a view in which the result has `layout`, and all
/// operands state the same padding value as `layout`.
void PaddingStates::answerView(unsigned nodeClass, LayoutId layout) {
  const NodeClass &node = program.nodeClasses[nodeClass];
  if (!std::get<ViewRule>(node.rule).isOfRowMajor)
    return;
  TypedAttr padding = costs.getPadding(layout);
  for (size_t i = 0; i < numPlain[nodeClass]; ++i) {
    OpConfig config = candidates[nodeClass].configs[i];
    if (config.layouts.results.front() != costs.withoutPadding(layout) ||
        !setState(config.layouts.results[0], config.exact.results[0],
                  node.op->getResult(0).getType(), padding))
      continue;
    bool isStated = true;
    for (unsigned o = 0, e = node.op->getNumOperands(); o < e; ++o)
      if (config.layouts.operands[o] != kAnyLayout)
        isStated &= setOperand(config, node.op, o, padding);
    if (isStated)
      add(nodeClass, std::move(config));
  }
}

void PaddingStates::answer(unsigned tensorClass, LayoutId layout) {
  const TensorClass &tensor = program.tensorClasses[tensorClass];
  if (!tensor.producer)
    return;
  const NodeClass &node = program.nodeClasses[*tensor.producer];
  if (node.isFixed || node.isInBody)
    return;
  if (node.isFlowClass())
    return answerFlowClass(*tensor.producer, layout);
  if (std::holds_alternative<LoopsRule>(node.rule))
    return answerLoops(*tensor.producer, tensor.result, layout);
  if (std::holds_alternative<ViewRule>(node.rule))
    return answerView(*tensor.producer, layout);
}

void PaddingStates::run() {
  for (unsigned c = 0, e = candidates.size(); c < e; ++c) {
    wantTyped(c);
    wantNeutral(c);
  }
  // Terminates, because finitely many padding values are requested for finitely
  // many layouts.
  while (!queue.empty()) {
    auto [tensorClass, layout] = queue.front();
    queue.pop_front();
    answer(tensorClass, layout);
  }
}

void layout::addPaddingStates(const Program &program, bool masksCost,
                              CostModel &costs, const CandidateLimits &limits,
                              std::vector<Candidates> &candidates) {
  PaddingStates(program, masksCost, costs, limits, candidates).run();
}
