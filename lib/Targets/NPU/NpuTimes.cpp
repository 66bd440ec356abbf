//===- NpuTimes.cpp - The times that costs on an NPU consist of -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/NpuTimes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Gives all functions the cycles of a chip that is not published: one for each
/// step of eu_bytes, and no start.
static void countSteps(ChipClock &clock) {
  ChipClock usual;
  for (auto i = size_t(ClockParam::compute_start);
       i < size_t(ClockParam::count); ++i)
    clock.set(ClockParam(i), usual.get(ClockParam(i)));
  clock.set(ClockParam::compute_start, 0);
}

void NpuTimes::setUnit() {
  cycle = std::max<int64_t>(2 * clock.get(ClockParam::s2l_rate) / 1000, 1);
  compute.cost = cycle;
}

NpuTimes NpuTimes::withoutStarts(npu::ChipAttr chip) {
  NpuTimes times(chip);
  times.setUnit();
  times.transferStart = 0;
  times.clock.set(ClockParam::compute_start, 0);
  return times;
}

NpuTimes::NpuTimes(NpuTargetAttr target) : chip(target.getChip()) {
  if (auto known = dyn_cast<npu::ChipAttr>(chip))
    clock = known.getClock();
  setUnit();
  if (target.getLaunchCost() != kFromChip)
    transferStart = target.getLaunchCost();
  if (target.getFlopsPerByte() == kFromChip)
    return;
  countSteps(clock);
  compute = {2 * chip.getParams().npus * target.getLanes(),
             target.getFlopsPerByte()};
}

Cost NpuTimes::getCommands(const npu::CommandTime &time) const {
  Cost cycles = time.getCycles(clock);
  Cost whole = scaleCost(compute.cost, cycles / compute.count);
  Cost rest = scaleCost(compute.cost, cycles % compute.count);
  return addCosts(whole, rest / compute.count + (rest % compute.count != 0));
}

npu::CommandTime NpuTimes::getCommand(const ChipClock::Work &work,
                                      const ChipClock::Planes &planes) const {
  constexpr int64_t kWordBytes = 4;
  return {1,
          clock.getCycles(work, planes, kWordBytes, chip.getParams().euBytes)};
}

Cost NpuTimes::getLoopTime(linalg::LinalgOp op, int64_t points) const {
  if (points <= 0)
    return 0;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t sums = npu::countSummed(op.getIteratorTypesArray(), ranges);
  npu::ResultForm form;
  form.planes = divideAmongCores(llvm::divideCeil(points, sums));
  // Tensors of four dims have channels, others are matrices.
  form.isMatrix = cast<ShapedType>(op->getResultTypes()[0]).getRank() != 4;
  npu::CommandTime one = getCommand({}, form.planes);
  one.cycles = scaleCost(one.cycles, sums);
  npu::CommandTime time = getCommandTime(op, ranges, form).value_or(one);
  return getCommands({0, time.cycles});
}

ChipClock::Planes NpuTimes::divideAmongCores(int64_t words) const {
  return {1, int64_t(llvm::divideCeil(words, chip.getParams().npus))};
}
