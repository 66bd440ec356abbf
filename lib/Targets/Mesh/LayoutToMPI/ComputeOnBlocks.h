//===- ComputeOnBlocks.h - Run ops on the blocks of a rank ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts ops on tensors on a mesh to ops on blocks:
//
//   linalg.matmul of (i, k) and (k, j), both split along k over x = 4
//     loop i, j   whole: no operand splits its dims
//     loop k      [0:3] [3:6] [6:9] [9:10]
//     result      a part of the sum on each rank: its type is
//                 #layout.partial<.., sum, [x]>
//
// Laws:
//  * an op computes the largest block if that gives the right results for the
//    held indices (computesWholeBlocks): costs assume static shapes;
//  * checkLoopsOnMesh defines the loops that may be split;
//  * if a reduction loop is split, the results are parts along its axes. A
//    value that is not reduced over an axis of the parts counts once: other
//    devices have the neutral element.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_COMPUTEONBLOCKS_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_COMPUTEONBLOCKS_H

#include "MessageLoops.h"

namespace mlir::layout {

/// Returns true if `op` only forwards blocks: control flow, functions, casts,
/// and conversions that become messages.
bool forwardsBlocks(Operation *op);

/// Lowers all ops of `function` that compute on a mesh to ops on blocks. At
/// values that other ops produce or use, inserts a
/// `builtin.unrealized_conversion_cast` between the tensor and the 1-D memory
/// of its block. Emits an error and fails if an op cannot be lowered.
LogicalResult computeOnBlocks(func::FuncOp function, MessageSymbols &symbols);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_COMPUTEONBLOCKS_H
