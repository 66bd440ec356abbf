//===- Weights.h - Constants and the layouts that they are kept in -*- C++ ===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight is a constant, however many ops and functions make it: equal numbers
// of one type are one. It is kept once in each layout that some node asks for.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_WEIGHTS_H
#define LAYOUT_LIB_ANALYSIS_WEIGHTS_H

#include "layout/Analysis/Assignment.h"

namespace mlir {
namespace layout {

struct Weight {
  /// One of the constants.
  Value value;
  struct Use {
    unsigned node;
    SmallVector<unsigned, 1> operands;
  };
  /// By node, ascending.
  SmallVector<Use, 1> uses;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(value.getType());
  }
};

/// In the order in which nodes read them.
std::vector<Weight> collectWeights(const Program &program);

/// What it costs to keep a weight in a layout, once.
Cost getWeightCost(RankedTensorType type, LayoutId layout,
                   const WeightOptions &options, CostModel &costs);

/// What a choice keeps, in bytes.
int64_t countWeightBytes(const LayoutAssignment &assignment,
                         ArrayRef<unsigned> choice, CostModel &costs);

/// What an assignment keeps, into its `weightBytes` and `weightCost`.
void countWeights(LayoutAssignment &assignment, CostModel &costs);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ANALYSIS_WEIGHTS_H
