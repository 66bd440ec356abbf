//===- PaddingNeutral.h - Reductions that padding leaves alone --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether one step of a reduction on known padding changes nothing, and
// whether an elementwise op makes the padding that is wanted (P2 of
// docs/spec.md), by evaluating the body:
//
//   mulf(0, 0) = 0, addf(acc, 0) = acc     a sum of products, padded with zero
//   mulf(0, x)                             not known: x may be a NaN
//   maximumf(addf(0, 0), 0) = 0            bias and relu keep zero
//   exp(0) = 1                             does not
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_INTERFACES_PADDINGNEUTRAL_H
#define LAYOUT_LIB_INTERFACES_PADDINGNEUTRAL_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace mlir {
namespace layout {

/// True if `body` returns the element that result `result` had before, when
/// each input holds `inputs[i]` (null: anything). Its arguments are the inputs
/// and then one for each result.
bool returnsAccumulator(Block &body, ArrayRef<TypedAttr> inputs,
                        unsigned result);

/// True if result `result` of `body` is `wanted` when each input holds
/// `inputs[i]` (null: anything).
bool makesPadding(Block &body, ArrayRef<TypedAttr> inputs, unsigned result,
                  TypedAttr wanted);

/// The same of an op that is applied to each element.
bool makesPadding(Operation &op, ArrayRef<TypedAttr> inputs, unsigned result,
                  TypedAttr wanted);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_INTERFACES_PADDINGNEUTRAL_H
