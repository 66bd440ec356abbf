//===- DmaPlanning.h - Transfer plans of copies and fills -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans copies as DMA transfers (Transfers.h) within all limits of the chip.
// Pricing, checks and emission use the same plan. Before addresses are
// assigned, tensors are assumed to start at byte 0 of a core or of system
// memory. Assigned addresses are aligned for the DMA engine, so the plan stays
// valid.
//
//   npu.copy %x to %part, %x being 3xf16 in system memory, from element 1 on
//     on a chip with dma_alignment = 4: no plan, "a transfer would start at
//     byte 2 of the source, .."
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_DMAPLANNING_H
#define LAYOUT_DIALECT_NPU_IR_DMAPLANNING_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "layout/Support/FailureReason.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::npu {

/// Returns the limits of a DMA transfer of `chip`, or of any chip if it is
/// null: its shape, its strides and the alignment of its addresses.
TransferLimits getTransferLimits(ChipAttr chip);

/// Returns the limits of a command of the execution units of `chip`, or of any
/// chip if it is null. Its addresses need no alignment, unlike those of a DMA
/// transfer.
TransferLimits getComputeLimits(ChipAttr chip);

/// The largest stride of the windows of a convolution or a pool, and the
/// largest dilation of their kernels, on any chip.
constexpr int64_t kMostWindowStride = 15, kMostWindowDilation = 16;

/// How one command computes with windows of `stride` and `dilation` beyond the
/// limits along H or W. The command sees every `spacing`-th row or column of
/// the input, and has every `step`-th element of a kernel of `kernel` elements.
struct WindowSplit {
  int64_t spacing = 1, step = 1;
};
WindowSplit splitWindow(int64_t kernel, int64_t stride, int64_t dilation);

/// The elements that an npu.copy moves: for each index i below `sizes`, the
/// element at position from(i) moves to position to(i).
struct CopiedBox {
  layout::LayoutMap from, to;
  ArrayRef<int64_t> sizes;
  int64_t elementBytes;
};

/// Returns the elements that a copy moves, or std::nullopt with a reason if the
/// source or the destination has a dynamic size or an invalid layout, e.g. one
/// that does not fit a core.
std::optional<CopiedBox> getCopiedBox(CopyOp op, layout::FailureReason error);

/// Returns the DMA transfers of a copy in a program for `chip`. Returns
/// std::nullopt with a reason if there are none: e.g. if a layout is invalid or
/// mixes dims in one coordinate, an address would be unaligned, or there would
/// be too many transfers.
std::optional<std::vector<Transfer>> planMove(CopyOp op, ChipAttr chip,
                                              layout::FailureReason error);

/// Returns the DMA transfers of a fill in a program for `chip`, or std::nullopt
/// with a reason if there are none, as for a copy.
std::optional<std::vector<Transfer>> planMove(FillOp op, ChipAttr chip,
                                              layout::FailureReason error);

/// Returns the chip in the layout of the first `npu.alloc` of a program that
/// has one, or a null attribute if no tensor is in local memory.
ChipAttr findChip(func::FuncOp program);

/// Returns true if DMA transfers can move a tensor of `type` from local memory
/// to row-major system memory and back.
bool canBeStored(MemRefType type);

/// Returns true if both maps are in local memory and provably place every index
/// in the same core, so that cores can move the elements themselves.
bool haveSameCores(const layout::LayoutMap &a, const layout::LayoutMap &b,
                   layout::Sizes sizes);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_IR_DMAPLANNING_H
