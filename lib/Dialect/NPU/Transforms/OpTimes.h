//===- OpTimes.h - The times of ops on the engines --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cycles of single ops by the clock of the chip (ChipClock.h): transfers
// by their plan, computations as CommandTimes.h predicts them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_OPTIMES_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_OPTIMES_H

#include "layout/Dialect/NPU/IR/CommandTimes.h"
#include "layout/Dialect/NPU/IR/NPU.h"

namespace mlir::npu {

class OpTimes {
public:
  explicit OpTimes(ChipAttr chip) : chip(chip), clock(chip.getClock()) {}

  /// Returns the engine that runs an op: DMA for copies and for fills by DMA,
  /// or else the execution units.
  static Engine getEngine(Operation *op);

  /// Returns the operands in local memory whose elements the op reads or
  /// writes.
  static SmallVector<OpOperand *> getTouched(Operation *op);

  /// Returns the first byte that the layout of a local memref reserves in every
  /// core, and the byte after the last one. Both are relative to the start of
  /// the tensor that it views.
  std::pair<int64_t, int64_t> getReach(Value memref);

  /// Returns the time of the commands of an op on the execution units. It has no
  /// commands if its result is not in local memory or has no elements.
  CommandTime getCommandTime(Operation *op) const;

  /// Returns the number of cycles that the engine of an op takes for it, or 0
  /// for a copy or a fill by DMA without a plan of transfers.
  layout::Cost getCycles(Operation *op);

private:
  ChipAttr chip;
  layout::ChipClock clock;
  DenseMap<Type, std::pair<int64_t, int64_t>> reaches;
};

} // namespace mlir::npu

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_OPTIMES_H
