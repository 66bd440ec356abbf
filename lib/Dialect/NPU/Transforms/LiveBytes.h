//===- LiveBytes.h - Live bytes over time -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the times at which blocks of memory (AddressPlacement.h) need too many
// bytes or cannot be placed:
//
//     5 bytes live [0, 4), 3 live [1, 2) and 2 live [3, 4):
//       5 from 0 on, 8 from 1, 5 from 2, 7 from 3, none from 4
//       more than 6 in two stretches, at most 8 at 1 and 7 at 3
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEBYTES_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEBYTES_H

#include "layout/Dialect/NPU/Utils/AddressPlacement.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::npu {

/// The number of bytes that are live from `time` on, until the next change.
struct LiveBytes {
  int64_t time, bytes;
};

inline bool isFuller(const LiveBytes &a, const LiveBytes &b) {
  return a.bytes > b.bytes;
}

/// Returns the live bytes after each begin and each end of a block, by time. Of
/// entries with the same time, the last one has the bytes that are live from
/// then on.
std::vector<LiveBytes> getLiveBytes(const std::vector<PlacedBlock> &blocks);

/// Returns the time with the most live bytes in each interval in which more
/// than `most` are live, the fullest first.
llvm::SmallVector<LiveBytes> getFullest(const std::vector<PlacedBlock> &blocks,
                                        int64_t most);

/// Places each block, in the order of `blocks`, at its fixed place or its
/// lowest free one. Returns the begin of the live range of the first one that
/// then exceeds its limit, or std::nullopt if all fit. The blocks must be
/// sorted by begin.
std::optional<int64_t> findUnplaced(const std::vector<PlacedBlock> &blocks);

} // namespace mlir::npu

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEBYTES_H
