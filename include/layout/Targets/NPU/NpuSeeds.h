//===- NpuSeeds.h - Whether an op fits the cores of a chip ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op with loops is offered by itself on an NPU, asked by who splits ops
// before layouts are decided.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUSEEDS_H
#define LAYOUT_TARGETS_NPU_NPUSEEDS_H

#include "layout/Analysis/Candidates.h"

namespace mlir {
namespace layout {

/// Of a concatenation that goes to system memory, as those who cut its parts
/// have planned.
constexpr StringLiteral kStored = "npu.stored";

/// The configurations of `op` by itself that fit a core of `chip`.
SmallVector<OpConfig> getNpuSeeds(Operation *op, CostModel &costs,
                                  NpuTargetInterface chip);

/// Whether in every such configuration the operand, of f32, lies in local
/// memory as one command makes it of bytes that lie alike.
bool takesBytes(OpOperand &operand, CostModel &costs, NpuTargetInterface chip);

/// Whether commands make f32 in this layout of bytes that lie alike, and a core
/// has room for both and for work memory.
bool isMadeOfBytes(NpuScatterAttr layout, RankedTensorType floats,
                   NpuTargetInterface chip);

/// The bytes of a core that the op takes at least, whether they fit or not;
/// nothing where its tensors cannot be spread alike.
std::optional<int64_t> getLeastCoreBytes(Operation *op, CostModel &costs,
                                         NpuTargetInterface chip);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_NPU_NPUSEEDS_H
