//===- NpuMove.h - How a tensor gets from place to place --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What prices and what emits the move of a tensor asks here which way it takes:
//
//   direct           its transfers from one place to the other
//   through system   the transfers to a row-major tensor in system memory, and
//                    those from there: where no loop goes from core to core on
//                    both sides, a direct move is a transfer for each element
//   cores            what the DMA engine cannot address, where both sides lie
//                    in the same cores, is a copy that these compute
//
//   128x128xf32, aligned to `matrix 2` on 64 cores
//     direct 16,384 transfers, through system memory 2
//
// Laws:
//  * of the first two ways the cheaper one is taken, by bytes and launches;
//  * cores move only what no direct transfers do.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUMOVE_H
#define LAYOUT_TARGETS_NPU_NPUMOVE_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "layout/Support/EngineTimes.h"

namespace mlir {
namespace layout {

struct NpuMove {
  enum class Way { Direct, ThroughSystem, Cores };
  Way way = Way::Direct;
  /// Transfers, or the one command of the cores.
  int64_t commands = 0;
  /// Bytes that are read, and as many are written.
  int64_t bytes = 0;

  Cost getCost(const EngineTimes &times) const {
    return times.getTransfers(commands, bytes);
  }

  /// The move of a box of `sizes` from one map to another. Nothing where there
  /// is no way; the reason is that against direct transfers.
  static std::optional<NpuMove> get(const LayoutMap &from, const LayoutMap &to,
                                    Sizes sizes, int64_t elementBytes,
                                    const npu::TransferLimits &limits,
                                    const EngineTimes &times, Refusal error);
};

/// What transfers and commands cost: the times of the chip's clock, in the time
/// in which memory moves a byte, but for the figures that the target states.
/// Without a target only bytes count.
EngineTimes getNpuTimes(NpuTargetAttr target);

/// The steps of all lanes of all cores that compute so many points.
int64_t getNpuSteps(NpuTargetAttr target, int64_t points);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_NPU_NPUMOVE_H
