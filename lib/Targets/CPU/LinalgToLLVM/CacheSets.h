//===- CacheSets.h - Lines that push each other out -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cache keeps a line in one of the few places of its set, which some bits of
// the address tell. Lines at a distance with a large power of two in it have
// few sets. Of a first cache of 32 KiB, whose sets repeat after 4 KiB:
//
//   16 rows of 1000 floats    16 sets: all stay
//   16 rows of 512 floats     2 sets with 8 places each: no other line stays
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_CACHESETS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_CACHESETS_H

#include "layout/Support/CpuFigures.h"
#include <numeric>

namespace mlir::layout {

/// Whether so many lines that are `stride` bytes apart, with what else a loop
/// touches, push each other out of the first cache.
inline bool collide(int64_t lines, int64_t stride, const CpuFigures &figures) {
  return lines * std::gcd(stride, figures.setPeriodBytes) >
         0.75 * figures.firstCacheBytes;
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_CACHESETS_H
