//===- PackOps.h - Conversions as linalg.pack and unpack --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits copies as linalg.pack or linalg.unpack for compilers whose input is
// linalg. A copy is one op if the axes of one side are divided into digits that
// are axes of the other side:
//
//   1x17x7x7 from row-major to NCHW16c
//     digits   d0:1 d1/16:2 d2:7 d3:7 d1%16:16
//     from     [d0] [d1/16 d1%16] [d2] [d3]       17 of 32 positions
//     to       [d0] [d1/16] [d2] [d3] [d1%16]
//     linalg.pack padding_value(0) inner_dims_pos = [1] inner_tiles = [16]
//
// linalg.unpack is the reverse. A transposition is added if tiles are not
// innermost and do not divide the sizes. If they divide the sizes, a copy that
// is not a pack is reshapes and a transposition (CopyBoxes.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PACKOPS_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PACKOPS_H

#include "Storage.h"
#include "layout/Analysis/CopyPlan.h"

namespace mlir::layout {

/// Emits `copy` as a linalg.pack or linalg.unpack and returns the physical
/// tensor of type `to`. Returns a null value if `copy` is neither, if a size
/// that must be static is dynamic, or if the op would not write the padding
/// that `to` states. `sizes` are the logical sizes.
Value emitPackOps(OpBuilder &b, Location loc, const CopyPlan &copy,
                  Value source, RankedTensorType to,
                  ArrayRef<OpFoldResult> sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PACKOPS_H
