//===- PartsInPlace.h - Parts made where the whole is -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of a concatenation needs no copy where it is made in its place, and
// what is accumulated into no memory where it is made in that of the result.
// This is what the program says about that, whatever the layouts.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_PARTSINPLACE_H
#define LAYOUT_ANALYSIS_PARTSINPLACE_H

#include "mlir/IR/Operation.h"

namespace mlir {
namespace layout {

/// Whether the operand of a concatenation may be made in its place: it is no
/// part of an earlier concatenation, and made in memory of its own, which is no
/// view of another tensor and not what another one was accumulated in.
bool mayBeMadeInPlace(OpOperand &part);

/// Whether the operand of a concatenation in system memory, made by cores for
/// nobody else, is stored there as soon as it is made.
bool isStoredAtOnce(OpOperand &part);

/// Whether what an op starts from is made in the place of the result: nothing,
/// or one number.
bool isMadeInResult(OpOperand &init);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_PARTSINPLACE_H
