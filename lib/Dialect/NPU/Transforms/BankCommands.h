//===- BankCommands.h - Simultaneous uses of local memory -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the commands of a function that use several tensors of local memory
// at the same time, for BankPlacement.h:
//
//   linalg.add ins(%a, %b) outs(%c)     three sides
//   linalg.exp ins(%a) outs(%a)         one: the result is in its place
//   npu.parallel {                      each op that computes, and the region:
//     npu.copy %x to %d                 %d on the side of the DMA engine,
//     linalg.exp ins(%a) outs(%b)       %a and %b on that of execution units
//   }
//
// A view is used from its first byte to the last byte that its layout reserves,
// in every core. The lost cycles of a conflict are (ChipClock.h):
//
//   computation   the cycles of its commands without their starts
//   region        the time of the engine that is busy for less time
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_BANKCOMMANDS_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_BANKCOMMANDS_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/Utils/BankPlacement.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::npu {

/// Returns the commands of `function` that access local memory by several
/// operands at the same time, or in parallel regions by both engines.
/// `BankUse::block` is an index of `allocs`.
std::vector<BankCommand>
getBankCommands(func::FuncOp function, ArrayRef<AllocOp> allocs, ChipAttr chip);

} // namespace mlir::npu

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_BANKCOMMANDS_H
