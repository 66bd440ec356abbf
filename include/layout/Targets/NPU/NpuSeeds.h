//===- NpuSeeds.h - Candidate configurations of one op ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries about the candidate configurations of a single op on an NPU, for
// passes that split ops before layouts are assigned.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUSEEDS_H
#define LAYOUT_TARGETS_NPU_NPUSEEDS_H

#include "layout/Analysis/Candidates.h"

namespace mlir::layout {

/// Marks a tensor.concat whose result the tiling pass has placed in system
/// memory.
constexpr StringLiteral kStored = "npu.stored";

/// Returns the configurations of `op` that fit a core of `chip`, without those
/// that follow from the layouts of other ops. The list is empty if `op` is not
/// defined by loops with an indexing map for each tensor.
SmallVector<OpConfig> getNpuSeeds(Operation *op, CostModel &costs,
                                  NpuTargetInterface chip);

/// Returns true if the f32 operand is in local memory in every configuration of
/// getNpuSeeds, in a layout for which isDequantizedInPlace holds. Returns false
/// if there are no such configurations.
bool acceptsInt8Operand(OpOperand &operand, CostModel &costs,
                        NpuTargetInterface chip);

/// Returns true if commands can convert i8 data in `layout` to f32 in the same
/// layout, and a core has space for both and for work memory. Commands are not
/// checked if the chip is not a `#npu.target`.
bool isDequantizedInPlace(NpuScatterAttr layout, RankedTensorType floats,
                          NpuTargetInterface chip);

/// Returns the bytes of a core that the smallest configuration of `op` needs,
/// even if a core has fewer bytes, or std::nullopt if `op` has no
/// configuration, e.g. because its tensors have no common channel.
std::optional<int64_t> getLeastCoreBytes(Operation *op, CostModel &costs,
                                         NpuTargetInterface chip);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_NPU_NPUSEEDS_H
