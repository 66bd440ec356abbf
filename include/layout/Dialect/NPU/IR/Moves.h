//===- Moves.h - What a chip needs to move a memref -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one question that prices, checks and emits a copy: its transfers
// (Transfers.h) under all limits of the chip. Before addresses are known,
// tensors are asked at byte 0 of their cores, and system memory at its start:
// addresses keep the alignment of the DMA engine, so the answer stays the same.
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

/// The limits of a chip's transfers.
TransferLimits getTransferLimits(ChipAttr chip);

/// The limits of what its execution units do, which reach any element.
TransferLimits getComputeLimits(ChipAttr chip);

/// What a copy moves: index i of the box of `sizes` goes from from(i) to to(i).
struct CopiedBox {
  layout::LayoutMap from, to;
  ArrayRef<int64_t> sizes;
  int64_t elementBytes;
};

/// Nothing, and the reason, where a type has no storage.
std::optional<CopiedBox> getCopiedBox(CopyOp op, layout::Refusal error);

/// The transfers of a copy or of a fill by DMA in a program for `chip`, or the
/// reason why there are none.
std::optional<std::vector<Transfer>> planMove(CopyOp op, ChipAttr chip,
                                              layout::Refusal error);
std::optional<std::vector<Transfer>> planMove(FillOp op, ChipAttr chip,
                                              layout::Refusal error);

/// The chip of the tensors of a program; null where none is in local memory.
ChipAttr findChip(func::FuncOp program);

/// Whether a tensor in local memory can be stored outside and loaded again.
bool canBeStored(MemRefType type);

/// Whether both are in local memory, every index in one core on both sides:
/// then cores can move the elements themselves.
bool haveSameCores(const layout::LayoutMap &a, const layout::LayoutMap &b,
                   layout::Sizes sizes);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_IR_MOVES_H
