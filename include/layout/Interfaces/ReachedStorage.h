//===- ReachedStorage.h - Storage reached by loops --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Determines which positions of an operand the mixed-radix digits of an
// iteration space reach. The space of a result has these laws (checked by
// IterationSpace.cpp):
//  * no position is written twice: iterations of a loop over padding write
//    positions that hold no element;
//  * padding stated by the type is ranges of the axes.
//
//   a: tensor<4xf32, buffer(a floordiv 2 mod 4, a floordiv 16, a mod 2)>
//     digits a/16 a/8%2 a/2%4 a%2: no axis stores a/8%2, so the iterations of
//     loop a with a/8%2 = 1, which are padding, would overwrite elements
//   a: tensor<3xf32, buffer(a, a mod 2)>
//     reaches positions (i, i mod 2), which are not a box
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_REACHEDSTORAGE_H
#define LAYOUT_INTERFACES_REACHEDSTORAGE_H

#include "layout/Interfaces/IterationSpace.h"

namespace mlir::layout {

/// Returns true if all indices of `loop`, those of padding included, are known
/// to have different positions in the storage of the operand: if each digit of
/// the loop, except those with one value, is among the digits that some axis
/// fuses in row-major order. False proves nothing.
bool storesAllOf(const IterationSpace &space, unsigned operand, unsigned loop);

/// Returns true if the positions of `axis` are exactly all values of the digits
/// that it fuses in row-major order.
inline bool isExact(const AxisAccess &axis) {
  return !axis.digits.empty() && axis.required == axis.extent;
}

/// Returns true if the positions of `operand` that the loops reach are known to
/// be a box: all combinations of one range per stored axis.
bool reachesBox(const IterationSpace &space, unsigned operand);

/// Returns true if the loops are known to reach every position in the storage
/// of `operand`, padding included.
bool reachesAll(const IterationSpace &space, unsigned operand);

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_REACHEDSTORAGE_H
