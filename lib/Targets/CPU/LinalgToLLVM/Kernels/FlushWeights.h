//===- FlushWeights.h - Weights without subnormal numbers -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trained weights that decay end as subnormal numbers: 10 % of those of some
// detectors of text. Intel processors are slow at instructions that read one.
//
// A subnormal factor of a sum of products becomes 0 if the largest weight of
// its constant is so much larger that its own rounding error exceeds every
// subnormal number. A sum then changes by less than the smallest normal number
// times the magnitudes of the other factors, i.e. less than a rounding of the
// largest weight changes it. Weights that only move or are added are not
// changed.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_FLUSHWEIGHTS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_FLUSHWEIGHTS_H

#include "Kernels/Kernel.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::layout {

/// Maps a constant to the same without subnormal numbers, or to itself if there
/// are none, or if they are not small beside its largest element.
using FlushedConstants = DenseMap<Attribute, ElementsAttr>;

/// Replaces constant factors of the root's sums by constants without subnormal
/// numbers. Creates ops at the builder's insertion point and adds to `known`.
void flushSubnormalWeights(Kernel &kernel, OpBuilder &builder,
                           FlushedConstants &known);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_FLUSHWEIGHTS_H
