//===- PackWeights.h - Constants in the order of a kernel -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product reads a matrix of weights in columns of a few vectors. Where its
// rows are long, each step of the reduction is on another line, often on
// another page of memory, which no hardware fetches ahead. Such an input is
// stored in blocks of what a tile reads instead, each with all its steps in a
// row:
//
//   B[k][n], 512 columns, tiles of 16  ->  B[n / 16][k][n % 16], in one dim
//
// A constant once and for all, any other input by a copy, where many tiles read
// each of its elements. A constant that no other tile and no other kernel reads
// is in blocks of a whole tile, so that a kernel of one row goes through one
// run of memory. A tile never begins inside of a block, so that positions are
// linear in the loops over tiles.
//
// This is not a choice of layouts: nobody but the kernel sees these bytes. On a
// core with AVX-512, 128 rows by weights of 3072x768 that come from memory take
// 2.4 ms in place of 3.3, and one row by weights of 1024x2816 takes 0.26 ms in
// place of 0.34 in blocks of one vector.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_PACKWEIGHTS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_PACKWEIGHTS_H

#include "KernelPlan.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::layout {

/// What constants were packed to, by the elements of a block.
using PackedConstants = DenseMap<std::pair<Attribute, int64_t>, ElementsAttr>;

/// Lets the kernel read packed inputs where a step of the reduction leaves
/// their rows, and the first cache does not hold the lines that a tile reads,
/// or, of a constant, the second one does not hold all. Constants and copies
/// are made at the builder's insertion point.
void packWeights(Kernel &kernel, const KernelPlan &plan,
                 const CpuFigures &target, OpBuilder &builder,
                 PackedConstants &known);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_PACKWEIGHTS_H
