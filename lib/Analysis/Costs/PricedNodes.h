//===- PricedNodes.h - Nodes with prices ------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op has a price in each configuration, fixed or chosen. Flow classes
// (Program.h), rematerializable values, and ops with tensors of foreign
// encodings have none.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_COSTS_PRICEDNODES_H
#define LAYOUT_LIB_ANALYSIS_COSTS_PRICEDNODES_H

#include "layout/Analysis/Program.h"

namespace mlir::layout {

inline bool isPriced(const NodeClass &node) {
  if (node.isFlowClass() || isRematerializable(node.op, node.rule))
    return false;
  auto isKnown = [](Value value) {
    return !isa<RankedTensorType>(value.getType()) || hasKnownLayout(value);
  };
  return llvm::all_of(node.op->getOperands(), isKnown) &&
         llvm::all_of(node.op->getResults(), isKnown);
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_COSTS_PRICEDNODES_H
