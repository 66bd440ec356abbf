//===- LiveMemory.h - Placed blocks by time ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indexes placed blocks of memory by the times at which they are live, to
// extend the live range of one block without visiting all others:
//
//     live [0, 4) and [4, 6), 3 bytes each, both at 0, of a memory of 6
//     grow(1, 2, 6): at times 2 and 3 both live, so the second goes to 3
//
// Laws:
//  * no two blocks that are live at one time share bytes;
//  * an update of one block visits only the blocks that are live with it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEMEMORY_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEMEMORY_H

#include "layout/Dialect/NPU/Utils/AddressPlacement.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::npu {

/// A placement of blocks whose live ranges can be extended.
class LiveMemory {
public:
  /// Constructs a placement of `blocks` at the start bytes `places`, at which
  /// they must not overlap.
  LiveMemory(std::vector<PlacedBlock> blocks, std::vector<int64_t> places);

  /// Extends the live range of a block to include [begin, end), at its place or
  /// at another one. Returns false, with no change, if no place is free, or if
  /// the fixed place of the block is not.
  bool grow(unsigned block, int64_t begin, int64_t end);

  const std::vector<PlacedBlock> &getBlocks() const { return blocks; }
  const std::vector<int64_t> &getPlaces() const { return places; }

private:
  SmallVector<size_t> getOthers(unsigned block, int64_t begin,
                                int64_t end) const;

  std::vector<PlacedBlock> blocks;
  std::vector<int64_t> places;
  std::vector<SmallVector<unsigned, 4>> live; // the blocks at each time
};

} // namespace mlir::npu

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEMEMORY_H
