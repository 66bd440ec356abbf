//===- CacheConflicts.h - Cache lines that evict each other -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models conflict misses. A cache stores a line in one of the few ways of its
// set, which some address bits select. Lines at a stride with a large power of
// two in it share few sets. For a 32 KiB L1 whose sets repeat after 4 KiB:
//
//   16 rows of 1000 floats    16 sets: all lines stay
//   16 rows of 512 floats     2 sets of 8 ways: no other line stays
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_CACHECONFLICTS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_CACHECONFLICTS_H

#include "layout/Support/CpuModelParams.h"
#include <numeric>

namespace mlir::layout {

/// Returns true if L1 cannot hold `lines` cache lines at distances of `stride`
/// bytes, because they share too few sets. A quarter of L1 is left for other
/// data of the loop.
inline bool conflictsInL1(int64_t lines, int64_t stride,
                          const CpuModelParams &params) {
  return lines * std::gcd(stride, params.l1SetStride) > 0.75 * params.l1Bytes;
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_CACHECONFLICTS_H
