//===- Structured.h - Structured ops on physical tensors --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers all ops that compute element by element: linalg ops, elementwise arith
// and math ops, and conversions between layouts (the structured op whose body
// returns its input). The loops come from IterationSpace.h. Operands are
// sliced, padded and expanded to fit them, and one linalg.generic is emitted.
//
// Padding changes the body as follows (P1 to P3 of docs/spec.md), with `valid`
// for "the index of every padded loop is below its size":
//
//   reduction over padding       acc' = select(valid, f(.., acc), acc)
//   result that states padding   value' = select(valid, value, acc or padding)
//   body that may trap           runs inside scf.if(valid)
//   otherwise                    also runs on padding; its result is unused
//
// PaddingMasks.h decides which loops need a mask.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STRUCTURED_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STRUCTURED_H

#include "Storage.h"
#include "layout/Interfaces/PaddingMasks.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// Describes an op that computes element by element, before lowering: its
/// loops, and how they index the logical dims of laid-out tensors. Lowering
/// emits it on their physical tensors.
struct StructuredOp {
  using Index = function_ref<Value(unsigned loop)>;

  SmallVector<OperandAccess> operands; // inputs, then inits
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> sizes; // of the loops
  /// For each result, true if the body reads the element of its init.
  SmallVector<bool> readsInit;
  /// True if the body may trap when it runs on padding.
  bool mayTrap = false;
  /// The computation of one iteration, for the analysis of padding
  /// (PaddingMasks.h).
  ScalarBody body;
  /// Emits the results of one iteration from the elements of the operands and
  /// the indices of the loops. If null, the op copies its only input.
  /// Iterations in padding, in which the index of a loop in `copyMask` is not
  /// below its size, then keep the element of the init if `readsInit`, else
  /// write the padding value of the result.
  std::function<SmallVector<Value>(OpBuilder &, Location, ValueRange, Index)>
      emitBody;
  SmallVector<unsigned> copyMask;
  /// The discardable attributes of the emitted linalg.generic, e.g. names that
  /// later passes match.
  SmallVector<NamedAttribute> attributes;

  unsigned numInputs() const { return operands.size() - readsInit.size(); }
};

/// Emits `op` on the physical tensors of `operands` and returns those of its
/// results. An operand is a scalar, or a physical tensor followed by its sizes
/// that are passed separately. If `op` cannot be lowered, calls `refuse`, fails
/// and emits nothing.
FailureOr<SmallVector<Value>> lowerStructured(OpBuilder &b, Location loc,
                                              const StructuredOp &op,
                                              ArrayRef<ValueRange> operands,
                                              FailureReason refuse);

/// Emits `op` as one linalg op, a linalg.generic or, for some copies, a
/// linalg.transpose, and returns the physical tensors of its results. `space`
/// has the loops, one per digit in which the operands are stored.
SmallVector<Value> lowerStructured(OpBuilder &b, Location loc,
                                   const StructuredOp &op,
                                   ArrayRef<ValueRange> operands,
                                   IterationSpace space);

/// Returns success if lowerStructured can lower `op`; otherwise calls `refuse`
/// with the reason and fails.
LogicalResult checkStructured(const StructuredOp &op, FailureReason refuse);

/// Returns true if the loops of `op`, which can be lowered, write every
/// position of the storage of `result`. Returns false if `op` is known to have
/// no iterations.
bool coversStorage(const StructuredOp &op, unsigned result);

/// Returns the loops, operand maps and body of `op`, a linalg op on tensors.
StructuredOp describeLinalgOp(linalg::LinalgOp op);

/// Returns true if `body` has an op that must not run on arbitrary operands,
/// such as an integer division or a tensor.extract.
bool mayTrapOnPadding(Block &body);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STRUCTURED_H
