//===- Guard.h - Masks of padded reductions taken out of the body -*- C++ -*-=//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts whose blocks do not divide a dim give bodies of the form
//
//   yield select(valid, next, old)
//
// where `valid` is a conjunction of bounds on loop indices and `old` the
// accumulator. Evaluating that in every step costs as much as the step. Two
// kinds of conjuncts are taken out:
//
//   - one that holds for all steps or for none (it does not depend on a
//     reduction dim) is applied once, after the reduction, between the final
//     and the initial accumulator;
//   - a bound `a*d + rest < limit` (a > 0, d a reduction dim, rest of parallel
//     and outer reduction dims) ends the loop over d early:
//     d < ceil((limit - rest) / a).
//
// Law: the steps that are executed, and the select afterwards, give the same
// accumulators as the masked body, element by element.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_GUARD_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_GUARD_H

#include "Kernel.h"

namespace mlir::layout {

/// The steps with factor * dim + rest < 0.
struct LoopBound {
  unsigned dim;    // the reduction dim whose loop ends early
  int64_t factor;  // positive
  AffineExpr rest; // over the other kernel dims
};

struct Guards {
  /// The value to accumulate when every bound and every condition holds; null
  /// when the body is not masked.
  Value next;
  SmallVector<LoopBound> bounds;
  /// Conditions of the body (i1 values) that do not depend on a reduction.
  SmallVector<Value> afterwards;
};

/// Takes the mask of the root's only result apart. Nothing when there is no
/// mask, when a conjunct is of neither kind, or when a bound differs between
/// the points of one `tile` (extents per kernel dim).
std::optional<Guards> findGuards(const Kernel &kernel, ArrayRef<int64_t> tile);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_GUARD_H
