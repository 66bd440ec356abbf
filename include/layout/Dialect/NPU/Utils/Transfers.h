//===- Transfers.h - A copy as transfers of the DMA engine ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy between two layouts of one box of indices, as the transfers that make
// it. One transfer is four loops N, C, H and W with a stride for each side;
// rows along W are moved whole (stride 1), and in local memory it is the C
// loop, and no other, that goes from core to core:
//
//     row-major 2x40xf32 to `matrix 15` on four cores, from core 2:
//       shape (2, 2, 1, 15)   2 channels of 15 columns, cores 2 and 3
//       shape (2, 1, 1, 10)   the rest of the last one, core 0, next row
//
// Nothing but the two canonical maps is asked where an element lies: each dim
// is tabulated, split into the fewest loops in which both maps step evenly, and
// what does not step evenly becomes a transfer of its own.
//
// Laws:
//  * the transfers move every element of the box once, and nothing else;
//  * each is within the limits of the chip, or there is no plan and a reason.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_TRANSFERS_H
#define LAYOUT_DIALECT_NPU_UTILS_TRANSFERS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/Refusal.h"
#include "llvm/ADT/Twine.h"
#include <array>
#include <vector>

namespace mlir {
namespace npu {

/// N, C, H, W.
using LoopSizes = std::array<int64_t, 4>;

/// What one command may be. Limits of 0 are not known.
struct TransferLimits {
  int64_t npus = 1;
  int64_t alignment = 1; // of the addresses of a transfer, in bytes
  LoopSizes maxShape{0, 0, 0, 0};
  int64_t maxStride = 0;
};

struct TransferSide {
  int64_t core = -1; // where the box starts; -1: linear memory
  int64_t byte = 0;
  LoopSizes strides{0, 0, 0, 1}; // in elements of the transfer

  bool isLocal() const { return core >= 0; }
};

struct Transfer {
  int64_t elementBytes = 0; // 1, 2 or 4
  LoopSizes shape{1, 1, 1, 1};
  TransferSide source, dest;

  int64_t getBytes() const {
    return elementBytes * shape[0] * shape[1] * shape[2] * shape[3];
  }
};

/// The transfers of a copy: index i of the box of `sizes` goes from source(i)
/// to dest(i). Maps are of the spaces `npu` and `buffer`; `source` need not be
/// injective. At most `kMaxTransfers`.
std::optional<std::vector<Transfer>>
planTransfers(const layout::LayoutMap &source, const layout::LayoutMap &dest,
              layout::Sizes sizes, int64_t elementBytes,
              const TransferLimits &limits, layout::Refusal error);

constexpr int64_t kMaxTransfers = 1 << 14;

/// Cuts a box of four loops into the boxes that commands of a chip are for: of
/// no loop more than `most` iterations, 0 for any number. `take` gets the first
/// iteration and the size of each, and says whether to go on.
bool cutBox(
    const LoopSizes &shape, const LoopSizes &most,
    llvm::function_ref<bool(const LoopSizes &first, const LoopSizes &shape)>
        take);

/// The local side of a box, of the part of it that starts at `first`.
TransferSide getPartSide(const TransferSide &side, const LoopSizes &first,
                         int64_t elementBytes, int64_t npus);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_UTILS_TRANSFERS_H
