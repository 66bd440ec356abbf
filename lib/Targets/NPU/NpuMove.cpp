//===- NpuMove.cpp - Methods of moving a tensor ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/NpuMove.h"
#include "layout/Dialect/NPU/IR/Moves.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

EngineTimes layout::getNpuTimes(NpuTargetAttr target) {
  ChipClock clock;
  EngineTimes times;
  times.byte = {2, 1}; // each byte is read and written
  if (!target)
    return times;
  if (auto chip = dyn_cast<npu::ChipAttr>(target.getChip()))
    clock = chip.getClock();
  int64_t cycle = 2 * clock.dmaBytesPerCycle;
  times.transferStart = cycle * clock.dmaStart;
  times.commandStart = cycle * clock.computeStart;
  times.step = {cycle, 1};
  if (target.getLaunchCost() != kFigureOfChip)
    times.transferStart = target.getLaunchCost();
  if (target.getFlopsPerByte() == kFigureOfChip)
    return times;
  times.commandStart = 0;
  times.step = {2 * target.getChip().getFigures().npus * target.getLanes(),
                target.getFlopsPerByte()};
  return times;
}

int64_t layout::getNpuSteps(NpuTargetAttr target, int64_t points) {
  return llvm::divideCeil(points, target.getChip().getFigures().npus *
                                      target.getLanes());
}

std::optional<NpuMove> NpuMove::get(const LayoutMap &from, const LayoutMap &to,
                                    Sizes sizes, int64_t elementBytes,
                                    const npu::TransferLimits &limits,
                                    const EngineTimes &times, Refusal error) {
  auto plan =
      [&](Way way,
          ArrayRef<std::pair<const LayoutMap *, const LayoutMap *>> legs)
      -> std::optional<NpuMove> {
    NpuMove move;
    move.way = way;
    for (auto [source, dest] : legs) {
      std::optional<std::vector<npu::Transfer>> transfers =
          npu::planTransfers(*source, *dest, sizes, elementBytes, limits,
                             way == Way::Direct ? error : Refusal(nullptr));
      if (!transfers)
        return std::nullopt;
      move.commands += transfers->size();
      for (const npu::Transfer &transfer : *transfers)
        move.bytes = addCosts(move.bytes, transfer.getBytes());
    }
    return move;
  };
  std::optional<NpuMove> direct = plan(Way::Direct, {{&from, &to}});
  // The other method needs two transfers at least, and twice the bytes.
  if (direct && direct->commands <= 2)
    return direct;
  std::optional<NpuMove> through;
  if (from.getSpace() == "npu" && to.getSpace() == "npu") {
    if (!direct && npu::haveSameCores(from, to, sizes)) {
      NpuMove move;
      move.way = Way::Cores;
      move.commands = 1;
      move.bytes = scaleCost(ShapedType::getNumElements(sizes), elementBytes);
      return move;
    }
    LayoutMap between = LayoutMap::rowMajor(sizes.size());
    through = plan(Way::ThroughSystem, {{&from, &between}, {&between, &to}});
  }
  bool isCheaper =
      through && (!direct || through->getCost(times) < direct->getCost(times));
  return isCheaper ? through : direct;
}
