//===- NpuParts.h - Parts of a concatenation in their place -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of a concatenation costs no transfer where it is made in its place:
// its layout is what the part has of the layout of the whole, but for the byte
// where it begins.
//
//   1x9x4x4 aligned, start 0, of 1x6x4x4 and 1x3x4x4, four cores
//     the first part     aligned, start 0
//     the second part    aligned, start 2, a row (64 bytes) further
//
// Of several batches the strides are those of the whole, so the layout of the
// part is a strided one.
//
// Laws:
//  * what is offered, priced and lowered asks the same functions;
//  * a tensor has one place: that of the first concatenation that it is a part
//    of.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUPARTS_H
#define LAYOUT_TARGETS_NPU_NPUPARTS_H

#include "layout/Analysis/PartsInPlace.h"
#include "layout/Targets/NPU/NpuLayouts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir {
namespace layout {

/// Where the operands of a concatenation begin.
SmallVector<SmallVector<int64_t>> getPartOffsets(tensor::ConcatOp concat);

/// The layout of a part from `offsets` on as the whole has it; null where no
/// layout says so.
NpuScatterAttr getNpuPart(RankedTensorType type, NpuScatterAttr whole,
                          RankedTensorType wholeType, ArrayRef<int64_t> offsets,
                          NpuTargetInterface chip);

/// The byte of the whole at which the part begins, if its layout is that of the
/// part's place and applies there.
std::optional<int64_t> findNpuPlace(NpuScatterAttr part, RankedTensorType type,
                                    NpuScatterAttr whole,
                                    RankedTensorType wholeType,
                                    ArrayRef<int64_t> offsets);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_NPU_NPUPARTS_H
