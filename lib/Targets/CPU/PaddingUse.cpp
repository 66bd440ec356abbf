//===- PaddingUse.cpp - What padding costs an op --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PaddingUse.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/PaddingMasks.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

int64_t layout::getInnerTile(const LayoutMap &map, unsigned d) {
  for (const Coordinate &coordinate : map.getCoordinates())
    for (const DigitTerm &term : coordinate.value.terms)
      if (term.digit.isDim() && term.digit.dim == d &&
          term.digit.divisor == 1 && term.digit.modulus)
        return term.digit.modulus;
  return 1;
}

SmallVector<int64_t> layout::getStoredTrips(const LoopsRule &rule,
                                            const OpLayouts &layouts,
                                            const LayoutTable &table,
                                            int64_t assumed) {
  assert(rule.operandMaps.size() == layouts.operands.size() &&
         "a map, or none, for each operand");
  SmallVector<int64_t> trips;
  for (const LoopRule &loop : rule.loops)
    trips.push_back(ShapedType::isDynamic(loop.size) ? assumed : loop.size);
  for (auto [map, layout] : llvm::zip(rule.operandMaps, layouts.operands)) {
    if (!map)
      continue;
    for (auto [d, expr] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int64_t &trip = trips[dim.getPosition()];
        trip = llvm::alignTo(trip, getInnerTile(table.getMap(layout), d));
      }
  }
  return trips;
}

bool layout::reducesPadding(const LoopsRule &rule, ArrayRef<int64_t> trips) {
  return llvm::any_of(llvm::zip_equal(rule.loops, trips), [](auto each) {
    auto [loop, trip] = each;
    return loop.iterator == utils::IteratorType::reduction &&
           !ShapedType::isDynamic(loop.size) && trip != loop.size;
  });
}

namespace {
/// An op on physical tensors, as PaddingMasks.h sees it.
struct StoredOp {
  SmallVector<OperandAccess> operands;
  SmallVector<bool> readsInit;
  ScalarBody body;
};
} // namespace

static StoredOp describe(Operation *op, const LoopsRule &rule,
                         const OpLayouts &layouts, const LayoutTable &table) {
  StoredOp stored;
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
  return stored;
}

PaddingUse layout::getPaddingUse(Operation *op, const LoopsRule &rule,
                                 const OpLayouts &layouts,
                                 const LayoutTable &table) {
  PaddingUse use{llvm::SmallBitVector(rule.loops.size()),
                 llvm::SmallBitVector(op->getNumResults())};
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> sizes;
  for (const LoopRule &loop : rule.loops) {
    iterators.push_back(loop.iterator);
    sizes.push_back(loop.size);
  }
  auto isReduction = [&](unsigned loop) {
    return iterators[loop] == utils::IteratorType::reduction;
  };
  auto states = [&](LayoutId layout) {
    return layout != kAnyLayout && table.getPadding(layout);
  };
  FailureOr<IterationSpace> space = failure();
  StoredOp stored;
  // Of what is not known nothing can be said.
  if (llvm::any_of(layouts.operands, states) ||
      llvm::any_of(layouts.results, states)) {
    stored = describe(op, rule, layouts, table);
    space = getIterationSpace(stored.operands, iterators, sizes);
  }
  if (failed(space)) {
    for (unsigned loop = 0; loop < rule.loops.size(); ++loop)
      use.maskedLoops[loop] = isReduction(loop);
    for (auto [r, layout] : llvm::enumerate(layouts.results))
      use.writtenResults[r] = states(layout);
    return use;
  }
  PaddingMasks masks = findPaddingMasks(stored.operands, iterators,
                                        stored.readsInit, stored.body, *space);
  for (auto [r, loops] : llvm::enumerate(masks.loops))
    for (unsigned loop : loops) {
      if (isReduction(loop))
        use.maskedLoops.set(loop);
      else
        use.writtenResults.set(r);
    }
  return use;
}
