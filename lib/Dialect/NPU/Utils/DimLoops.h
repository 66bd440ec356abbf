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

namespace mlir {
namespace npu {

/// What one iteration of a loop does on one side.
struct LoopStep {
  int64_t stride = 0;     // in elements; of scattered loops, from row to row
  bool scattered = false; // iteration k is in core (Q + k) mod X
};

struct Loop {
  int64_t extent = 1;
  LoopStep side[2]; // source, destination

  bool isScattered() const { return side[0].scattered || side[1].scattered; }
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

/// The pieces of dim `d`, in order of their first indices.
std::vector<DimPiece> splitDim(const DimTables &source, const DimTables &dest,
                               size_t d, int64_t size);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_NPU_UTILS_DIMLOOPS_H
