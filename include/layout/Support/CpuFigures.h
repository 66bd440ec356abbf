//===- CpuFigures.h - What is assumed of a CPU ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The figures of a CPU with 256-bit vectors, AVX2 for one. The target attribute
// and the options of pipelines and passes take their defaults from here, and
// the planner of kernels asks this object only.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CPUFIGURES_H
#define LAYOUT_SUPPORT_CPUFIGURES_H

#include <cstdint>

namespace mlir {
namespace layout {

struct CpuFigures {
  /// Bits of one vector register; 0 for scalar code.
  unsigned vectorBits = 256;
  unsigned vectorRegisters = 16;
  /// The smallest elements, in bytes, of which one shuffle takes any from two
  /// registers; 0 where there is no such shuffle.
  int64_t permutedBytes = 0;
  /// What memory moves at once.
  int64_t lineBytes = 64;
  /// The caches of one core.
  int64_t firstCacheBytes = 32 * 1024;
  int64_t secondCacheBytes = 1024 * 1024;
  /// The cache that all cores share.
  int64_t lastCacheBytes = 32 * 1024 * 1024;
  /// Lines of the first cache that are so many bytes apart share a set.
  int64_t setPeriodBytes = 4096;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_CPUFIGURES_H
