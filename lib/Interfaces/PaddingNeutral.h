//===- PaddingNeutral.h - Reductions neutral to padding ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether a reduction step on known padding has no effect, and whether
// an elementwise op computes a wanted padding (P2 of docs/spec.md), by
// evaluating the body:
//
//   mulf(0, 0) = 0, addf(acc, 0) = acc     a sum of products, padded with zero
//   mulf(0, x)                             unknown: x may be a NaN
//   maximumf(addf(0, 0), 0) = 0            bias and relu keep zero
//   exp(0) = 1                             does not keep zero
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_INTERFACES_PADDINGNEUTRAL_H
#define LAYOUT_LIB_INTERFACES_PADDINGNEUTRAL_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace mlir::layout {

/// Returns true if `body` is known to return the old element of result `result`
/// if each input i has the value `inputs[i]`, or any value if `inputs[i]` is
/// null. The arguments of `body` are the inputs and then one for each result.
bool returnsAccumulator(Block &body, ArrayRef<TypedAttr> inputs,
                        unsigned result);

/// Returns true if result `result` of `body` is known to be `wanted` if each
/// input i has the value `inputs[i]`, or any value if `inputs[i]` is null.
bool makesPadding(Block &body, ArrayRef<TypedAttr> inputs, unsigned result,
                  TypedAttr wanted);

/// Returns true if the elementwise `op` is known to compute `wanted` if all
/// elements of each operand i are `inputs[i]`, or any values if `inputs[i]` is
/// null.
bool makesPadding(Operation &op, ArrayRef<TypedAttr> inputs, unsigned result,
                  TypedAttr wanted);

} // namespace mlir::layout

#endif // LAYOUT_LIB_INTERFACES_PADDINGNEUTRAL_H
