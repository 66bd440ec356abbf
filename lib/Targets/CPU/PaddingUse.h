//===- PaddingUse.h - How ops read and write padding ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Determines how the lowering of an op to linalg handles padding if its tensors
// are stored in given layouts, by the analysis of the lowering
// (PaddingMasks.h):
//
//   conv, 17 channels in tiles of 16      masks the sum over channels
//   conv, operands padded with zero       masks nothing
//   exp of a tensor padded with zero,
//     result padded with zero             writes the padding of its result
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_PADDINGUSE_H
#define LAYOUT_LIB_TARGETS_CPU_PADDINGUSE_H

#include "StoredOp.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::layout {

struct PaddingUse {
  /// The reduction loops that must skip padding for at least one result.
  llvm::SmallBitVector maskedLoops;
  /// The results whose layouts state padding that the body does not compute, so
  /// that it is written separately.
  llvm::SmallBitVector writtenResults;
};

/// Returns how the op of `stored` handles padding. If no layout states padding,
/// or the op cannot be lowered to loops over digits (`stored.space` failed),
/// does not analyze the body: every reduction counts as masked, and all stated
/// padding of results as written separately.
PaddingUse getPaddingUse(const StoredOp &stored, const LoopsRule &rule,
                         const OpLayouts &layouts, const LayoutTable &table);

/// Returns the trip counts of the loops on storage: loops over tiled dims of
/// operands are rounded up to whole innermost tiles. Dynamic sizes count as
/// `assumed`.
SmallVector<int64_t> getStoredTrips(const LoopsRule &rule,
                                    const OpLayouts &layouts,
                                    const LayoutTable &table, int64_t assumed);

/// Returns true if `trips`, one count per loop, has another count than the size
/// of a reduction loop of static size, because the loop also runs over padding.
bool reducesPadding(const LoopsRule &rule, ArrayRef<int64_t> trips);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_PADDINGUSE_H
