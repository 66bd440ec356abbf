//===- LiveMemory.h - What lives at each time, and where --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of memory by the times at which they live, to change the life of one
// and ask again without looking at the others:
//
//     live [0, 4) and [4, 6), 3 bytes each, both at 0, of a memory of 6
//     grow(1, 2, 6): at times 2 and 3 both live, so the second goes to 3
//
// Laws:
//  * no two blocks that live at one time share bytes;
//  * what is asked of one block takes time for those that live with it only.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEMEMORY_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEMEMORY_H

#include "layout/Dialect/NPU/Utils/Placement.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir {
namespace npu {

class LiveMemory {
public:
  /// `places` has no conflict.
  LiveMemory(std::vector<PlacedBlock> blocks, std::vector<int64_t> places);

  /// Lets a block live from `begin` to before `end`, too, at its place or at
  /// another one; false, and nothing is changed, where none is free.
  bool grow(unsigned block, int64_t begin, int64_t end);

  const std::vector<PlacedBlock> &getBlocks() const { return blocks; }
  const std::vector<int64_t> &getPlaces() const { return places; }

private:
  SmallVector<size_t> getOthers(unsigned block, int64_t begin,
                                int64_t end) const;

  std::vector<PlacedBlock> blocks;
  std::vector<int64_t> places;
  std::vector<SmallVector<unsigned, 4>> live; // at each time
};

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVEMEMORY_H
