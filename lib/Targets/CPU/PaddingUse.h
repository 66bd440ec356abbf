//===- PaddingUse.h - What padding costs an op ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the lowering of an op to linalg will do about padding when its tensors
// are stored in given layouts, from the same analysis (PaddingMasks.h):
//
//   conv, 17 channels in tiles of 16      masks the sum over channels
//   the same, both padded with zero       masks nothing
//   exp of a tensor padded with zero,
//     result padded with zero             writes the padding of its result
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_PADDINGUSE_H
#define LAYOUT_LIB_TARGETS_CPU_PADDINGUSE_H

#include "StoredOp.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir {
namespace layout {

struct PaddingUse {
  /// Reductions that some result must not see the padding of.
  llvm::SmallBitVector maskedLoops;
  /// Results that state padding which the body does not make by itself.
  llvm::SmallBitVector writtenResults;
};

/// Of the op that `stored` is in these layouts. Where no layout states padding,
/// or the loops on these layouts are not known, all that could be is masked and
/// written.
PaddingUse getPaddingUse(const StoredOp &stored, const LoopsRule &rule,
                         const OpLayouts &layouts, const LayoutTable &table);

/// The sizes of the loops on storage: those over a dim in tiles are rounded up
/// to whole tiles. Dynamic ones count as `assumed`.
SmallVector<int64_t> getStoredTrips(const LoopsRule &rule,
                                    const OpLayouts &layouts,
                                    const LayoutTable &table, int64_t assumed);

/// Whether a reduction of known size goes on past it, at these trips.
bool reducesPadding(const LoopsRule &rule, ArrayRef<int64_t> trips);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_PADDINGUSE_H
