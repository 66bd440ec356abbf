//===- PackOps.h - Conversions as linalg.pack and unpack --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For compilers that go on from linalg. Where one side of a copy plan has axes
// that are divided into digits, and the other side has these digits as axes,
// the copy is one op:
//
//   1x17x7x7 from row-major to NCHW16c
//     digits   d0:1 d1/16:2 d2:7 d3:7 d1%16:16
//     from     [d0] [d1/16 d1%16] [d2] [d3]       17 of 32 positions
//     to       [d0] [d1/16] [d2] [d3] [d1%16]
//     linalg.pack padding_value(0) inner_dims_pos = [1] inner_tiles = [16]
//
// and linalg.unpack the other way round. Where the tiles do not come last and
// sizes do not divide, a transposition stands beside it. Where sizes divide,
// views and a transposition do alone what is no pack (CopyBoxes.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PACKOPS_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PACKOPS_H

#include "Storage.h"
#include "layout/Analysis/CopyPlan.h"

namespace mlir {
namespace layout {

/// The result of `copy` by a pack or an unpack, null where it is none; `sizes`
/// are the logical ones.
Value emitPackOps(OpBuilder &b, Location loc, const CopyPlan &copy,
                  Value source, RankedTensorType to,
                  ArrayRef<OpFoldResult> sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_PACKOPS_H
