//===- DimLoops.h - Dims as loops with even steps ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits the tables of several maps over one dim (Tables.h) into loops in which
// all maps advance by constant steps:
//
//     row-major column j to `matrix 15` of 40 columns, cores 2, 3, 0:
//       piece at 0:  loops of 2 (scattered) and 15 (+1, +1)
//       piece at 30: a loop of 10 (+1, +1)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_UTILS_DIMLOOPS_H
#define LAYOUT_LIB_DIALECT_NPU_UTILS_DIMLOOPS_H

#include "layout/Dialect/NPU/Utils/Tables.h"
#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::npu {

/// The step of a loop in one tensor, e.g. in the source of a transfer.
struct LoopStep {
  int64_t stride = 0;     // in elements; if scattered, per pass over all cores
  bool scattered = false; // iteration k is in core (first + k) mod npus
};

/// A loop over indices of a dim, in which the core and the offset advance by a
/// constant step in every tensor (*side*).
struct Loop {
  int64_t extent = 1;
  llvm::SmallVector<LoopStep, 3> side;

  bool isScattered() const {
    return llvm::any_of(side, [](const LoopStep &s) { return s.scattered; });
  }
};

/// A set of indices of a dim: `first` plus the offsets of nested loops.
struct DimPiece {
  int64_t first = 0;
  std::vector<Loop> loops; // outermost first
};

/// The core and the offset there, in elements, to which a map sends an index,
/// each as a sum of one table per dim of a tensor. If `isLocal` is false, the
/// map is into system memory, and there are no cores.
struct DimTables {
  bool isLocal = false;
  int64_t npus = 1;
  Tables cores, offsets;

  /// Computes the tables of `map` for a tensor of `sizes`. Returns false, with
  /// a reason, if the map has no offset, a size exceeds kMaxTableSize, a
  /// coordinate is not a sum of functions of single dims, or several dims go
  /// from core to core.
  bool compute(const layout::LayoutMap &map, layout::Sizes sizes, int64_t npus,
               layout::FailureReason error);
};

/// Splits the `size` indices of dim `d` into sets of indices, in order of their
/// first ones. Nested loops visit each set, with constant steps in all tensors
/// (`sides`).
std::vector<DimPiece> splitDim(llvm::ArrayRef<DimTables> sides, size_t d,
                               int64_t size);

/// Calls `take` with each combination of one set of indices (DimPiece) per dim
/// until it returns false. Returns false if `take` does, or else true.
bool forEachBox(
    llvm::ArrayRef<std::vector<DimPiece>> dims,
    llvm::function_ref<bool(llvm::ArrayRef<const DimPiece *>)> take);

/// A position of an element: its core, and its offset there.
struct Position {
  int64_t core = 0, offset = 0; // in elements
};

/// Returns the position `k` iterations of a loop with step `step` after `from`,
/// on `npus` cores.
Position advance(const Position &from, const LoopStep &step, int64_t npus,
                 int64_t k);

/// Removes the loop with the most iterations that satisfies `may` from `loops`
/// and returns it, or returns std::nullopt if there is none.
std::optional<Loop> takeLongest(std::vector<Loop> &loops,
                                llvm::function_ref<bool(const Loop &)> may);

/// Merges two loops into one if both stay in a core and, on every side, the
/// stride of the outer one is the stride of the inner one times its extent.
/// Repeats this as long as possible.
void mergeLoops(std::vector<Loop> &loops);

} // namespace mlir::npu

#endif // LAYOUT_LIB_DIALECT_NPU_UTILS_DIMLOOPS_H
