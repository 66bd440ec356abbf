//===- PackWeights.h - Constants in the order of a kernel -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs weights into the order in which tiles read them. A product reads a
// matrix of weights in columns of a few vectors. If its rows are long, each
// reduction step reads another line, often on another page, which hardware does
// not prefetch. Such an input is stored in blocks of one tile column, whose
// steps are contiguous:
//
//   B[k][n], 512 columns, tiles of 16  ->  B[n / 16][k][n % 16], in one dim
//
// Constants are packed at compile time, other inputs by a copy if many tiles
// read each element. A constant whose elements are each read by one tile of one
// kernel has blocks of a whole tile, so that a kernel of one row reads one
// contiguous segment. Tiles never start inside a block, so that positions are
// linear in the loops over tiles.
//
// This is not a layout decision, because only the kernel reads these bytes. On
// an AVX-512 core, 128 rows by 3072x768 weights from memory take 2.4 ms instead
// of 3.3. One row by 1024x2816 weights takes 0.26 ms instead of 0.34 with
// blocks of one vector.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_PACKWEIGHTS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_PACKWEIGHTS_H

#include "Kernels/KernelPlan.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::layout {

/// Maps a constant and the number of columns of a block to the packed constant.
using PackedConstants = DenseMap<std::pair<Attribute, int64_t>, ElementsAttr>;

/// Replaces static inputs of the root by packed ones if the innermost reduction
/// advances from row to row and a row exceeds a cache line. A constant is
/// packed if its columns are on vector lanes, and it exceeds L2 or L1 does not
/// hold the lines that a tile reads. Another input is packed only if L1 does
/// not hold them and at least four tiles read each element. Creates ops at the
/// builder's insertion point and adds packed constants to `known`.
void packWeights(Kernel &kernel, const KernelPlan &plan,
                 const CpuModelParams &target, OpBuilder &builder,
                 PackedConstants &known);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_PACKWEIGHTS_H
