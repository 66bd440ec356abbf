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
  /// The time of ops and conversions.
  time,
  /// The bytes that conversions move. Ops keep to preferred tiles if any.
  bytes
};

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_ASSIGNMENTOPTIONS_H
