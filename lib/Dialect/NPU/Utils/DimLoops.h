//===- DimLoops.h - One dim as evenly stepping loops ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of two maps over the same dim (Tables.h), split into loops in
// which both step evenly:
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

namespace mlir {
namespace npu {

/// What one iteration of a loop does on one side.
struct LoopStep {
  int64_t stride = 0;     // in elements; of scattered loops, from row to row
  bool scattered = false; // iteration k is in core (Q + k) mod X
};

struct Loop {
  int64_t extent = 1;
  llvm::SmallVector<LoopStep, 3> side;

  bool isScattered() const {
    return llvm::any_of(side, [](const LoopStep &s) { return s.scattered; });
  }
};

/// Indices of a dim: `first`, and what the loops add to it.
struct DimPiece {
  int64_t first = 0;
  std::vector<Loop> loops; // the outer one first
};

/// A map on a box as tables of core and offset.
struct DimTables {
  bool isLocal = false;
  int64_t npus = 1;
  Tables cores, offsets;

  bool compute(const layout::LayoutMap &map, layout::Sizes sizes, int64_t npus,
               layout::Refusal error);
};

/// The pieces of dim `d` of all sides, in order of their first indices.
std::vector<DimPiece> splitDim(llvm::ArrayRef<DimTables> sides, size_t d,
                               int64_t size);

/// Calls `take` with each choice of one piece of every dim, until it is false.
bool forEachBox(
    llvm::ArrayRef<std::vector<DimPiece>> dims,
    llvm::function_ref<bool(llvm::ArrayRef<const DimPiece *>)> take);

/// Where a box starts, on one side.
struct Position {
  int64_t core = 0, offset = 0; // in elements
};

/// The position after `k` iterations.
Position advance(const Position &from, const LoopStep &step, int64_t npus,
                 int64_t k);

/// Takes the longest loop that qualifies out of `loops`.
std::optional<Loop> takeLongest(std::vector<Loop> &loops,
                                llvm::function_ref<bool(const Loop &)> may);

/// Makes two loops one where all sides walk them as one.
void mergeLoops(std::vector<Loop> &loops);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_NPU_UTILS_DIMLOOPS_H
