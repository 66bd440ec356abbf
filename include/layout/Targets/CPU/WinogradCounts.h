//===- WinogradCounts.h - Sizes of Winograd's transforms --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counts that the kernels of Winograd's transforms F(2x2, 3x3) and their
// price share.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_WINOGRADCOUNTS_H
#define LAYOUT_TARGETS_CPU_WINOGRADCOUNTS_H

#include <cstdint>

namespace mlir::layout {

/// The results along each axis that one tile computes.
constexpr int64_t kWinogradResults = 2;
/// The elements of a transformed tile and of a transformed filter, in each of
/// which input channels are multiplied and summed.
constexpr int64_t kWinogradElements = 16;
/// The vector steps, a store and an addition each, that transform a tile of one
/// input channel, or the products of one filter.
constexpr int64_t kWinogradSteps = 32;

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_CPU_WINOGRADCOUNTS_H
