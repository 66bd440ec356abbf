//===- PaddingUse.cpp - How ops read and write padding --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PaddingUse.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the size of the innermost tile of dim `d`, or 1 if it is not tiled.
static int64_t getInnerTile(const LayoutMap &map, unsigned d) {
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

PaddingUse layout::getPaddingUse(const StoredOp &stored, const LoopsRule &rule,
                                 const OpLayouts &layouts,
                                 const LayoutTable &table) {
  PaddingUse use{llvm::SmallBitVector(rule.loops.size()),
                 llvm::SmallBitVector(layouts.results.size())};
  auto isReduction = [&](unsigned loop) {
    return rule.loops[loop].iterator == utils::IteratorType::reduction;
  };
  auto states = [&](LayoutId layout) {
    return layout != kAnyLayout && table.getPadding(layout);
  };
  // Without stated padding or loops, assumes that all reductions are masked.
  bool isStated = llvm::any_of(layouts.operands, states) ||
                  llvm::any_of(layouts.results, states);
  if (!isStated || failed(stored.space)) {
    for (unsigned loop = 0; loop < rule.loops.size(); ++loop)
      use.maskedLoops[loop] = isReduction(loop);
    for (auto [r, layout] : llvm::enumerate(layouts.results))
      use.writtenResults[r] = states(layout);
    return use;
  }
  PaddingMasks masks =
      findPaddingMasks(stored.operands, stored.iterators, stored.readsInit,
                       stored.body, *stored.space);
  for (auto [r, loops] : llvm::enumerate(masks.loops))
    for (unsigned loop : loops) {
      if (isReduction(loop))
        use.maskedLoops.set(loop);
      else
        use.writtenResults.set(r);
    }
  return use;
}
