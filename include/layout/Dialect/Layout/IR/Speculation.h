//===- Speculation.h - Ops that may run on any operands ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that a program may run on operands that its source does not compute: on
// padding, and in branches that it does not take.
//
//     arith.addi %a, %b       yes
//     arith.remsi %a, %c16    yes
//     arith.remsi %a, %b      no: the processor traps if %b is 0
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_SPECULATION_H
#define LAYOUT_DIALECT_LAYOUT_IR_SPECULATION_H

namespace mlir {
class Operation;

namespace layout {

/// Returns true if `op` and the ops in its regions are defined for all values
/// of their operands. This is mlir::isSpeculatable, which accepts remainders
/// and floor divisions by 0 (docs/upstream/speculate-remainders.mlir), without
/// these.
bool canSpeculate(Operation *op);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_DIALECT_LAYOUT_IR_SPECULATION_H
