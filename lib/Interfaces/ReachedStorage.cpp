//===- ReachedStorage.cpp - Storage reached by loops ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/ReachedStorage.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::layout;

static bool isUnit(const IterationSpace &space, unsigned digit) {
  return space.digits[digit].extent.isConstantEqual(1);
}

bool layout::storesAllOf(const IterationSpace &space, unsigned operand,
                         unsigned loop) {
  return llvm::all_of(space.digitsOf[loop], [&](unsigned digit) {
    return isUnit(space, digit) ||
           llvm::any_of(space.operands[operand], [&](const AxisAccess &axis) {
             return llvm::is_contained(axis.digits, digit);
           });
  });
}

bool layout::reachesBox(const IterationSpace &space, unsigned operand) {
  llvm::SmallBitVector seen(space.digits.size());
  for (const AxisAccess &axis : space.operands[operand]) {
    if (axis.digits.empty())
      return false;
    for (unsigned digit : axis.digits) {
      if (seen[digit] && !isUnit(space, digit))
        return false;
      seen.set(digit);
    }
  }
  return true;
}

bool layout::reachesAll(const IterationSpace &space, unsigned operand) {
  return reachesBox(space, operand) &&
         llvm::all_of(space.operands[operand], [](const AxisAccess &axis) {
           return axis.required.isProvablyAtLeast(axis.extent);
         });
}
