//===- Transfers.h - Copies as DMA transfers --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans a copy of one box of indices between two layouts as DMA transfers. A
// transfer has four loops N, C, H and W with a stride per side. Rows along W
// are contiguous (stride 1), and in local memory only the C loop goes from core
// to core:
//
//     row-major 2x40xf32 to `matrix 15` on four cores, from core 2:
//       shape (2, 2, 1, 15)   2 channels of 15 columns, cores 2 and 3
//       shape (2, 1, 1, 10)   the rest of the last one, core 0, next row
//
// Only the two canonical maps determine the position of an element. Each dim is
// tabulated and split into the fewest loops in which both maps advance by
// constant steps; the rest become separate transfers.
//
// Laws:
//  * the transfers move every element of the box once, and nothing else;
//  * each is within the limits of the chip; otherwise there is no plan but a
//    reason.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_TRANSFERS_H
#define LAYOUT_DIALECT_NPU_UTILS_TRANSFERS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/ChipClock.h"
#include "layout/Support/FailureReason.h"
#include "llvm/ADT/Twine.h"
#include <array>
#include <vector>

namespace mlir::npu {

/// Sizes or strides of the loops N, C, H and W.
using LoopSizes = std::array<int64_t, 4>;

/// The limits of one command or DMA transfer of a chip. In `maxShape` and
/// `maxStride`, 0 stands for no limit.
struct TransferLimits {
  int64_t npus = 1;
  int64_t alignment = 1; // of the addresses of a transfer, in bytes
  LoopSizes maxShape{0, 0, 0, 0};
  int64_t maxStride = 0;
};

/// The elements that a command or a transfer accesses in one memory, e.g. in
/// its source: the start of the box and the stride of each loop.
struct TransferSide {
  int64_t core = -1; // the first core, or -1 for linear memory
  int64_t byte = 0;
  LoopSizes strides{0, 0, 0, 1}; // in elements of the transfer

  bool isLocal() const { return core >= 0; }
};

/// One DMA transfer: nested loops N, C, H and W with the trip counts `shape`,
/// each iteration of which moves one element of `elementBytes` bytes from
/// `source` to `dest`.
struct Transfer {
  int64_t elementBytes = 0; // 1, 2 or 4
  LoopSizes shape{1, 1, 1, 1};
  TransferSide source, dest;

  int64_t getBytes() const {
    return elementBytes * shape[0] * shape[1] * shape[2] * shape[3];
  }
  /// Returns the direction of the transfer if it is a copy.
  layout::Direction getCopyDirection() const {
    return layout::getCopyDirection(source.isLocal(), dest.isLocal());
  }
  /// Returns the rows of the transfer. The source of a fill is its destination.
  layout::ChipClock::Rows getRows(layout::Direction direction) const {
    return layout::ChipClock::getRows(direction, shape, dest.strides,
                                      source.strides, elementBytes);
  }
};

/// Returns the transfers, at most `kMaxTransfers`, of a copy of index i of the
/// box `sizes` from source(i) to dest(i), or std::nullopt with a reason if
/// there is no such plan. The maps are in the spaces `npu` and `buffer`;
/// `source` need not be injective.
std::optional<std::vector<Transfer>>
planTransfers(const layout::LayoutMap &source, const layout::LayoutMap &dest,
              layout::Sizes sizes, int64_t elementBytes,
              const TransferLimits &limits, layout::FailureReason error);

constexpr int64_t kMaxTransfers = 1 << 14;

/// Splits a box of four loops into parts of at most `most` iterations per loop,
/// 0 for no limit. Calls `take` with the first iteration and the size of each
/// part until it returns false, and returns false in that case.
bool cutBox(
    const LoopSizes &shape, const LoopSizes &most,
    llvm::function_ref<bool(const LoopSizes &first, const LoopSizes &shape)>
        take);

/// Returns the core, byte and strides of a part of a box in local memory: the
/// part that starts at iteration `first` of the loops N, C, H and W.
TransferSide getPartSide(const TransferSide &side, const LoopSizes &first,
                         int64_t elementBytes, int64_t npus);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_TRANSFERS_H
