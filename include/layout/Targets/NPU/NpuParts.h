//===- NpuParts.h - In-place parts of concatenations ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part, i.e. an operand, of a concatenation needs no transfer if it is
// computed in its in-place destination, its slice of the result (the whole).
// The layout of the part is then that of the whole, restricted to the part, at
// another start byte.
//
//   1x9x4x4 aligned, start 0, of 1x6x4x4 and 1x3x4x4, four cores
//     the first part     aligned, start 0
//     the second part    aligned, start 2, a row (64 bytes) further
//
// With several batches the part has the strides of the whole, so its layout is
// strided.
//
// Laws:
//  * candidates, costs and the lowering use the same functions;
//  * a tensor has one in-place destination: that of the first concatenation of
//    which it is a part.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUPARTS_H
#define LAYOUT_TARGETS_NPU_NPUPARTS_H

#include "layout/Analysis/PartsInPlace.h"
#include "layout/Targets/NPU/NpuLayouts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::layout {

/// Returns, for each operand of `concat`, its offset in every dim of the
/// result.
SmallVector<SmallVector<int64_t>> getPartOffsets(tensor::ConcatOp concat);

/// Returns the layout of a part of type `type` at `offsets` within a tensor in
/// layout `whole`, or a null layout if no scattered layout describes it.
NpuScatterAttr getNpuPart(RankedTensorType type, NpuScatterAttr whole,
                          RankedTensorType wholeType, ArrayRef<int64_t> offsets,
                          NpuTargetInterface chip);

/// Returns the byte, the same in each core and relative to the start of the
/// whole, at which the part at `offsets` begins. Returns std::nullopt if layout
/// `part` does not place its elements where `whole` does.
std::optional<int64_t> findNpuPlace(NpuScatterAttr part, RankedTensorType type,
                                    NpuScatterAttr whole,
                                    RankedTensorType wholeType,
                                    ArrayRef<int64_t> offsets);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_NPU_NPUPARTS_H
