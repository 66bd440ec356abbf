//===- AssignmentOptions.h - Objectives of an assignment --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objectives that an assignment can minimize; see CostModel.h.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_ASSIGNMENTOPTIONS_H
#define LAYOUT_ANALYSIS_ASSIGNMENTOPTIONS_H

namespace mlir::layout {

enum class Objective {
  /// Minimizes the modeled time of ops and conversions.
  time,
  /// Minimizes the bytes that conversions move. An op that prefers tiled
  /// layouts, such as a convolution, only chooses among the cheapest of these.
  bytes
};

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_ASSIGNMENTOPTIONS_H
