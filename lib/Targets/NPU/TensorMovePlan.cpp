//===- TensorMovePlan.cpp - Methods of moving a tensor --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/TensorMovePlan.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/Utils/Commands.h"
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
    clock = chip.getClock(ClockModel::Usual);
  EngineTimes inCycles = EngineTimes::inCycles(clock);
  int64_t cycle = 2 * inCycles.byte.count;
  times.transferStart = cycle * inCycles.transferStart;
  times.commandStart = cycle * inCycles.commandStart;
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

/// The bytes of an element that commands of the cores copy and fill.
static constexpr int64_t kWordBytes = 4;

/// Returns the number of steps in which the cores, all at once, write a box of
/// 32-bit words. In a step, each core writes one execution unit's width within
/// a row of contiguous words. The core with the most channels counts.
static int64_t getStepsOf(const npu::TransferSide &to,
                          const npu::LoopSizes &shape, npu::ChipAttr chip) {
  int64_t row = shape[3], rows = shape[0] * shape[2];
  if (to.strides[3] != 1) {
    rows *= row;
    row = 1;
  } else if (to.strides[2] == row) {
    row *= shape[2];
    rows = shape[0];
  }
  int64_t channels = llvm::divideCeil(shape[1], chip.getNpus());
  return rows * channels *
         llvm::divideCeil(row * kWordBytes, chip.getEuBytes());
}

/// Returns the plan of a copy of 32-bit elements by commands of the cores, or
/// std::nullopt if no such commands move them.
static std::optional<TensorMovePlan> planOnCores(const LayoutMap &from,
                                                 const LayoutMap &to,
                                                 Sizes sizes,
                                                 npu::ChipAttr chip) {
  AffineMap index =
      AffineMap::getMultiDimIdentityMap(sizes.size(), chip.getContext());
  SmallVector<int64_t> shape(sizes);
  std::optional<std::vector<npu::Command>> commands =
      npu::planCommands({{to, shape, index}, {from, shape, index}}, shape,
                        npu::getComputeLimits(chip), nullptr);
  if (!commands)
    return std::nullopt;
  TensorMovePlan move;
  move.method = TensorMovePlan::Method::Cores;
  move.commands = commands->size();
  move.bytes = scaleCost(ShapedType::getNumElements(sizes), kWordBytes);
  move.steps = 0;
  for (const npu::Command &command : *commands)
    *move.steps += getStepsOf(command.sides.front(), command.shape, chip);
  return move;
}

bool layout::isFilledByCores(const LayoutMap &to, Sizes sizes,
                             int64_t elementBytes, npu::ChipAttr chip,
                             const EngineTimes &times) {
  if (elementBytes != kWordBytes || to.getSpace() != "npu")
    return false;
  std::optional<std::vector<npu::Transfer>> boxes = npu::planTransfers(
      to, to, sizes, elementBytes, npu::getComputeLimits(chip), nullptr);
  std::optional<std::vector<npu::Transfer>> transfers = npu::planTransfers(
      to, to, sizes, elementBytes, npu::getTransferLimits(chip), nullptr);
  if (!boxes || !transfers)
    return false;
  int64_t steps = 0;
  for (const npu::Transfer &box : *boxes)
    steps += getStepsOf(box.dest, box.shape, chip);
  return times.getCommands(boxes->size(), steps) <
         times.getTransfers(
             transfers->size(),
             scaleCost(ShapedType::getNumElements(sizes), elementBytes));
}

std::optional<TensorMovePlan>
TensorMovePlan::get(const LayoutMap &from, const LayoutMap &to, Sizes sizes,
                    int64_t elementBytes, npu::ChipAttr chip,
                    const EngineTimes &times, FailureReason error) {
  npu::TransferLimits limits = npu::getTransferLimits(chip);
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
  bool areLocal = from.getSpace() == "npu" && to.getSpace() == "npu";
  // The elements stay in their cores, which can copy them.
  bool canCopy = areLocal && (elementBytes == kWordBytes || !direct) &&
                 npu::haveSameCores(from, to, sizes);
  if (canCopy && elementBytes == kWordBytes) {
    std::optional<TensorMovePlan> cores = planOnCores(from, to, sizes, chip);
    if (cores && (!direct || cores->getCost(times) < direct->getCost(times)))
      return cores;
  }
  // A move through system memory needs two transfers at least, and twice the
  // bytes.
  if (direct && direct->commands <= 2)
    return direct;
  std::optional<TensorMovePlan> through;
  if (areLocal) {
    if (!direct && canCopy) {
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
