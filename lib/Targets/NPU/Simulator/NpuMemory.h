//===- NpuMemory.h - Bytes of the simulated NPU and their state -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_SIMULATOR_NPUMEMORY_H
#define LAYOUT_LIB_TARGETS_NPU_SIMULATOR_NPUMEMORY_H

#include "layout/Targets/NPU/Simulator/NpuSimulator.h"

namespace mlir::npu {

/// The state bits of one byte of a simulated memory.
enum State : uint8_t {
  Written = 1,
  ReadByDMA = 2,
  WrittenByDMA = 4,
  ReadByCompute = 8,
  WrittenByCompute = 16,
  TouchedNow = 32, // accessed by the current command
  Element = 64,    // part of an element of a declared tensor
};
/// The bits that are cleared at the end of a parallel region.
constexpr uint8_t kOfRegion =
    ReadByDMA | WrittenByDMA | ReadByCompute | WrittenByCompute;

struct Simulator::Memory {
  uint64_t base = 0; // address of a system buffer
  std::vector<uint8_t> data, state;

  explicit Memory(int64_t bytes, uint64_t base = 0)
      : base(base), data(bytes), state(bytes) {}
};

/// Contiguous bytes in one core or in one buffer of system memory.
struct Simulator::Run {
  Memory *memory;
  int64_t core; // -1: system memory
  int64_t byte, bytes;
};

/// Contiguous bytes that an engine accessed in a parallel region.
struct Simulator::RegionRun : Run {
  Engine engine;
};

/// The access of a kernel to an operand, as OKK_SIM_READ etc. encode it.
enum ImageAccess : unsigned {
  ReadImage = 1,
  WrittenImage = 2,
  BroadcastImage = 4,
  LanesImage = 8,
};

/// An operand of a kernel: its image, i.e. a dense copy, and the runs of local
/// memory that it is gathered from or scattered to.
struct Simulator::Image {
  // Allocated by operator new, so aligned for elements of any type.
  std::unique_ptr<uint8_t[]> data;
  int64_t bytes = 0;
  unsigned access = 0;          // ImageAccess bits
  int64_t inner = 0, count = 0; // see keepInCore; 0: not checked
  int64_t elementBytes = 1, steps = 0;
  std::vector<Run> runs;
  std::vector<int64_t> places; // the byte in the image of each run
};

/// The numbers that identify contiguous bytes in checks of moved bytes: those
/// that the program gave the bytes of a local tensor, or offsets in system
/// memory.
struct Simulator::Numbers {
  const int32_t *ofBytes = nullptr; // numbers plus 1; null: first + i
  int64_t first = 0;

  int64_t get(int64_t i) const {
    return ofBytes ? int64_t(ofBytes[i]) - 1 : first + i;
  }
};

/// The bytes that the program has declared to be moved or combined by the
/// following commands: their numbers in each operand, their count, and which of
/// them were moved so far.
struct Simulator::Expected {
  Relation relation;
  int64_t total = 1, moved = 0;
  int64_t block = 1; // bytes that are contiguous in all operands
  std::vector<uint8_t> covered;
  std::vector<size_t> order; // dims by falling destination stride
};

struct Simulator::Computation {
  std::string name;
  int64_t points = 0;
  layout::ChipClock::Work work;
  layout::ChipClock::Planes planes;
  std::vector<Image> images;
  std::vector<void *> pointers;
  bool isGood = true;
};

/// The state bits that all bytes of a range have, and those that some byte has.
struct Summary {
  uint8_t all = 0xff, any = 0;
};
inline Summary summarize(const uint8_t *state, int64_t bytes) {
  Summary summary;
  for (int64_t i = 0; i < bytes; ++i) {
    summary.all &= state[i];
    summary.any |= state[i];
  }
  return summary;
}
inline void setBits(uint8_t *state, int64_t bytes, uint8_t bits) {
  for (int64_t i = 0; i < bytes; ++i)
    state[i] |= bits;
}
inline void clearBits(uint8_t *state, int64_t bytes, uint8_t bits) {
  uint8_t kept = uint8_t(~bits);
  for (int64_t i = 0; i < bytes; ++i)
    state[i] &= kept;
}

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_SIMULATOR_NPUMEMORY_H
