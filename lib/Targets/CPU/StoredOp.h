//===- StoredOp.h - An op on stored digits ----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models the loops that the lowering to linalg emits for an op if its tensors
// are stored in given layouts. The cost model reads the loops on stored digits
// from the analysis of the lowering (IterationSpace.h), and chooses the
// vectorized loop by the test of the kernels (LaneAccess.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_STOREDOP_H
#define LAYOUT_LIB_TARGETS_CPU_STOREDOP_H

#include "layout/Analysis/CostModel.h"
#include "layout/Interfaces/PaddingMasks.h"

namespace mlir::layout {

struct StoredOp {
  SmallVector<OperandAccess> operands; // inputs, then results
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> sizes; // of the loops
  SmallVector<bool> readsInit;
  ScalarBody body;
  /// The loops of the op over the digits in which its tensors are stored, or
  /// failure if convert-layout-to-linalg cannot lower the op with these
  /// layouts.
  FailureOr<IterationSpace> space = failure();

  static StoredOp get(Operation *op, const LoopsRule &rule,
                      const OpLayouts &layouts, const LayoutTable &table);

  /// Returns the digit that a kernel vectorizes: the last parallel digit of
  /// several iterations along which every accessed tensor is contiguous, or
  /// std::nullopt if there is none. Tensors that are read may also be invariant
  /// or, with `mayStride`, strided. Dynamic sizes count as `assumed`.
  std::optional<unsigned> findLane(const LoopsRule &rule, int64_t assumed,
                                   MLIRContext *context,
                                   bool mayStride = false) const;

  /// Returns the reduction digit whose vector lanes hold partial results, or
  /// std::nullopt if there is none. It has at least `least` iterations, and
  /// each accessed tensor is contiguous along it or invariant. The op must have
  /// one result, whose combiner is known. Dynamic sizes count as `assumed`.
  std::optional<unsigned> findReductionLane(const LoopsRule &rule,
                                            int64_t assumed,
                                            MLIRContext *context,
                                            int64_t least) const;

  /// Returns the trip count of the loop over digit `d` of `space`, with dynamic
  /// sizes counted as `assumed`, or 1 if the extent cannot be evaluated.
  int64_t getTrips(unsigned d, int64_t assumed) const;

  /// Returns the trip count of the loop that digit `lane` forms together with
  /// the parallel digits that every accessed tensor stores contiguously with
  /// it. For an elementwise op on row-major NCHW tensors, this is N * C * H *
  /// W. Dynamic sizes count as `assumed`; longer runs count as 2^40.
  int64_t getRun(const LoopsRule &rule, unsigned lane, int64_t assumed) const;

  /// Returns how many iterations of the loop that digit `lane` belongs to are
  /// stored inside the slowest reduction digit of operand `k`. For `a[k][w]`
  /// that is summed over k with lanes along w, this is the size of w. Dynamic
  /// sizes count as `assumed`.
  int64_t getRow(unsigned k, unsigned lane, int64_t assumed,
                 MLIRContext *context) const;

private:
  /// Returns true if `operands[k]` is a result, or a tensor whose elements the
  /// op reads. Returns false for scalars and unread inputs.
  bool isMet(const LoopsRule &rule, unsigned k) const;

  /// Returns, for each tensor that the op reads or writes, the map from the
  /// digits to its stored index, and whether the tensor is a result.
  SmallVector<std::pair<AffineMap, bool>> getMet(const LoopsRule &rule,
                                                 MLIRContext *context) const;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_STOREDOP_H
