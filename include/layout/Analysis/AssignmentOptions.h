//===- AssignmentOptions.h - What is minimized ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of what a decision may aim at; see CostModel.h.
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

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_ASSIGNMENTOPTIONS_H
