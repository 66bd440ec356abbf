//===- MaskHoisting.h - Hoist masks of padded reductions --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves masks out of reductions. Layouts whose blocks do not divide a dim
// produce bodies of the form
//
//   yield select(valid, next, old)
//
// where `valid` is a conjunction of bounds on loop indices and `old` is the
// accumulator. Evaluating the mask in every step costs as much as the step. Two
// kinds of conjuncts are removed from the body:
//
//   - A condition that does not depend on a reduction dim is applied once,
//     after the reduction, between the final and the initial accumulator.
//   - A bound `a*d + rest < limit` (a > 0, d a reduction dim, rest of parallel
//     and outer reduction dims) ends the loop over d early:
//     d < ceil((limit - rest) / a).
//
// Law: the executed steps and the select after them compute the same
// accumulators as the masked body, element by element.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_MASKHOISTING_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_MASKHOISTING_H

#include "Kernels/Kernel.h"

namespace mlir::layout {

/// A bound on a reduction loop, of which only the iterations with factor * d +
/// rest < 0 are executed. d is the index of the loop, and `rest` an expression
/// of the indices of other loops.
struct LoopBound {
  unsigned dim;    // the reduction dim whose loop ends early
  int64_t factor;  // positive
  AffineExpr rest; // over the other kernel dims
};

struct HoistedMasks {
  /// The value that the body yields in an iteration that is not masked.
  Value next;
  SmallVector<LoopBound> bounds;
  /// Conditions of the body (i1 values) that do not depend on a reduction. If
  /// one of them is false, the result is the initial value of the accumulator,
  /// selected after the reduction.
  SmallVector<Value> afterwards;
};

/// Finds the conditions under which the body of the root changes its only
/// accumulator, and splits them into `bounds` and `afterwards`. Returns
/// std::nullopt if there are none, if one depends on a reduction loop or on
/// elements and is not a bound on a loop, or if a bound differs between points
/// of a tile. `tile` has the extent of tiles per kernel dim.
std::optional<HoistedMasks> findHoistableMasks(const Kernel &kernel,
                                               ArrayRef<int64_t> tile);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_MASKHOISTING_H
