//===- NpuMemory.h - Bytes of the simulated NPU and their state -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_NPU_NPUMEMORY_H
#define LAYOUT_LIB_RUNTIME_NPU_NPUMEMORY_H

#include "layout/Runtime/NpuSimulator.h"

namespace mlir {
namespace npu {

/// What is known of a byte.
enum State : uint8_t {
  Written = 1,
  ReadByDMA = 2,
  WrittenByDMA = 4,
  ReadByCompute = 8,
  WrittenByCompute = 16,
  TouchedNow = 32, // by the command at work
  Element = 64,    // of a declared tensor
};
/// What a parallel region forgets at its end.
constexpr uint8_t kOfRegion =
    ReadByDMA | WrittenByDMA | ReadByCompute | WrittenByCompute;

struct Simulator::Memory {
  uint64_t base = 0; // of a system buffer
  std::vector<uint8_t> data, state;

  explicit Memory(int64_t bytes, uint64_t base = 0)
      : base(base), data(bytes), state(bytes) {}
};

/// Successive bytes of one memory.
struct Simulator::Run {
  Memory *memory;
  int64_t unit; // -1: system memory
  int64_t byte, bytes;
};

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_RUNTIME_NPU_NPUMEMORY_H
