//===- CostModel.cpp - Costs of ops and conversions -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/CostModel.h"
#include "PaddingUse.h"
#include "WholeDigits.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

ConversionPlan CostModel::makePlan(RankedTensorType type, LayoutId from,
                                   LayoutId to, bool mayOverwrite,
                                   AxesCache *cache) {
  // Layouts that store alike have one normal form in all but odd cases; to ask
  // for a proof of each pair would take longer than all the rest.
  if (getNormalForm(from, type) != getNormalForm(to, type))
    return ConversionPlan::getOfMove(getStoredType(type, from),
                                     getStoredType(type, to), target, cache);
  if (writesPadding(from, to))
    return mayOverwrite
               ? ConversionPlan::getOfPadding(getStoredType(type, from),
                                              getStoredType(type, to), target)
               : ConversionPlan::getOfMove(getStoredType(type, from),
                                           getStoredType(type, to), target);
  ConversionPlan plan;
  plan.kind =
      from == to ? ConversionPlan::Kind::Same : ConversionPlan::Kind::View;
  return plan;
}

const ConversionPlan &CostModel::getPlan(RankedTensorType type, LayoutId from,
                                         LayoutId to, bool mayOverwrite) {
  mayOverwrite &= writesPadding(from, to);
  std::unique_ptr<ConversionPlan> &plan =
      plans[mayOverwrite][{type, {from, to}}];
  if (!plan)
    plan = std::make_unique<ConversionPlan>(
        makePlan(type, from, to, mayOverwrite));
  return *plan;
}

Cost CostModel::price(const ConversionPlan &plan) const {
  if (objective == Objective::bytes)
    return addCosts(plan.bytesRead, plan.bytesWritten);
  return std::max<Cost>(1, plan.getCost(target));
}

const StoredDigits *CostModel::findDigits(RankedTensorType type,
                                          LayoutId layout) {
  auto [it, isNew] = storedDigits.try_emplace({type, layout});
  if (isNew)
    if (std::optional<StoredDigits> digits =
            StoredDigits::read(getMap(layout), type.getShape()))
      it->second = std::make_shared<const StoredDigits>(std::move(*digits));
  return it->second.get();
}

Cost CostModel::getConversionCost(RankedTensorType type, LayoutId from,
                                  LayoutId to, bool mayOverwrite) {
  if (from == to)
    return 0;
  mayOverwrite &= writesPadding(from, to);
  auto &known = conversionCosts[mayOverwrite];
  auto [it, isNew] = known.try_emplace({type, {from, to}});
  if (!isNew)
    return it->second;
  // Thousands are weighed, few are made: most need no plan to be priced.
  std::optional<DigitMove> move;
  if (!target.hasImages() && !target.hasUnits() && type.hasStaticShape() &&
      isa<FloatType, IntegerType, IndexType>(type.getElementType()) &&
      !getPadding(to) && getNormalForm(from, type) != getNormalForm(to, type)) {
    const StoredDigits *source = findDigits(type, from);
    const StoredDigits *dest = findDigits(type, to);
    if (source && dest)
      move = findMoveOfDigits(*source, *dest, type.getShape());
  }
  Cost cost;
  if (move) {
    ConversionPlan plan;
    int64_t elementBytes = getElementBytes(type.getElementType());
    plan.bytesRead = scaleCost(elementBytes, move->read);
    plan.bytesWritten = scaleCost(elementBytes, move->written);
    plan.runBytes = scaleCost(elementBytes, move->run);
    cost = price(plan);
  } else {
    cost = price(makePlan(type, from, to, mayOverwrite, &axes));
  }
  return known[{type, {from, to}}] = cost;
}

const CostModel::Storage &CostModel::getStorage(RankedTensorType type,
                                                LayoutId layout) {
  std::unique_ptr<Storage> &entry = storages[{type, layout}];
  if (!entry) {
    entry = std::make_unique<Storage>();
    entry->shape = assumeSizes(type.getShape(), target);
    entry->special = type.hasStaticShape()
                         ? getMap(getNormalForm(layout, type))
                         : getMap(layout).specialize(entry->shape);
    entry->bytes = getStorageBytes(entry->special, entry->shape,
                                   getElementBytes(type.getElementType()));
  }
  return *entry;
}

