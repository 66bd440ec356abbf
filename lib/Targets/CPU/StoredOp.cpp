//===- StoredOp.cpp - An op on stored digits ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoredOp.h"
#include "layout/Support/LaneAccess.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::layout;

StoredOp StoredOp::get(Operation *op, const LoopsRule &rule,
                       const OpLayouts &layouts, const LayoutTable &table) {
  StoredOp stored;
  for (const LoopRule &loop : rule.loops) {
    stored.iterators.push_back(loop.iterator);
    stored.sizes.push_back(loop.size);
  }
  auto add = [&](Value value, AffineMap map, LayoutId layout, bool isResult) {
    if (map)
      stored.operands.push_back(
          {map,
           table.getStoredType(cast<RankedTensorType>(value.getType()), layout),
           isResult});
    else
      stored.operands.push_back(
          {AffineMap::get(rule.loops.size(), 0, op->getContext()), {}});
  };
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  unsigned numInputs =
      linalgOp ? linalgOp.getNumDpsInputs() : op->getNumOperands();
  for (unsigned i = 0; i < numInputs; ++i)
    add(op->getOperand(i), rule.operandMaps[i], layouts.operands[i], false);
  for (unsigned r = 0, e = op->getNumResults(); r < e; ++r) {
    add(op->getResult(r), rule.resultMaps[r], layouts.results[r], true);
    stored.readsInit.push_back(linalgOp && linalgOp.payloadUsesValueFromOperand(
                                               linalgOp.getDpsInitOperand(r)));
  }
  if (linalgOp)
    stored.body.block = linalgOp.getBlock();
  else if (OpTrait::hasElementwiseMappableTraits(op))
    stored.body.op = op;
  stored.space =
      getIterationSpace(stored.operands, stored.iterators, stored.sizes);
  return stored;
}

int64_t StoredOp::getTrips(unsigned d, int64_t assumed) const {
  SmallVector<int64_t> known(sizes);
  llvm::replace(known, ShapedType::kDynamic, assumed);
  return space->digits[d].extent.evaluate(known).value_or(1);
}

bool StoredOp::isMet(const LoopsRule &rule, unsigned k) const {
  return operands[k].type && (operands[k].isResult || rule.isRead[k]);
}

int64_t StoredOp::getRun(const LoopsRule &rule, unsigned lane,
                         int64_t assumed) const {
  constexpr unsigned kNoDigit = ~0u;
  SmallVector<int64_t> known(sizes);
  llvm::replace(known, ShapedType::kDynamic, assumed);
  // Per accessed tensor, the digits that index it, slowest first. kNoDigit
  // precedes the digits of an axis that has more positions than they count.
  SmallVector<SmallVector<unsigned>> orders;
  for (unsigned k = 0; k < operands.size(); ++k) {
    if (!isMet(rule, k))
      continue;
    SmallVector<unsigned> &order = orders.emplace_back();
    for (const AxisAccess &axis : space->operands[k]) {
      int64_t reached = 1;
      size_t start = order.size();
      for (unsigned digit : axis.digits)
        if (int64_t trips = getTrips(digit, assumed); trips != 1) {
          order.push_back(digit);
          reached *= trips;
        }
      if (axis.extent.evaluate(known) != reached)
        order.insert(order.begin() + start, kNoDigit);
    }
  }
  // Longer runs fill vectors as well as one of this length, and whole vectors
  // that cover it can be counted in 64 bits.
  constexpr int64_t kLongest = int64_t(1) << 40;
  int64_t run = std::min(kLongest, getTrips(lane, assumed));
  for (unsigned last = lane;;) {
    std::optional<unsigned> next;
    for (ArrayRef<unsigned> order : orders) {
      auto at = llvm::find(order, last);
      if (at == order.end())
        continue;
      unsigned before = at == order.begin() ? kNoDigit : *std::prev(at);
      if (before == kNoDigit || (next && *next != before))
        return run;
      next = before;
    }
    auto isBeside = [&](ArrayRef<unsigned> order) {
      return llvm::is_contained(order, last) ==
             llvm::is_contained(order, *next);
    };
    if (!next || !llvm::all_of(orders, isBeside) ||
        iterators[space->digits[*next].loop] != utils::IteratorType::parallel)
      return run;
    run = std::min(kLongest, scaleCost(run, std::max<int64_t>(
                                                1, getTrips(*next, assumed))));
    last = *next;
  }
}

int64_t StoredOp::getRow(unsigned k, unsigned lane, int64_t assumed,
                         MLIRContext *context) const {
  bool isInside = false;
  int64_t row = 1;
  for (AffineExpr index : getExpandedMap(*space, k, context).getResults())
    for (auto [d, digit] : llvm::enumerate(space->digits)) {
      if (!index.isFunctionOfDim(d))
        continue;
      if (iterators[digit.loop] == utils::IteratorType::reduction)
        isInside |= getTrips(d, assumed) > 1;
      else if (isInside && digit.loop == space->digits[lane].loop)
        row *= getTrips(d, assumed);
    }
  return row;
}

/// Returns the map from digits to the index of operand `k` in its storage,
/// without the innermost dims that have one position.
static AffineMap getMapThatMoves(const IterationSpace &space, unsigned k,
                                 MLIRContext *context) {
  SmallVector<int64_t> shape;
  auto add = [&](const SizeExpr &extent) {
    shape.push_back(extent.getConstant().value_or(ShapedType::kDynamic));
  };
  for (const AxisAccess &axis : space.operands[k]) {
    if (axis.digits.empty())
      add(axis.extent);
    for (unsigned digit : axis.digits)
      add(space.digits[digit].extent);
  }
  AffineMap map = getExpandedMap(space, k, context);
  return shape.empty() ? map : map.getMajorSubMap(countDimsThatMove(shape));
}

SmallVector<std::pair<AffineMap, bool>>
StoredOp::getMet(const LoopsRule &rule, MLIRContext *context) const {
  SmallVector<std::pair<AffineMap, bool>> met;
  for (auto [k, operand] : llvm::enumerate(operands))
    if (isMet(rule, k))
      met.push_back({getMapThatMoves(*space, k, context), operand.isResult});
  return met;
}

std::optional<unsigned> StoredOp::findLane(const LoopsRule &rule,
                                           int64_t assumed,
                                           MLIRContext *context,
                                           bool mayStride) const {
  if (failed(space))
    return std::nullopt;
  auto met = getMet(rule, context);
  for (unsigned d = space->digits.size(); d-- > 0;) {
    if (iterators[space->digits[d].loop] != utils::IteratorType::parallel ||
        getTrips(d, assumed) <= 1)
      continue;
    if (llvm::all_of(met, [&](auto each) {
          LaneAccess access = classifyLane(each.first, d);
          return access == LaneAccess::Contiguous ||
                 (access == LaneAccess::Invariant && !each.second) ||
                 (access == LaneAccess::Strided && !each.second && mayStride);
        }))
      return d;
  }
  return std::nullopt;
}

std::optional<unsigned> StoredOp::findReductionLane(const LoopsRule &rule,
                                                    int64_t assumed,
                                                    MLIRContext *context,
                                                    int64_t least) const {
  if (failed(space) || rule.combiners.size() != 1 || !rule.combiners[0])
    return std::nullopt;
  auto met = getMet(rule, context);
  for (unsigned d = 0; d < space->digits.size(); ++d) {
    if (iterators[space->digits[d].loop] != utils::IteratorType::reduction ||
        getTrips(d, assumed) < least)
      continue;
    if (canVectorizeReduction(llvm::make_first_range(met), d))
      return d;
  }
  return std::nullopt;
}
