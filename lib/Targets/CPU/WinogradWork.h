//===- WinogradWork.h - Work of transformed convolutions --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the operations of a 3x3 convolution that layout-cpu-emit-kernels
// computes by Winograd's transforms. It does so in layouts whose input channels
// and filters are contiguous in whole vectors, if the filters are constant.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_WINOGRADWORK_H
#define LAYOUT_LIB_TARGETS_CPU_WINOGRADWORK_H

#include "StoredOp.h"

namespace mlir::layout {

struct WinogradWork {
  /// Scalar operations of the products and of the transforms of images.
  Cost operations;
  /// The operand that is transformed at compile time, in which each tap of a
  /// 3x3 filter takes kWinogradElements / 9 elements.
  unsigned filter;
};

/// Returns the work of `op` by Winograd's transforms with vectors of `bits`
/// bits along digit `lane`, or std::nullopt if kernels do not use them or if
/// they need no fewer than `direct` operations. Dynamic sizes count as
/// `assumed`.
std::optional<WinogradWork>
findWinogradWork(Operation *op, const LoopsRule &rule, const StoredOp &stored,
                 unsigned lane, int64_t bits, int64_t assumed, Cost direct);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_WINOGRADWORK_H
