//===- AssignProgram.h - Assignment of a program ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_ASSIGNPROGRAM_H
#define LAYOUT_LIB_ANALYSIS_ASSIGNPROGRAM_H

#include "layout/Analysis/Assignment.h"

namespace mlir::layout {

class IncrementalChainModel;

/// Computes the assignment of `program`, by `sequences` if not null and if it
/// can.
LayoutAssignment assignLayouts(Operation *root, Program program,
                               CostModel &costs, const CandidateLimits &limits,
                               const SolveOptions &options,
                               const WeightOptions &weights = {},
                               IncrementalChainModel *sequences = nullptr);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_ASSIGNPROGRAM_H
