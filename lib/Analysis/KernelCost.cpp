//===- KernelCost.cpp - Costs of ops on a device with images --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/AffineMaps.h"
#include "layout/Analysis/CostModel.h"
#include "layout/Analysis/ImageLayouts.h"

using namespace mlir;
using namespace mlir::layout;

bool CostModel::isStorable(LayoutId layout, RankedTensorType type) {
  const LayoutMap &map = getMap(layout);
  bool fits = isImage(map);
  // Buffers hold everything; a work item has to find its index from where it
  // writes. Layouts that hold for every shape are made of digits.
  bool finds = target.hasImages() && !type.hasStaticShape();
  if (!fits && (!finds || layout == getRowMajor(type.getRank())))
    return true;
  auto [it, isNew] = storable.try_emplace({type, layout}, false);
  if (isNew)
    it->second = fits ? bool(ImageFit::get(map, type, target))
                      : getBackwardValues(map, type.getShape()).has_value();
  return it->second;
}

/// Whether a tensor that is read element by element comes as the result is
/// stored: then what makes it computes this op, too.
bool CostModel::isFusable(Operation *op, const OpLayoutRule &rule,
                          const OpLayouts &layouts) {
  for (auto [i, map] : llvm::enumerate(rule.operandMaps)) {
    if (!map || !rule.isRead[i] || !map.isPermutation())
      continue;
    std::optional<LayoutId> same =
        project(layouts.results.front(), rule.resultMaps.front(), map);
    auto type = cast<RankedTensorType>(op->getOperand(i).getType());
    if (same && getRepresentative(*same, type) == layouts.operands[i])
      return true;
  }
  return false;
}

static bool isPointwise(const OpLayoutRule &rule) {
  return !rule.resultMaps.empty() && rule.resultMaps.front().isPermutation() &&
         llvm::all_of(rule.loops, [](const LoopRule &loop) {
           return loop.iterator == utils::IteratorType::parallel;
         });
}

Cost CostModel::getKernelCost(Operation *op, const OpLayoutRule &rule,
                              const OpLayouts &layouts) {
  SmallVector<int64_t> trips;
  SmallVector<utils::IteratorType> iterators;
  for (const LoopRule &loop : rule.loops) {
    trips.push_back(ShapedType::isDynamic(loop.size) ? target.getAssumedSize()
                                                     : loop.size);
    iterators.push_back(loop.iterator);
  }
  AffineMap written = AffineMap::get(trips.size(), 0, op->getContext());
  LayoutMap result = LayoutMap::rowMajor(0);
  if (!rule.resultMaps.empty()) {
    written = rule.resultMaps.front();
    result = getMap(layouts.results.front());
  }
  KernelLoops loops(trips, iterators, written, result);

  Cost bytes = 0;
  KernelReads reads;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!rule.operandMaps[i] || !rule.isRead[i])
      continue;
    auto type = cast<RankedTensorType>(operand.getType());
    LayoutId layout = layouts.operands[i];
    bytes = addCosts(bytes, getStorage(type, layout).bytes);
    reads.add(loops.count(rule.operandMaps[i], getMap(layout),
                          getElementBytes(type.getElementType())));
  }
  for (auto [i, tensor] : llvm::enumerate(op->getResults()))
    bytes = addCosts(bytes, getStorage(cast<RankedTensorType>(tensor.getType()),
                                       layouts.results[i])
                                .bytes);
  Cost cost = addCosts(bytes, reads.getCost(target));
  cost = addCosts(cost, scaleCost(loops.getPoints(), rule.opsPerPoint) /
                            target.getFlopsPerByte());
  // Whatever else an op costs to start is the same in all layouts.
  if (isPointwise(rule) && !isFusable(op, rule, layouts))
    cost = addCosts(cost, target.getLaunchCost());
  return cost;
}

/// What a kernel of kind PerDim reads beside the bytes: where the op cuts or
/// shifts a dim within pixels, each lane reads a pixel of its own.
Cost CostModel::getCopyCost(Operation *op, const OpLayoutRule &rule,
                            const OpLayouts &layouts) {
  KernelReads reads;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    LayoutId layout = layouts.operands[i];
    if (!type || layout == kAnyLayout ||
        (!rule.isRead.empty() && !rule.isRead[i]))
      continue;
    int64_t bytes = getStorage(type, layout).bytes;
    const LayoutMap &map = getMap(layout);
    if (!isImage(map)) {
      reads.add({/*imageBytes=*/0, bytes});
      continue;
    }
    std::optional<unsigned> unit = findUnit(map);
    bool keepsPixels = unit && *unit < rule.units.size() &&
                       rule.units[*unit] % kLanesOfPixel == 0;
    reads.add({scaleCost(bytes, keepsPixels ? 1 : kLanesOfPixel), 0});
  }
  return reads.getCost(target);
}
