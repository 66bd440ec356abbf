//===- Weights.h - Stored layouts of constants ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A weight is a constant tensor. Equal constants of one type are one weight,
// which is stored once in each layout that a node requests.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_MEMORY_WEIGHTS_H
#define LAYOUT_LIB_ANALYSIS_MEMORY_WEIGHTS_H

#include "layout/Analysis/Assignment.h"

namespace mlir::layout {

struct Weight {
  /// One of the equal constants, which represents them.
  Value value;
  struct Use {
    unsigned node;
    SmallVector<unsigned, 1> operands;
  };
  /// The nodes that read any of the equal constants, sorted, with the operands.
  SmallVector<Use, 1> uses;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(value.getType());
  }
};

/// Collects the weights of `program` in the order in which nodes read them.
std::vector<Weight> collectWeights(const Program &program);

/// Returns the cost of storing a constant of `type` in a layout once: that of
/// its bytes and of its conversion, by the percentages of `options`.
Cost getWeightCost(RankedTensorType type, LayoutId layout,
                   const WeightOptions &options, CostModel &costs);

/// Returns the bytes of all weights in all layouts in which they are stored if
/// the nodes have the configurations `choice`.
int64_t countWeightBytes(const LayoutAssignment &assignment,
                         ArrayRef<unsigned> choice, CostModel &costs);

/// Sets `weightBytes` and `weightCost` of an assignment for the configurations
/// that it has chosen.
void countWeights(LayoutAssignment &assignment, CostModel &costs);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_MEMORY_WEIGHTS_H