/// The digit with stride 1.
static const DigitTerm *getFastestDigit(const LayoutMap &special) {
  if (special.getCoordinates().size() != 1)
    return nullptr;
  for (const DigitTerm &term : special.getCoordinates()[0].value.terms)
    if (term.stride.isConstantEqual(1))
      return &term;
  return nullptr;
}

static int64_t getExtent(const Digit &digit, ArrayRef<int64_t> shape) {
  return naturalExtent(digit).evaluate(shape).value_or(1);
}

/// The factor of `loop` where `expr` is a sum; nothing where it is in anything
/// else.
static std::optional<int64_t> getCoefficient(AffineExpr expr, unsigned loop) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == loop;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  if (binary.getKind() == AffineExprKind::Add) {
    std::optional<int64_t> lhs = getCoefficient(binary.getLHS(), loop);
    std::optional<int64_t> rhs = getCoefficient(binary.getRHS(), loop);
    return lhs && rhs ? std::optional(*lhs + *rhs) : std::nullopt;
  }
  if (!expr.isFunctionOfDim(loop))
    return 0;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  std::optional<int64_t> lhs;
  if (binary.getKind() == AffineExprKind::Mul && factor)
    lhs = getCoefficient(binary.getLHS(), loop);
  return lhs ? std::optional(*lhs * factor.getValue()) : std::nullopt;
}

/// Whether going one step along `loop`, inside a run of `extent`, goes at most
/// one element ahead in storage.
static bool isContiguousAlong(AffineMap map, unsigned loop, int64_t extent,
                              const LayoutMap &special) {
  const DigitTerm *fastest = getFastestDigit(special);
  bool isDigitOfDim =
      fastest && fastest->digit.isDim() && fastest->digit.lo == 1;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    std::optional<int64_t> factor = getCoefficient(expr, loop);
    if (factor == 0)
      continue;
    if (factor != 1 || !isDigitOfDim || fastest->digit.dim != d)
      return false;
    // In a sum a run may start anywhere, so the dim has to be whole.
    if (!fastest->digit.isWholeSource() &&
        (!isa<AffineDimExpr>(expr) || fastest->digit.modulus < extent))
      return false;
  }
  return true;
}

static Cost takePercent(Cost cost, int64_t percent) {
  return cost > (int64_t(1) << 40) ? scaleCost(cost / 100, percent)
                                   : cost * percent / 100;
}

