//===- NpuTimes.h - The times that costs on an NPU consist of ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The times of transfers and commands by the clock of a chip (ChipClock.h), in
// cycles or in the unit of costs:
//
//   transfer   start of its direction + time of its rows
//   command    functions * start of a command + cycles
//
// A unit of cost is the time in which memory reads or writes one byte, so that
// a cycle costs twice the bytes that S2L moves in it: 106 on BM1684, where an
// S2L transfer of one row of 1280 bytes costs 137 * 106 + 2543. A target may
// state costs of its own, which replace those of the chip:
//
//   launch_cost      the start of a transfer of any direction
//   flops_per_byte   a cycle of a command, in which the X cores execute two
//                    operations on each of their lanes: 2 * X * lanes /
//                    flops_per_byte. Each function then takes one cycle for
//                    each step of eu_bytes and each summed index, and no start
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUTIMES_H
#define LAYOUT_TARGETS_NPU_NPUTIMES_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/IR/CommandTimes.h"
#include "layout/Dialect/NPU/Utils/Transfers.h"

namespace mlir::layout {

class NpuTimes {
public:
  /// Creates times in cycles of `chip`, or of a chip that is not published if
  /// it is null.
  explicit NpuTimes(npu::ChipAttr chip)
      : chip(chip), clock(chip ? chip.getClock() : ChipClock()) {}
  /// Returns times in the unit of costs in which transfers and commands start at
  /// once, so that only bytes and steps count.
  static NpuTimes withoutStarts(npu::ChipAttr chip);
  /// Creates times in the unit of costs.
  explicit NpuTimes(NpuTargetAttr target);

  Cost getStart(Direction direction) const {
    return transferStart ? *transferStart
                         : scaleCost(clock.getStart(direction), cycle);
  }
  Cost getTransfer(const npu::Transfer &transfer, Direction direction) const {
    return addCosts(
        getStart(direction),
        clock.getRowTime(direction, transfer.getRows(direction), cycle));
  }
  /// Returns the time of `transfers` transfers of `bytes` bytes in total in
  /// long rows.
  Cost getTransfers(Direction direction, int64_t transfers,
                    int64_t bytes) const {
    return addCosts(scaleCost(getStart(direction), transfers),
                    clock.getRowTime(direction, {1, bytes}, cycle));
  }

  Cost getCommands(const npu::CommandTime &time) const;
  /// Returns the time of one command of `work` on 32-bit words.
  npu::CommandTime getCommand(const ChipClock::Work &work,
                              const ChipClock::Planes &planes) const;
  /// Returns the time of the commands of `op`, as npu::getCommandTime does.
  std::optional<npu::CommandTime>
  getCommandTime(linalg::LinalgOp op, ArrayRef<int64_t> ranges,
                 const npu::ResultForm &form) const {
    return npu::getCommandTime(op, ranges, form, clock, chip);
  }
  /// Returns the time in which all cores run `points` iterations of the loops
  /// of `op`, divided evenly among them, or 0 if `points` is not positive.
  Cost getLoopTime(linalg::LinalgOp op, int64_t points) const;
  /// Returns the planes of `words` 32-bit words that are divided evenly among
  /// the cores.
  ChipClock::Planes divideAmongCores(int64_t words) const;

private:
  /// Sets the cost of a cycle of both engines to the unit of costs.
  void setUnit();

  NpuTargetInterface chip;
  ChipClock clock;
  int64_t cycle = 1; // the cost of a cycle of the DMA engine
  /// The cost of a cycle of the execution units: `cost` for each `count`.
  struct Rate {
    int64_t cost = 1, count = 1;
  } compute;
  std::optional<Cost> transferStart;
};

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_NPU_NPUTIMES_H
