//===- NpuSimulator.h - An NPU that checks every access ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memories and engines of an NPU, as plain C++ without MLIR: X units with a
// local memory each, system memory in buffers, a DMA engine and execution units
// that run commands. A command reads and writes boxes (n, c, h, w) of elements;
// in local memory, channel c of a box at address A = Q * S + R lies in unit
// (Q + c) mod X, row (Q + c) / X:
//
//     byte = R + e * (n * sN + row * sC + h * sH + w * sW)
//
//     Simulator npu({4, 1024, 128});
//     uint64_t x = npu.allocSystem(480);
//     npu.writeSystem(x, data, 480);
//     npu.copy({true, 2 * 1024, {64, 32, 5, 1}}, {false, x, {60, 20, 5, 1}},
//              {2, 3, 4, 5}, 4);                     // aligned, start unit 2
//     npu.readLocal(0, 460, 4);                      // element (1, 2, 3, 4)
//
// Laws:
//  * a command that breaks a rule is reported and does nothing: addresses and
//    runs inside their memory, alignment of elements and of the DMA engine,
//    limits of shapes and strides, no byte read before it was written, no byte
//    written twice by one command, nor read twice by a transfer whose strides
//    are not 0;
//  * between startParallel and endParallel, no engine touches what the other
//    one writes;
//  * tensors that were declared own their bytes in every unit, holes included:
//    they do not overlap, and local accesses stay inside one and, where its
//    elements were declared, touch no others. What a released tensor held is
//    gone.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_NPUSIMULATOR_H
#define LAYOUT_RUNTIME_NPUSIMULATOR_H

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace mlir {
namespace npu {

/// The figures of `#npu.target`; limits of 0 are not known.
struct SimulatedChip {
  int64_t npus = 0, bytesPerNpu = 0, euBytes = 1, dmaAlignment = 1;
  std::array<int64_t, 4> maxShape{0, 0, 0, 0};
  int64_t maxStride = 0;
};

/// N, C, H and W.
using Box = std::array<int64_t, 4>;

/// Where a command finds the elements of its box; strides count elements.
struct Operand {
  bool isLocal = false;
  uint64_t address = 0;
  Box stride{0, 0, 0, 1};
};

enum class Unit { DMA, Compute };

struct Counters {
  int64_t transfers = 0, computes = 0; // commands that ran
  int64_t bytesToLocal = 0, bytesToSystem = 0, bytesInside = 0,
          bytesOutside = 0; // moved by DMA: S2L, L2S, L2L, S2S
  int64_t peakBytes = 0;    // of declared tensors, in a unit
};

class Simulator {
public:
  explicit Simulator(const SimulatedChip &chip);
  ~Simulator();

  const SimulatedChip &getChip() const { return chip; }

  // The host's side. What it does is not counted.
  uint64_t allocSystem(int64_t bytes);
  void freeSystem(uint64_t address);
  void writeSystem(uint64_t address, const void *data, int64_t bytes);
  void readSystem(uint64_t address, void *data, int64_t bytes);
  /// Bytes that the unit has, little end first, whether written or not.
  uint64_t readLocal(int64_t unit, int64_t byte, int64_t bytes) const;
  bool isWritten(int64_t unit, int64_t byte) const;
  /// How many bytes of local memory have been written.
  int64_t countWritten() const;

  // Commands.
  void copy(const Operand &dest, const Operand &source, const Box &shape,
            int64_t elementBytes, Unit unit = Unit::DMA);
  void fill(const Operand &dest, const void *value, const Box &shape,
            int64_t elementBytes, Unit unit = Unit::DMA);
  /// dest = fn(sources) element by element, on the execution units.
  using ElementFn = std::function<void(void *dest, const void *const *sources)>;
  void compute(const Operand &dest, const std::vector<Operand> &sources,
               const Box &shape, int64_t elementBytes, const ElementFn &fn);
  void startParallel();
  void endParallel();
  bool isParallel() const { return parallel; }

  /// A tensor at `address` owns `bytes` of every unit from its byte on ..
  void declareTensor(uint64_t address, int64_t bytes, int64_t alignment);
  /// .. and these are elements of it; the rest is holes.
  void declareElements(const Operand &elements, const Box &shape,
                       int64_t elementBytes);
  void releaseTensor(uint64_t address);

  const Counters &getCounters() const { return counters; }
  const std::vector<std::string> &getErrors() const { return errors; }
  void report(std::string message) { errors.push_back(std::move(message)); }

private:
  struct Memory;
  struct Run;
  struct Tensor {
    uint64_t address;
    int64_t byte, bytes;
    bool hasElements;
  };
  enum class Access { Read, ReadOnce, Write };

  bool checkShape(const Box &shape, int64_t elementBytes);
  bool checkOperand(const Operand &operand, const Box &shape,
                    int64_t elementBytes, Unit unit, const char *what);
  bool collectRuns(const Operand &operand, const Box &shape,
                   int64_t elementBytes, const char *what,
                   std::vector<Run> &runs);
  bool isOwned(const Run &run, const char *&why) const;
  bool checkAccess(const std::vector<Run> &runs, Unit unit, Access access,
                   const char *what);
  Memory *findSystem(uint64_t address);
  std::string describe(const Run &run) const;
  bool prepare(const Operand &operand, const Box &shape, int64_t elementBytes,
               Unit unit, Access access, const char *what,
               std::vector<Run> &runs);

  SimulatedChip chip;
  std::vector<Memory> local;
  std::list<Memory> system; // runs point into it
  uint64_t nextSystem;
  std::vector<Tensor> tensors;
  bool tracksTensors = false, parallel = false;
  std::vector<Run> touched; // inside a parallel region
  Counters counters;
  std::vector<std::string> errors;
};

} // namespace npu
} // namespace mlir

#endif // LAYOUT_RUNTIME_NPUSIMULATOR_H