Cost CostModel::getLoopsCost(Operation *op, const OpLayoutRule &rule,
                             const OpLayouts &layouts) {
  auto typeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType());
  };
  SmallVector<int64_t> trips =
      getStoredTrips(rule, layouts, *this, target.getAssumedSize());
  bool statesPadding = llvm::any_of(layouts.results, [&](LayoutId layout) {
    return bool(getPadding(layout));
  });
  PaddingUse padding;
  if (statesPadding || reducesPadding(rule, trips))
    padding = getPaddingUse(op, rule, layouts, *this);
  // What is masked is not gone through.
  for (unsigned loop : padding.maskedLoops.set_bits())
    if (!ShapedType::isDynamic(rule.loops[loop].size))
      trips[loop] = rule.loops[loop].size;

  // The loop on the lanes: the fastest digit of the first result.
  int lane = -1;
  int64_t run = 1;
  if (!rule.resultMaps.empty()) {
    const Storage &storage =
        getStorage(typeOf(op->getResult(0)), layouts.results[0]);
    const DigitTerm *fastest = getFastestDigit(storage.special);
    if (fastest && fastest->digit.isDim() && fastest->digit.lo == 1)
      if (auto dim = dyn_cast<AffineDimExpr>(
              rule.resultMaps[0].getResult(fastest->digit.dim)))
        if (rule.loops[dim.getPosition()].iterator ==
            utils::IteratorType::parallel) {
          lane = dim.getPosition();
          // Short dims fill the rest of their tile with padding.
          run = std::max(
              getExtent(fastest->digit, storage.shape),
              getInnerTile(getMap(layouts.results[0]), fastest->digit.dim));
        }
  }
  if (lane >= 0) {
    auto check = [&](AffineMap map, LayoutId layout, Value value) {
      const Storage &storage = getStorage(typeOf(value), layout);
      if (!isContiguousAlong(map, lane, run, storage.special))
        lane = -1;
    };
    for (unsigned i = 0, e = op->getNumOperands(); i < e && lane >= 0; ++i)
      if (rule.operandMaps[i] && rule.isRead[i])
        check(rule.operandMaps[i], layouts.operands[i], op->getOperand(i));
    for (unsigned i = 1, e = op->getNumResults(); i < e && lane >= 0; ++i)
      check(rule.resultMaps[i], layouts.results[i], op->getResult(i));
  }

  Cost work = rule.opsPerPoint;
  for (int64_t trip : trips)
    work = scaleCost(work, trip);
  if (lane >= 0) {
    // Whole vectors for every run.
    int64_t busy = llvm::alignTo(run, target.getLanes());
    work = work > (int64_t(1) << 40) ? scaleCost(work / run, busy)
                                     : work * busy / run;
  } else {
    work = takePercent(work, target.getScalarPercent());
  }
  if (padding.maskedLoops.any())
    work = takePercent(work, target.getMaskPercent());
  work /= target.getFlopsPerByte();

  Cost bytes = 0;
  for (unsigned r : padding.writtenResults.set_bits())
    bytes = addCosts(
        bytes, getConversionCost(typeOf(op->getResult(r)),
                                 withoutPadding(layouts.results[r]),
                                 layouts.results[r], /*mayOverwrite=*/true));
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (rule.operandMaps[i] && rule.isRead[i])
      bytes = addCosts(bytes,
                       getStorage(typeOf(operand), layouts.operands[i]).bytes);
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    bytes =
        addCosts(bytes, getStorage(typeOf(result), layouts.results[i]).bytes);
  if (lane < 0)
    bytes = scaleCost(bytes, target.getStridedPercent()) / 100;
  return addCosts(bytes, work);
}

Cost CostModel::getOpCost(Operation *op, const OpLayoutRule &rule,
                          const OpLayouts &layouts) {
  switch (rule.kind) {
  case OpLayoutRule::Kind::Loops:
    return target.hasImages()  ? getKernelCost(op, rule, layouts)
           : target.hasUnits() ? getUnitsCost(op, rule, layouts)
                               : getLoopsCost(op, rule, layouts);
  case OpLayoutRule::Kind::PerDim: {
    if (target.hasUnits())
      return getTransfersCost(op, rule, layouts);
    Cost cost = 0;
    for (auto [i, operand, layout] :
         llvm::enumerate(op->getOperands(), layouts.operands))
      if (layout != kAnyLayout && (rule.isRead.empty() || rule.isRead[i]))
        cost = addCosts(
            cost, getStorage(cast<RankedTensorType>(operand.getType()), layout)
                      .bytes);
    for (auto [result, layout] : llvm::zip(op->getResults(), layouts.results))
      if (!rule.writesPart)
        cost = addCosts(
            cost,
            getStorage(cast<RankedTensorType>(result.getType()), layout).bytes);
    if (target.hasImages())
      cost = addCosts(cost, getCopyCost(op, rule, layouts));
    return cost;
  }
  case OpLayoutRule::Kind::View: {
    if (rule.isViewOfRowMajor)
      return 0;
    // Else it is a conversion from what its source looks like.
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    LayoutId viewed =
        intern(getMap(layouts.operands[0])
                   .substitute(type.getRank(), rule.view.sourceDims,
                               rule.view.sourceSizes, type.getShape()));
    LayoutId made = layouts.results[0];
    return getNormalForm(viewed, type) == getNormalForm(made, type)
               ? 0
               : getConversionCost(type, viewed, made);
  }
  // What these do is the same in every layout.
  case OpLayoutRule::Kind::Opaque:
  case OpLayoutRule::Kind::Source:
  case OpLayoutRule::Kind::Shape:
    return 0;
  }
  llvm_unreachable("all kinds are priced");
}
