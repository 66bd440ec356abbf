//===- CpuModelParams.h - Machine parameters of a CPU -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parameters that `#layout.cpu` can state. Cpu.h has those of processors.
// The defaults, those of a CPU with 256-bit vectors, e.g. AVX2, hold for what a
// target does not state. Costs and kernel plans use no other source.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CPUMODELPARAMS_H
#define LAYOUT_SUPPORT_CPUMODELPARAMS_H

#include <algorithm>
#include <cstdint>

namespace mlir::layout {

struct CpuModelParams {
  /// The width of one vector register in bits; 0 for scalar code.
  unsigned vectorBits = 256;
  unsigned vectorRegisters = 16;
  /// The width in bits of the units that compute on vectors, which execute
  /// wider vectors in parts; 0 if they are as wide as a register.
  int64_t datapathBits = 0;
  /// The smallest element size in bytes for which one shuffle can select
  /// arbitrary elements from two registers; 0 if the CPU has no such shuffle.
  int64_t twoSourcePermuteBytes = 0;
  /// The number of products of an unsigned and a signed byte that one
  /// instruction adds to each 32-bit lane; 0 if the CPU has no such
  /// instruction.
  int64_t dotProductBytes = 0;
  /// The size of a cache line in bytes.
  int64_t lineBytes = 64;
  /// The sizes of L1 and L2 of one core, in bytes.
  int64_t l1Bytes = 32 * 1024;
  int64_t l2Bytes = 1024 * 1024;
  /// The size of the last-level cache that all cores share, in bytes.
  int64_t llcBytes = 32 * 1024 * 1024;
  /// The size of one way of L1 in bytes: lines at this distance share a set.
  int64_t l1SetStride = 4096;
  /// The number of hardware threads on which a program may run.
  int64_t cores = 8;

  /// Returns the width in bits of a vector that the CPU computes in one part.
  int64_t getComputedBits() const {
    return datapathBits ? std::min<int64_t>(datapathBits, vectorBits)
                        : vectorBits;
  }
};

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_CPUMODELPARAMS_H
