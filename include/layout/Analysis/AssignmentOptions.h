//===- AssignmentOptions.h - What is minimized, and how ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of what a decision may aim at and of the rules it may go by; see
// CostModel.h and Strategies.h.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_ASSIGNMENTOPTIONS_H
#define LAYOUT_ANALYSIS_ASSIGNMENTOPTIONS_H

namespace mlir {
namespace layout {

enum class Objective {
  /// Ops and conversions, in time.
  time,
  /// What conversions move, where ops that work on channels insist on tiles.
  bytes
};

enum class Strategy {
  /// The least cost.
  optimal,
  // Rules that others choose by.
  forward,
  priority,
  rank,
  majority,
  bidirectional,
  greedy
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_ASSIGNMENTOPTIONS_H
