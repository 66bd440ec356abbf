//===- StoredOp.h - An op on stored digits ----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the lowering of an op to linalg will emit when its tensors are stored in
// given layouts, as far as prices ask: its loops on stored digits, from the
// same analysis (IterationSpace.h), and which of them can be on lanes, by the
// same question (LaneAccess.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_STOREDOP_H
#define LAYOUT_LIB_TARGETS_CPU_STOREDOP_H

#include "layout/Analysis/CostModel.h"
#include "layout/Interfaces/PaddingMasks.h"

namespace mlir {
namespace layout {

struct StoredOp {
  SmallVector<OperandAccess> operands; // inputs, then results
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> sizes; // of the loops
  SmallVector<bool> readsInit;
  ScalarBody body;
  /// Fails where the lowering refuses.
  FailureOr<IterationSpace> space = failure();

  static StoredOp get(Operation *op, const LoopsRule &rule,
                      const OpLayouts &layouts, const LayoutTable &table);

  /// Returns the digit that a kernel puts on its lanes: the last parallel one
  /// along which every tensor that it meets moves to the next element. A tensor
  /// that is read may also not move, and with `mayStride` move by a few
  /// elements. Dynamic sizes count as `assumed`.
  std::optional<unsigned> findLane(const LoopsRule &rule, int64_t assumed,
                                   MLIRContext *context,
                                   bool mayStride = false) const;

  /// Returns the digit whose lanes hold parts of one result: a reduction of at
  /// least `least` steps along which some tensor moves to the next element and
  /// none elsewhere.
  std::optional<unsigned> findReductionLane(const LoopsRule &rule,
                                            int64_t assumed,
                                            MLIRContext *context,
                                            int64_t least) const;

  /// How often digit `d` runs.
  int64_t getTrips(unsigned d, int64_t assumed) const;

  /// How often digit `lane` runs together with the parallel digits that every
  /// tensor that is met goes on by where the lane ends: these are one loop.
  int64_t getRun(const LoopsRule &rule, unsigned lane, int64_t assumed) const;

  /// How many positions of the loop of digit `lane` operand `k` stores between
  /// two steps of its outermost reduction, in as many digits as it likes.
  int64_t getRow(unsigned k, unsigned lane, int64_t assumed,
                 MLIRContext *context) const;

private:
  /// Whether operand `k` is a tensor that is read or written.
  bool isMet(const LoopsRule &rule, unsigned k) const;

  /// The map of each tensor that is met, and whether it is a result.
  SmallVector<std::pair<AffineMap, bool>> getMet(const LoopsRule &rule,
                                                 MLIRContext *context) const;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_STOREDOP_H
