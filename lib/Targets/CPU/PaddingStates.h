//===- PaddingStates.h - Stated padding as a choice -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds candidates that state padding (P1 of docs/spec.md), to save work:
//
//  * A reduction needs no mask if the padding of its operands holds its neutral
//    element.
//  * A producer gets a candidate for the state that a consumer wants if it can
//    derive the state from its operands. The same holds for views and values
//    that control flow forwards.
//
//   %1 = conv(%0), 17 channels in tiles of 16
//   %2 = relu(%1)
//   %3 = conv(%2)    adds: %2 padded with zero, no mask
//                    -> relu adds: %1 and %2 padded with zero
//                    -> conv does not: a sum with a NaN in %0 is not zero
//
// If the producer does not establish the state, a conversion does. It writes
// only the padding if the tensor has no other use.
//
// Laws:
//  * existing candidates stay in order, before new ones;
//  * a program without padding, or whose padding costs nothing, gains none.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_PADDINGSTATES_H
#define LAYOUT_LIB_TARGETS_CPU_PADDINGSTATES_H

#include "layout/Analysis/Candidates.h"

namespace mlir::layout {

/// Adds candidates whose layouts state padding to each node class, at most as
/// many as `limits` has per op. `masksCost` is true if a reduction that skips
/// padding by a mask costs more than one that includes padding.
void addPaddingStates(const Program &program, bool masksCost, CostModel &costs,
                      const CandidateLimits &limits,
                      std::vector<Candidates> &candidates);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_PADDINGSTATES_H
