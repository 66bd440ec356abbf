//===- ReachedStorage.h - What of storage loops reach -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which positions of an operand the digits of an iteration space lead to. The
// space of a result has these laws (IterationSpace.cpp checks them):
//  * no position is written twice: padding of a loop is stored beside elements;
//  * padding that its type states can be written as ranges of its axes.
//
//   a: tensor<4xf32, buffer(a floordiv 2 mod 4, a floordiv 16, a mod 2)>
//     digits a/16 a/8%2 a/2%4 a%2: does not store all of loop a, whose padding
//     at a/8%2 = 1 would meet elements
//   a: tensor<3xf32, buffer(a, a mod 2)>
//     reaches positions (i, i mod 2), which are no box
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_REACHEDSTORAGE_H
#define LAYOUT_INTERFACES_REACHEDSTORAGE_H

#include "layout/Interfaces/IterationSpace.h"

namespace mlir {
namespace layout {

/// Whether two indices of `loop`, padding included, have two positions.
template <typename Space>
bool storesAllOf(const Space &space, unsigned operand, unsigned loop) {
  return llvm::all_of(space.digitsOf[loop], [&](unsigned digit) {
    return space.digits[digit].extent.isConstantEqual(1) ||
           llvm::any_of(space.operands[operand], [&](const auto &axis) {
             return llvm::is_contained(axis.digits, digit);
           });
  });
}

/// Whether the digits reach one range of each axis, and every position in it ..
bool reachesBox(const IterationSpace &space, unsigned operand);

/// .. and this is all that storage has.
bool reachesAll(const IterationSpace &space, unsigned operand);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTERFACES_REACHEDSTORAGE_H
