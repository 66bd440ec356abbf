//===- PaddingTaps.h - Reduction steps that read only padding ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the taps of a window that read only padding. A dilated convolution of a
// small image has many of them:
//
//   3 taps, dilation 12, 33 rows, padding 12
//     rows 0 to 11 read padding by the first tap, rows 21 to 32 by the last one
//
// The loops over taps skip them, because a product with padding that is zero
// adds nothing:
//
//   for y in [max(0, ceil((12 - h) / 12)), min(3, ceil((45 - h) / 12)))
//
// Law: the skipped steps leave each accumulator as it is, except that the sum
// of -0.0 and a product may be 0.0.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_PADDINGTAPS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_PADDINGTAPS_H

#include "Kernels/KernelPlan.h"

namespace mlir::layout {

/// The iterations of a reduction loop that read what the padding surrounds:
/// position factor * dim + rest of a padded dim is in [low, low + size).
struct InnerTaps {
  unsigned dim;    // the reduction dim
  int64_t factor;  // positive
  AffineExpr rest; // increases with the parallel dims, the only ones it has
  int64_t low;
  OpFoldResult size;
};

/// Returns the reduction loops of which at least a twentieth of all iterations
/// read only padding that adds nothing to the sum. They are those of the first
/// input of the root that has any; the list is empty if none has.
SmallVector<InnerTaps> findInnerTaps(const Kernel &kernel,
                                     const KernelPlan &plan);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_PADDINGTAPS_H
