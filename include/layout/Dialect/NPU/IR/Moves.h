//===- Moves.h - Transfer plans of copies and fills -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans copies as transfers (Transfers.h) under all limits of the chip.
// Pricing, checks and emission use the same plan. Before addresses are
// assigned, tensors are assumed to be at byte 0 of their cores, and system
// memory at its start: addresses keep the alignment of the DMA engine, so the
// plan stays valid.
//
//   npu.copy %x to %part : 3xf16 of system memory, from element 1 on
//     on a chip of dma_alignment = 4: no plan, "a transfer would start at
//     byte 2 of the source, .."
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_MOVES_H
#define LAYOUT_DIALECT_NPU_IR_MOVES_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "layout/Support/Refusal.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir {
namespace npu {

/// Returns the limits of DMA transfers of a chip.
TransferLimits getTransferLimits(ChipAttr chip);

/// Returns the limits of commands of the execution units, which can address any
/// element.
TransferLimits getComputeLimits(ChipAttr chip);

/// The box that a copy moves: index i of `sizes` is moved from from(i) to
/// to(i).
struct CopiedBox {
  layout::LayoutMap from, to;
  ArrayRef<int64_t> sizes;
  int64_t elementBytes;
};

/// Returns the box of a copy, or std::nullopt with a reason if a type has no
/// storage.
std::optional<CopiedBox> getCopiedBox(CopyOp op, layout::Refusal error);

/// Returns the DMA transfers of a copy in a program for `chip`, or std::nullopt
/// with a reason.
std::optional<std::vector<Transfer>> planMove(CopyOp op, ChipAttr chip,
                                              layout::Refusal error);

/// Returns the DMA transfers of a fill in a program for `chip`, or std::nullopt
/// with a reason.
std::optional<std::vector<Transfer>> planMove(FillOp op, ChipAttr chip,
                                              layout::Refusal error);

/// Returns the chip of the tensors of a program, or a null attribute if no
/// tensor is in local memory.
ChipAttr findChip(func::FuncOp program);

/// Returns true if a tensor in local memory can be stored in system memory and
/// loaded again.
bool canBeStored(MemRefType type);

/// Returns true if both maps are in local memory and place every index in the
/// same core, so that cores can move the elements themselves.
bool haveSameCores(const layout::LayoutMap &a, const layout::LayoutMap &b,
                   layout::Sizes sizes);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_IR_MOVES_H
