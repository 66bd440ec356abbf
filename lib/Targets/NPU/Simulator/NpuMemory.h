//===- NpuMemory.h - Bytes of the simulated NPU and their state -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_SIMULATOR_NPUMEMORY_H
#define LAYOUT_LIB_TARGETS_NPU_SIMULATOR_NPUMEMORY_H

#include "layout/Targets/NPU/Simulator/NpuSimulator.h"

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
  int64_t core; // -1: system memory
  int64_t byte, bytes;
};

/// One that an engine touched in a parallel region.
struct Simulator::RegionRun : Run {
  Engine engine;
};

/// What a kernel does with an operand, as OKK_SIM_READ and its kin say it.
enum ImageAccess : unsigned {
  ReadImage = 1,
  WrittenImage = 2,
  BroadcastImage = 4,
  LanesImage = 8,
};

/// An operand of a kernel: bytes of its image and where they lie, run by run.
struct Simulator::Image {
  // Elements are aligned as operator new does it.
  std::unique_ptr<uint8_t[]> data;
  int64_t bytes = 0;
  unsigned access = 0;          // of ImageAccess
  int64_t inner = 0, count = 0; // the key of an element; none where 0
  int64_t elementBytes = 1;
  std::vector<Run> runs;
  std::vector<int64_t> places; // of each run in the image
};

/// The numbers of successive bytes.
struct Simulator::Numbers {
  const int32_t *ofBytes = nullptr; // plus 1; null: counted on from `first`
  int64_t first = 0;

  int64_t get(int64_t i) const {
    return ofBytes ? int64_t(ofBytes[i]) - 1 : first + i;
  }
};

/// What commands are to move, and what they moved.
struct Simulator::Expected {
  Relation relation;
  int64_t total = 1, moved = 0;
  int64_t block = 1; // bytes that follow each other on all sides
  std::vector<uint8_t> covered;
  std::vector<size_t> order; // dims by falling stride of the destination
};

struct Simulator::Computation {
  std::string name;
  int64_t points = 0;
  std::vector<Image> images;
  std::vector<void *> pointers;
  bool isGood = true;
};

/// The bits that all bytes of a run have, and those that any has.
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

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_SIMULATOR_NPUMEMORY_H
