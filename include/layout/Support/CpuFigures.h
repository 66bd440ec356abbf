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
  /// What memory moves at once.
  int64_t lineBytes = 64;
  /// What one operand may take of the first and of the second cache, to be read
  /// from there again.
  int64_t firstCacheBytes = 16000;
  int64_t secondCacheBytes = 512000;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_CPUFIGURES_H
