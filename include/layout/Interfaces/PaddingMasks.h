//===- PaddingMasks.h - Masks for loops over padding ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of an op on physical tensors also iterate over padding. In some of
// these iterations the value of the body must not be written (P1 to P3 of
// docs/spec.md):
//
//   loop at padding of             | masked unless
//   a reduction                    | the inputs' padding is known, and the body
//                                  | maps it to the accumulator
//   a result that states padding   | the body maps the inputs' padding to the
//                                  | stated value
//
//   sum over c of x(c) * w(c), 17 channels in tiles of 16
//     padding of x and w unknown  masked at c
//     both paddings hold zero     0 * 0 + acc = acc: no mask
//     that of x holds zero        masked at c: that of w may hold a NaN
//
// The masks are priced by the assignment (CostModel.h) and emitted by the
// lowering to linalg.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_PADDINGMASKS_H
#define LAYOUT_INTERFACES_PADDINGMASKS_H

#include "layout/Interfaces/IterationSpace.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace mlir::layout {

/// The scalar computation of an op: a body, one op, or a copy. It is unknown if
/// both pointers are null and `isCopy` is false.
struct ScalarBody {
  /// The body, or null. Its arguments are the inputs, then one argument for
  /// each result.
  Block *block = nullptr;
  /// An elementwise op whose operands are the inputs, instead of a body; or
  /// null.
  Operation *op = nullptr;
  bool isCopy = false;
};

struct PaddingMasks {
  /// Per result, the loops that are masked: iterations of these loops beyond
  /// their size do not write the value of the body.
  SmallVector<SmallVector<unsigned>> loops;
  /// Per result, the value written instead, or a null attribute to keep the old
  /// element.
  SmallVector<TypedAttr> instead;
};

/// Returns the value of operand `k` in the iterations of `loop` beyond the size
/// of the loop, or a null attribute if the value is not known.
TypedAttr getPaddingAlong(ArrayRef<OperandAccess> operands,
                          const IterationSpace &space, unsigned k,
                          unsigned loop);

/// Computes the masks of an op. `operands` are the inputs, followed by the
/// results. `readsInit` has one entry per result, which is true if the body
/// reads the old element of the result. `copyMask` lists the loops to mask in a
/// copy whose result type states the value of padding. It is not used for other
/// ops.
PaddingMasks findPaddingMasks(ArrayRef<OperandAccess> operands,
                              ArrayRef<utils::IteratorType> iterators,
                              ArrayRef<bool> readsInit, const ScalarBody &body,
                              const IterationSpace &space,
                              ArrayRef<unsigned> copyMask = {});

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_PADDINGMASKS_H
