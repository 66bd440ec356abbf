//===- TrwsSweep.h - A pass along an order of the variables -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass of the bounds, which move costs along an order of the variables and
// back.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SEARCH_TRWSSWEEP_H
#define LAYOUT_LIB_SOLVER_SEARCH_TRWSSWEEP_H

#include "llvm/ADT/ArrayRef.h"

namespace mlir::layout {

/// Calls fn(variable, from, to) for each variable along `order`, or in reverse
/// order. A slot is a factor and the position of the variable in it. `from` has
/// the slots in factors with variables visited earlier, `to` those in factors
/// with variables visited later. `before` and `after` have them for the forward
/// order.
template <typename Slots, typename Fn>
void sweep(llvm::ArrayRef<unsigned> order, const Slots &before,
           const Slots &after, bool isForward, Fn fn) {
  for (unsigned i = 0; i < order.size(); ++i) {
    unsigned v = isForward ? order[i] : order[order.size() - 1 - i];
    fn(v, isForward ? before[v] : after[v], isForward ? after[v] : before[v]);
  }
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_SEARCH_TRWSSWEEP_H
