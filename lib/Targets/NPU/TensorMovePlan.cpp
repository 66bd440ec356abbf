//===- TensorMovePlan.cpp - Methods of moving a tensor --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/TensorMovePlan.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
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
  if (target.getLaunchCost() != kFromChip)
    times.transferStart = target.getLaunchCost();
  if (target.getFlopsPerByte() == kFromChip)
    return times;
  times.commandStart = 0;
  times.step = {2 * target.getChip().getParams().npus * target.getLanes(),
                target.getFlopsPerByte()};
  return times;
}

int64_t layout::getNpuSteps(NpuTargetAttr target, int64_t points) {
  return llvm::divideCeil(points, target.getChip().getParams().npus *
                                      target.getLanes());
}

std::optional<TensorMovePlan>
TensorMovePlan::get(const LayoutMap &from, const LayoutMap &to, Sizes sizes,
                    int64_t elementBytes, const npu::TransferLimits &limits,
                    const EngineTimes &times, FailureReason error) {
  auto plan =
      [&](Method method,
          ArrayRef<std::pair<const LayoutMap *, const LayoutMap *>> legs)
      -> std::optional<TensorMovePlan> {
    TensorMovePlan move;
    move.method = method;
    for (auto [source, dest] : legs) {
      std::optional<std::vector<npu::Transfer>> transfers = npu::planTransfers(
          *source, *dest, sizes, elementBytes, limits,
          method == Method::Direct ? error : FailureReason(nullptr));
      if (!transfers)
        return std::nullopt;
      move.commands += transfers->size();
      for (const npu::Transfer &transfer : *transfers)
        move.bytes = addCosts(move.bytes, transfer.getBytes());
    }
    return move;
  };
  std::optional<TensorMovePlan> direct = plan(Method::Direct, {{&from, &to}});
  // A move through system memory needs two transfers at least, and twice the
  // bytes.
  if (direct && direct->commands <= 2)
    return direct;
  std::optional<TensorMovePlan> through;
  if (from.getSpace() == "npu" && to.getSpace() == "npu") {
    if (!direct && npu::haveSameCores(from, to, sizes)) {
      TensorMovePlan move;
      move.method = Method::Cores;
      move.commands = 1;
      move.bytes = scaleCost(ShapedType::getNumElements(sizes), elementBytes);
      return move;
    }
    LayoutMap between = LayoutMap::rowMajor(sizes.size());
    through = plan(Method::ThroughSystem, {{&from, &between}, {&between, &to}});
  }
  bool isCheaper =
      through && (!direct || through->getCost(times) < direct->getCost(times));
  return isCheaper ? through : direct;
}
