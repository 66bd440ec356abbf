//===- LiveBytes.h - How much lives at which time ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where blocks of memory (Placement.h) are too many, or lie badly:
//
//     5 bytes live [0, 4), 3 live [1, 2) and 2 live [3, 4):
//       5 from 0 on, 8 from 1, 5 from 2, 7 from 3, none from 4
//       more than 6 in two stretches, at most 8 at 1 and 7 at 3
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEBYTES_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEBYTES_H

#include "layout/Dialect/NPU/Utils/Placement.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
namespace npu {

struct LiveBytes {
  int64_t time, bytes;
};

inline bool isFuller(const LiveBytes &a, const LiveBytes &b) {
  return a.bytes > b.bytes;
}

/// The bytes that live from each time on at which blocks begin or end.
std::vector<LiveBytes> getLiveBytes(const std::vector<PlacedBlock> &blocks);

/// The times at which most lives, of each stretch in which more than `most`
/// does, the fullest first.
llvm::SmallVector<LiveBytes> getFullest(const std::vector<PlacedBlock> &blocks,
                                        int64_t most);

/// The time at which the first block, each at its lowest free place, has none.
std::optional<int64_t> findUnplaced(const std::vector<PlacedBlock> &blocks);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEBYTES_H
