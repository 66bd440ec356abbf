//===- Contraction.cpp - Loops that multiply and sum ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Contraction.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::layout;

std::optional<unsigned> layout::findDim(AffineMap map, unsigned loop) {
  std::optional<unsigned> found;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (found || !isa<AffineDimExpr>(expr))
      return std::nullopt;
    found = d;
  }
  return found;
}

static bool hasWindow(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) {
    return !isa<AffineDimExpr, AffineConstantExpr>(expr);
  });
}

std::optional<Contraction>
layout::findContraction(const OpLayoutRule &rule,
                        function_ref<bool(unsigned)> mayBeWeight) {
  Contraction found;
  found.isWeight.resize(rule.operandMaps.size());
  SmallVector<AffineMap> data, weights;
  for (auto [i, map] : llvm::enumerate(rule.operandMaps)) {
    if (!map || !rule.isRead[i] || llvm::is_contained(rule.resultMaps, map))
      continue;
    (hasWindow(map) ? data : weights).push_back(map);
    if (!hasWindow(map))
      found.isWeight.set(i);
  }
  if (data.size() + weights.size() < 2)
    return std::nullopt;
  bool isWindowed = found.isWindowed = !data.empty();
  if (!isWindowed)
    for (unsigned i : found.isWeight.set_bits())
      if (!mayBeWeight(i))
        found.isWeight.reset(i);
  auto count = [](ArrayRef<AffineMap> maps, unsigned loop) -> size_t {
    return llvm::count_if(
        maps, [&](AffineMap map) { return map.isFunctionOfDim(loop); });
  };
  bool reduces = false;
  for (auto [l, loop] : llvm::enumerate(rule.loops)) {
    size_t inData = count(data, l), inWeights = count(weights, l);
    bool inAll = inData + inWeights == data.size() + weights.size();
    bool isAlone = llvm::all_of(
        llvm::concat<const AffineMap>(data, weights), [&](AffineMap map) {
          return !map.isFunctionOfDim(l) || findDim(map, l);
        });
    if (loop.iterator == utils::IteratorType::reduction) {
      reduces = true;
      if (inAll && isAlone)
        found.summed.push_back(l);
    } else if (!isAlone || !findDim(rule.resultMaps.front(), l)) {
      continue;
    } else if (isWindowed ? inWeights && !inData : inData + inWeights == 1) {
      found.outputLoops.push_back(l);
    } else if (inAll) {
      found.shared.push_back(l);
    }
  }
  if (!reduces)
    return std::nullopt;
  // Without channels of its own the result has those of the data.
  if (found.outputLoops.empty() && isWindowed)
    found.outputLoops = found.shared;
  // The innermost ones of the result first, those of size 1 last.
  AffineMap result = rule.resultMaps.front();
  llvm::stable_sort(found.outputLoops, [&](unsigned a, unsigned b) {
    return std::make_pair(rule.loops[a].size == 1, *findDim(result, b)) <
           std::make_pair(rule.loops[b].size == 1, *findDim(result, a));
  });
  if (found.outputLoops.empty())
    return std::nullopt;
  return found;
}
