//===- Structured.h - Structured ops on physical tensors --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one way in which anything that computes element by element is lowered:
// linalg ops, elementwise arith and math, and conversions between layouts (the
// structured op whose body returns its input). The loops come from
// IterationSpace.h, operands are sliced, padded and expanded to fit them, and
// one linalg.generic is emitted.
//
// What padding does to the body (P1 to P3 of docs/spec.md): with `valid` for
// "every padded loop is below its size",
//   reduction over padding       acc' = select(valid, f(.., acc), acc)
//   result that states padding   value' = select(valid, value, acc or padding)
//   body that may trap           runs inside scf.if(valid)
//   all else                     runs on padding, and nobody looks at the
//   result
// PaddingMasks.h says which loops need a mask.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STRUCTURED_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STRUCTURED_H

#include "Storage.h"
#include "layout/Interfaces/PaddingMasks.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
namespace layout {

/// A structured op in logical terms.
struct StructuredOp {
  using Index = function_ref<Value(unsigned loop)>;

  SmallVector<OperandAccess> operands; // inputs, then inits
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> sizes; // of the loops
  /// Per result: whether the body looks at the element that was there.
  SmallVector<bool> readsInit;
  /// Whether running the body on padding could trap.
  bool mayTrap = false;
  /// What it computes, to be evaluated on padding.
  ScalarBody body;
  /// The results at one point. Null: a copy of the only input, whose plan knows
  /// the loops past whose size the result gets its padding (`copyMask`).
  std::function<SmallVector<Value>(OpBuilder &, Location, ValueRange, Index)>
      emitBody;
  SmallVector<unsigned> copyMask;
  /// For the generic, such as names that later passes look for.
  SmallVector<NamedAttribute> attributes;

  unsigned numInputs() const { return operands.size() - readsInit.size(); }
};

/// Emits `op` on converted operands (see Storage.h; scalars are single values)
/// and returns the physical results. Where it refuses, nothing was emitted.
FailureOr<SmallVector<Value>> lowerStructured(OpBuilder &b, Location loc,
                                              const StructuredOp &op,
                                              ArrayRef<ValueRange> operands,
                                              Refusal refuse);

/// The same over loops that are known already.
SmallVector<Value> lowerStructured(OpBuilder &b, Location loc,
                                   const StructuredOp &op,
                                   ArrayRef<ValueRange> operands,
                                   IterationSpace space);

/// Whether lowerStructured will succeed.
LogicalResult checkStructured(const StructuredOp &op, Refusal refuse);

/// Whether the loops of `op`, which can be lowered, write every position of the
/// storage of a result.
bool coversStorage(const StructuredOp &op, unsigned result);

/// A linalg op on tensors in these terms.
StructuredOp describeLinalgOp(linalg::LinalgOp op);

/// True if the ops of a body must not run on arbitrary operands.
bool mayTrapOnPadding(Block &body);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STRUCTURED_H
