//===- EngineTimes.h - Time model of the engines of an NPU ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time of DMA transfers and of commands of execution units, in any unit,
// for the clock of the simulator and the costs of layout assignment:
//
//     transfers   one start each, plus the time of the bytes
//     commands    one start each, plus the steps; a step is eu_bytes of every
//                 core. A command that uses a bank for two operands takes
//                 twice the steps
//
//     EngineTimes::inCycles({550, 64, 32, 8}).getTransfers(1, 4096)  // 96
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_ENGINETIMES_H
#define LAYOUT_SUPPORT_ENGINETIMES_H

#include "layout/Support/Cost.h"
#include <limits>

namespace mlir::layout {

/// Stands for a parameter of an NPU target that is not set, so that the
/// parameter of its chip is used.
constexpr int64_t kFromChip = std::numeric_limits<int64_t>::min();

/// The clock of an NPU: its frequency, the bytes that DMA moves per cycle, and
/// the cycles that starting a DMA transfer and a command of execution units
/// takes.
struct ChipClock {
  int64_t megahertz = 1000, dmaBytesPerCycle = 64, dmaStart = 32,
          computeStart = 8;
};

struct EngineTimes {
  /// A rate: `count` items, e.g. bytes, take `time`, in the unit of all times
  /// here, e.g. cycles. `get` returns the time that a number of items takes,
  /// rounded up.
  struct Rate {
    int64_t time = 1, count = 1;

    Cost get(int64_t number) const {
      Cost whole = scaleCost(time, number / count);
      Cost rest = scaleCost(time, number % count);
      return addCosts(whole, rest / count + (rest % count != 0));
    }
  };
  int64_t transferStart = 0, commandStart = 0;
  Rate byte, step;

  static EngineTimes inCycles(const ChipClock &clock) {
    return {
        clock.dmaStart, clock.computeStart, {1, clock.dmaBytesPerCycle}, {}};
  }

  /// Returns the time of `transfers` DMA transfers of `bytes` bytes in total.
  Cost getTransfers(int64_t transfers, int64_t bytes) const {
    return addCosts(scaleCost(transferStart, transfers), byte.get(bytes));
  }
  Cost getCommands(int64_t commands, int64_t steps,
                   bool usesBankTwice = false) const {
    return addCosts(scaleCost(commandStart, commands),
                    step.get(scaleCost(steps, usesBankTwice ? 2 : 1)));
  }
};

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_ENGINETIMES_H
