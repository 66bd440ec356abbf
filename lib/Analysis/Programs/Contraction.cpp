//===- Contraction.cpp - Loop roles of contractions -----------------------===//
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

std::optional<SummedProducts>
layout::findSummedProducts(const LoopsRule &rule) {
  SummedProducts found;
  found.isWeight.resize(rule.operandMaps.size());
  SmallVector<AffineMap> data, weights;
  for (auto [i, map] : llvm::enumerate(rule.operandMaps)) {
    if (!map || !rule.isRead[i] || llvm::is_contained(rule.resultMaps, map))
      continue;
    found.factors.push_back(map);
    (hasWindow(map) ? data : weights).push_back(map);
    if (!hasWindow(map))
      found.isWeight.set(i);
  }
  found.isWindowed = !data.empty();
  auto count = [](ArrayRef<AffineMap> maps, unsigned loop) -> size_t {
    return llvm::count_if(
        maps, [&](AffineMap map) { return map.isFunctionOfDim(loop); });
  };
  bool reduces = false;
  for (auto [l, loop] : llvm::enumerate(rule.loops)) {
    size_t inData = count(data, l), inWeights = count(weights, l);
    bool inAll = inData + inWeights == found.factors.size();
    bool isReduction = loop.iterator == utils::IteratorType::reduction;
    reduces |= isReduction;
    // Without a window, either operand may be the weights.
    bool isOutput =
        found.isWindowed ? inWeights && !inData : inData + inWeights == 1;
    found.roles.push_back(isReduction
                              ? inAll ? LoopRole::Summed : LoopRole::Other
                          : isOutput ? LoopRole::Output
                          : inAll    ? LoopRole::Shared
                                     : LoopRole::Other);
  }
  if (!reduces || found.factors.size() < 2)
    return std::nullopt;
  return found;
}

std::optional<Contraction>
layout::findContraction(const LoopsRule &rule,
                        function_ref<bool(unsigned)> mayBeWeight) {
  std::optional<SummedProducts> products = findSummedProducts(rule);
  if (!products)
    return std::nullopt;
  Contraction found;
  found.isWeight = products->isWeight;
  found.isWindowed = products->isWindowed;
  if (!found.isWindowed)
    for (unsigned i : products->isWeight.set_bits())
      if (!mayBeWeight(i))
        found.isWeight.reset(i);
  for (auto [l, role] : llvm::enumerate(products->roles)) {
    if (llvm::any_of(products->factors, [&](AffineMap map) {
          return map.isFunctionOfDim(l) && !findDim(map, l);
        }))
      continue;
    if (role == LoopRole::Summed)
      found.summed.push_back(l);
    else if (role == LoopRole::Output && findDim(rule.resultMaps.front(), l))
      found.outputLoops.push_back(l);
    else if (role == LoopRole::Shared && findDim(rule.resultMaps.front(), l))
      found.shared.push_back(l);
  }
  // A result without output channels has the channels of the data (depthwise).
  if (found.outputLoops.empty() && found.isWindowed)
    found.outputLoops = found.shared;
  // Innermost loops of the result first, loops of size 1 last.
  AffineMap result = rule.resultMaps.front();
  llvm::stable_sort(found.outputLoops, [&](unsigned a, unsigned b) {
    return std::make_pair(rule.loops[a].size == 1, *findDim(result, b)) <
           std::make_pair(rule.loops[b].size == 1, *findDim(result, a));
  });
  if (found.outputLoops.empty())
    return std::nullopt;
  return found;
}
