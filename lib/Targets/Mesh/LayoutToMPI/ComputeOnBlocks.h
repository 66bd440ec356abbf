//===- ComputeOnBlocks.h - Ops on the block of each rank --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that compute with tensors on a mesh become ops on blocks:
//
//   linalg.matmul of (i, k) and (k, j), both split along k over x = 4
//     loop i, j   all of it: no operand splits what they index
//     loop k      [0:3] [3:6] [6:9] [9:10]
//     result      a part of the sum on each rank: its type says
//                 #layout.partial<.., sum, [x]>
//
// Laws:
//  * an op computes the largest block wherever that says what the device holds
//    (computesWholeBlocks): prices are those of static shapes, in any layout;
//  * which loops may be split is what checkLoopsOnMesh says;
//  * where a reduction loop is split, results are parts along the axes that
//    split it. What an op writes that does not reduce over an axis of the
//    parts counts once: other devices have the neutral element.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_COMPUTEONBLOCKS_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_COMPUTEONBLOCKS_H

#include "MessageLoops.h"

namespace mlir {
namespace layout {

/// Whether an op computes nothing with tensors on a mesh, but hands on their
/// blocks: structure, and conversions that become messages.
bool forwardsBlocks(Operation *op);

/// Lowers all ops of `function` that compute with tensors on a mesh. Those that
/// are left have such tensors from and to `builtin.unrealized_conversion_cast`s
/// of the memory of a block.
LogicalResult computeOnBlocks(func::FuncOp function, MessageSymbols &symbols);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_COMPUTEONBLOCKS_H
