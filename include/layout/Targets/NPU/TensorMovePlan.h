//===- TensorMovePlan.h - Methods of moving a tensor ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the method of a move, for the cost model and the lowering.
//
//   direct           transfers from the source to the destination
//   through system   transfers by way of a row-major tensor in system memory: a
//                    direct move has one transfer per element if no loop goes
//                    from core to core on both sides
//   cores            a copy that the cores compute, if both sides are in the
//                    same cores: each core moves its own elements
//
//   128x128xf32, aligned to `matrix 2` on 64 cores
//     direct 16,384 transfers, through system memory 2
//   1x32x112x112xf32 into the middle of 1x32x114x114xf32, aligned, on BM1684
//     direct 50,179 cycles, by cores 784
//
// Laws:
//  * methods are compared by their time on the clock of the target;
//  * elements of other sizes than a word, for which there is no command, are
//    copied by cores only if there are no direct transfers.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_TENSORMOVEPLAN_H
#define LAYOUT_TARGETS_NPU_TENSORMOVEPLAN_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Targets/NPU/NpuTimes.h"

namespace mlir::layout {

struct TensorMovePlan {
  enum class Method { Direct, ThroughSystem, Cores };
  Method method = Method::Direct;
  /// The number of commands: DMA transfers, or commands of the cores.
  int64_t commands = 0;
  /// The number of bytes read, which equals the number of bytes written.
  int64_t bytes = 0;
  /// The time of the commands. If no command of the cores copies elements of
  /// this size, it is that of a transfer of their bytes.
  Cost time = 0;

  /// Chooses the way to move a box of `sizes` from map `from` to map `to` that
  /// takes the least time by `times`: direct transfers, transfers through
  /// system memory, or copies by the cores. Returns std::nullopt if no way is
  /// possible; `error` then has the reason why there are no direct transfers.
  static std::optional<TensorMovePlan>
  get(const LayoutMap &from, const LayoutMap &to, Sizes sizes,
      int64_t elementBytes, npu::ChipAttr chip, const NpuTimes &times,
      FailureReason error);
};

/// Returns true if the cores and the DMA engine can both fill a box of `sizes`
/// in local memory, and the cores take less time.
bool isFilledByCores(const LayoutMap &to, Sizes sizes, int64_t elementBytes,
                     npu::ChipAttr chip, const NpuTimes &times);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_NPU_TENSORMOVEPLAN_H
