//===- PaddingStates.h - What padding holds, as a choice --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Adds to the candidates of a program those that state what padding holds (P1
// of docs/spec.md). A state is offered where it saves work:
//
//  * a reduction over padding of operands that hold its neutral element needs
//    no mask;
//  * who makes a tensor that is wanted with a state, and makes that state from
//    the states of its own operands, offers it; so does a view of, or a jump
//    with, a tensor that has it.
//
//   %1 = conv(%0), 17 channels in tiles of 16
//   %2 = relu(%1)
//   %3 = conv(%2)    offers: %2 padded with zero, no mask
//                    -> relu offers: %1 and %2 padded with zero
//                    -> conv does not: a sum with a NaN in %0 is no zero
//
// Whoever makes a tensor without the state that is wanted leaves it to a
// conversion, which writes the padding alone where nobody else needs the
// tensor.
//
// Laws:
//  * the candidates that were there stay, in their order, before new ones;
//  * a program without padding, or whose padding costs nothing, gains none.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_PADDINGSTATES_H
#define LAYOUT_LIB_TARGETS_CPU_PADDINGSTATES_H

#include "layout/Analysis/Candidates.h"

namespace mlir {
namespace layout {

/// At most `limits.configsPerOp` more for each class. `masksCost`: a reduction
/// that has to be masked is dearer than one that goes through padding.
void addPaddingStates(const Program &program, bool masksCost, CostModel &costs,
                      const CandidateLimits &limits,
                      std::vector<Candidates> &candidates);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_PADDINGSTATES_H
