//===- CommandTimes.h - The cycles of linalg ops ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts the cycles of the commands that a linalg op becomes, by the clock of
// the chip (ChipClock.h): for the costs of the assignment, the search of fusion
// groups, and the passes that place transfers and tensors.
//
//   BM1684, results of 1x64x10x32xf32, 20 steps of 64 bytes in each core
//     addition of two aligned tensors           add      20 * 1
//     exponential of a clamped argument         2 functions, 20 * (2 + 182)
//     3x3 convolution of 16 channels            conv2d   20 * (3 + 8 * 9)
//     sum over 2x2 windows                      avg_pool2d and mul_C
//     sum over a dim of a matrix, one add for each index
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_COMMANDTIMES_H
#define LAYOUT_DIALECT_NPU_IR_COMMANDTIMES_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::npu {

/// The time of the commands of an op: the number of functions, each of which
/// has the start of a command, and the cycles after the starts.
struct CommandTime {
  int64_t functions = 0;
  layout::Cost cycles = 0;

  CommandTime &operator+=(const CommandTime &other) {
    functions += other.functions;
    cycles = layout::addCosts(cycles, other.cycles);
    return *this;
  }
  /// Returns the cycles with those of the starts.
  layout::Cost getCycles(const layout::ChipClock &clock) const {
    return layout::addCosts(
        layout::scaleCost(clock.get(layout::ClockParam::compute_start),
                          functions),
        cycles);
  }
};

/// Returns the 32-bit words of the core that has most of a tensor of `shape` in
/// `layout`: one plane for each channel of each batch. An element of fewer bits
/// is a word by itself unless it is packed. Returns std::nullopt if the layout
/// is not valid for the tensor on its chip.
std::optional<layout::ChipClock::Planes>
getPlanes(layout::NpuScatterAttr layout, ArrayRef<int64_t> shape,
          int64_t elementBytes);

/// The result of an op in local memory, as far as the time of the op depends on
/// it.
struct ResultForm {
  layout::ChipClock::Planes planes;
  /// All operands are aligned, so that functions need no strides.
  bool isAligned = false;
  /// The result is in the matrix layout.
  bool isMatrix = false;
  /// The axis of each dim of a result in the matrix layout, N for rows and M for
  /// columns; empty if its two dims are these.
  std::string axes;
};

/// Returns the form of a result of `shape` in `layouts[result]`. `layouts` are
/// those of the operands of the op; a layout is null if the operand is not read
/// or is loaded for the op. Returns std::nullopt as getPlanes does.
std::optional<ResultForm>
getResultForm(ArrayRef<layout::NpuScatterAttr> layouts, unsigned result,
              ArrayRef<int64_t> shape, int64_t elementBytes);

/// Returns the product of the trip counts `ranges` of the reduction loops: the
/// number of elements that are summed for a result.
int64_t countSummed(ArrayRef<utils::IteratorType> kinds,
                    ArrayRef<int64_t> ranges);

/// Returns the time of the commands that compute `op`, whose loops have the
/// trip counts `ranges`, or std::nullopt if no function of the chip computes
/// its body. Products in a matrix layout take 2^18 cycles if the last row dim and
/// a column dim of the result are loops of one factor, because they may have to
/// be split.
std::optional<CommandTime> getCommandTime(linalg::LinalgOp op,
                                          ArrayRef<int64_t> ranges,
                                          const ResultForm &form,
                                          const layout::ChipClock &clock,
                                          layout::NpuTargetInterface chip);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_IR_COMMANDTIMES_H
