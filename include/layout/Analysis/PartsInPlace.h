//===- PartsInPlace.h - In-place concatenation and accumulation -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Determines from the IR, for any layouts, what is computed in place: a part of
// a concatenation in its slice of the result, which avoids a copy, and an
// accumulator in the memory of the result.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_PARTSINPLACE_H
#define LAYOUT_ANALYSIS_PARTSINPLACE_H

#include "mlir/IR/Operation.h"

namespace mlir::layout {

/// Returns true if an operand of a concatenation with a static shape may be
/// computed in its slice of the result. This requires that no earlier operand
/// of a concatenation, and none in another block, is the same tensor. Its
/// producer, if any, must be in the same block and write new memory: it is not
/// a view and does not accumulate into another tensor.
bool mayBeMadeInPlace(OpOperand &part);

/// Returns true if an operand of a concatenation has no other use and is
/// computed by a linalg op other than a fill, copy or transpose, or is a slice
/// of such a result. A concatenation in system memory then stores it as soon as
/// cores have computed it.
bool isStoredAtOnce(OpOperand &part);

/// Returns true if the init of an op needs no memory besides that of the
/// result: it is uninitialized, constant, a fill, or the result of a linalg op
/// without another use.
bool isMadeInResult(OpOperand &init);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_PARTSINPLACE_H
