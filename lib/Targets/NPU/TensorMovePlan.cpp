//===- TensorMovePlan.cpp - Methods of moving a tensor --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/TensorMovePlan.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/Utils/Commands.h"

using namespace mlir;
using namespace mlir::layout;

/// The bytes of an element that commands of the cores copy and fill.
static constexpr int64_t kWordBytes = 4;

/// Returns the time in which the cores execute `function` on the words of a box
/// of local memory from core `core` on.
static npu::CommandTime getTimeOnCores(StringRef function, int64_t core,
                                       const npu::LoopSizes &shape,
                                       npu::ChipAttr chip,
                                       const NpuTimes &times) {
  ChipClock::Work work;
  work.function = function;
  return times.getCommand(work,
                          ChipClock::Planes::get(chip.getNpus(), core, shape));
}

/// Returns the plan of a copy of 32-bit elements by commands of the cores, or
/// std::nullopt if no such commands move them.
static std::optional<TensorMovePlan>
planOnCores(const LayoutMap &from, const LayoutMap &to, Sizes sizes,
            npu::ChipAttr chip, const NpuTimes &times) {
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
  npu::CommandTime time;
  for (const npu::Command &command : *commands)
    time += getTimeOnCores("32bit_cpy", command.sides.front().core,
                           command.shape, chip, times);
  move.time = times.getCommands(time);
  return move;
}

bool layout::isFilledByCores(const LayoutMap &to, Sizes sizes,
                             int64_t elementBytes, npu::ChipAttr chip,
                             const NpuTimes &times) {
  if (elementBytes != kWordBytes || to.getSpace() != "npu")
    return false;
  std::optional<std::vector<npu::Transfer>> boxes = npu::planTransfers(
      to, to, sizes, elementBytes, npu::getComputeLimits(chip), nullptr);
  std::optional<std::vector<npu::Transfer>> transfers = npu::planTransfers(
      to, to, sizes, elementBytes, npu::getTransferLimits(chip), nullptr);
  if (!boxes || !transfers)
    return false;
  npu::CommandTime byCores;
  for (const npu::Transfer &box : *boxes)
    byCores +=
        getTimeOnCores("32bit_set_C", box.dest.core, box.shape, chip, times);
  Cost byTransfers = 0;
  for (const npu::Transfer &transfer : *transfers)
    byTransfers = addCosts(byTransfers,
                           times.getTransfer(transfer, Direction::FillLocal));
  return times.getCommands(byCores) < byTransfers;
}

std::optional<TensorMovePlan>
TensorMovePlan::get(const LayoutMap &from, const LayoutMap &to, Sizes sizes,
                    int64_t elementBytes, npu::ChipAttr chip,
                    const NpuTimes &times, FailureReason error) {
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
      for (const npu::Transfer &transfer : *transfers) {
        move.bytes = addCosts(move.bytes, transfer.getBytes());
        move.time =
            addCosts(move.time,
                     times.getTransfer(transfer, transfer.getCopyDirection()));
      }
    }
    return move;
  };
  std::optional<TensorMovePlan> direct = plan(Method::Direct, {{&from, &to}});
  bool areLocal = from.getSpace() == "npu" && to.getSpace() == "npu";
  int64_t bytes = scaleCost(ShapedType::getNumElements(sizes), elementBytes);
  // The elements stay in their cores, which can copy them.
  bool canCopy = areLocal && (elementBytes == kWordBytes || !direct) &&
                 npu::haveSameCores(from, to, sizes);
  if (canCopy && elementBytes == kWordBytes) {
    std::optional<TensorMovePlan> cores =
        planOnCores(from, to, sizes, chip, times);
    if (cores && (!direct || cores->time < direct->time))
      return cores;
  }
  // A move through system memory takes a transfer in each direction at least.
  if (direct &&
      direct->time <= addCosts(times.getTransfers(Direction::L2S, 1, bytes),
                               times.getTransfers(Direction::S2L, 1, bytes)))
    return direct;
  std::optional<TensorMovePlan> through;
  if (areLocal) {
    if (!direct && canCopy) {
      TensorMovePlan move;
      move.method = Method::Cores;
      move.commands = 1;
      move.bytes = bytes;
      move.time = times.getTransfers(Direction::L2L, 1, bytes);
      return move;
    }
    LayoutMap between = LayoutMap::rowMajor(sizes.size());
    through = plan(Method::ThroughSystem, {{&from, &between}, {&between, &to}});
  }
  bool isCheaper = through && (!direct || through->time < direct->time);
  return isCheaper ? through : direct;
}
