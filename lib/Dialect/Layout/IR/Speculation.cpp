//===- Speculation.cpp - Ops that may run on any operands -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Speculation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

/// Returns false if `op` is a remainder or floor division, unless its divisor
/// is a constant for which it is always defined.
static bool hasSafeDivisor(Operation *op) {
  if (!isa<arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp>(op))
    return true;
  APInt divisor;
  return matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
         !divisor.isZero() && (isa<arith::RemUIOp>(op) || !divisor.isAllOnes());
}

bool layout::canSpeculate(Operation *op) {
  return isSpeculatable(op) && !op->walk([](Operation *inner) {
                                    return hasSafeDivisor(inner)
                                               ? WalkResult::advance()
                                               : WalkResult::interrupt();
                                  }).wasInterrupted();
}
