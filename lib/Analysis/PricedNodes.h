//===- PricedNodes.h - Which nodes have prices ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op has a price in each configuration, stated or chosen. Ties have none,
// and neither has what is made in any layout at no cost, or has a tensor whose
// encoding is of another project, of which no price could be made.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_PRICEDNODES_H
#define LAYOUT_LIB_ANALYSIS_PRICEDNODES_H

#include "layout/Analysis/Program.h"

namespace mlir {
namespace layout {

inline bool isPriced(const NodeClass &node) {
  if (node.isTie() || isFreeSource(node.op, node.rule))
    return false;
  auto isKnown = [](Value value) {
    return !isa<RankedTensorType>(value.getType()) || hasKnownLayout(value);
  };
  return llvm::all_of(node.op->getOperands(), isKnown) &&
         llvm::all_of(node.op->getResults(), isKnown);
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ANALYSIS_PRICEDNODES_H
