//===- PaddingMasks.h - Where padding must not be computed on ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of an op on physical tensors also reach padding. At some of them
// the value of the body must not be written (P1 to P3 of docs/spec.md):
//
//   reduction over padding        unless the padding of the inputs is known and
//                                 the body, evaluated on it, returns the
//                                 accumulator
//   result that states padding    unless the body, evaluated on the padding of
//                                 the inputs, makes what is stated
//
//   sum over c of x(c) * w(c), 17 channels in tiles of 16
//     padding of x and w open     masked at c
//     both hold zero              0 * 0 + acc = acc: no mask
//     x holds zero                masked at c: w may hold a NaN
//
// What is decided here is priced by the assignment (CostModel.h) and emitted by
// the lowering to linalg.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_PADDINGMASKS_H
#define LAYOUT_INTERFACES_PADDINGMASKS_H

#include "layout/Interfaces/IterationSpace.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace mlir {
namespace layout {

/// What an op computes for one element.
struct ScalarBody {
  /// The inputs, then one argument for each result ..
  Block *block = nullptr;
  /// .. or an op whose operands are the inputs; neither for a copy, and for
  /// what is not known.
  Operation *op = nullptr;
  bool isCopy = false;
};

struct PaddingMasks {
  /// Per result, the padded loops at which the value is not written.
  SmallVector<SmallVector<unsigned>> loops;
  /// Per result, what stands there instead; null for the element before.
  SmallVector<TypedAttr> instead;
};

/// What operand `k` holds wherever loop `loop` is past its size; null if that
/// is not known.
TypedAttr getPaddingAlong(ArrayRef<OperandAccess> operands,
                          const IterationSpace &space, unsigned k,
                          unsigned loop);

/// `operands` are inputs and then results, one for each entry of `readsInit`,
/// which says whether the body looks at the element that was there. `copyMask`
/// are the loops past whose size the result of a copy gets its padding.
PaddingMasks findPaddingMasks(ArrayRef<OperandAccess> operands,
                              ArrayRef<utils::IteratorType> iterators,
                              ArrayRef<bool> readsInit, const ScalarBody &body,
                              const IterationSpace &space,
                              ArrayRef<unsigned> copyMask = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTERFACES_PADDINGMASKS_H
