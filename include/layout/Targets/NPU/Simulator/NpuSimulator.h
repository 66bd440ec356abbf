//===- NpuSimulator.h - An NPU that checks every access ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memories and engines of an NPU, as plain C++ without MLIR: X cores with a
// local memory each, system memory in buffers, a DMA engine and execution units
// that run commands. A command reads and writes boxes (n, c, h, w) of elements;
// in local memory, channel c of a box at address A = Q * S + R lies in core
// (Q + c) mod X, row (Q + c) / X:
//
//     byte = R + e * (n * sN + row * sC + h * sH + w * sW)
//
//     Simulator npu({4, 1024, 128});
//     uint64_t x = npu.allocSystem(480);
//     npu.writeSystem(x, data, 480);
//     npu.copy({true, 2 * 1024, {64, 32, 5, 1}}, {false, x, {60, 20, 5, 1}},
//              {2, 3, 4, 5}, 4);                     // aligned, start core 2
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
//  * tensors that were declared own their bytes in every core, holes included:
//    they do not overlap, and local accesses stay inside one and, where its
//    elements were declared, touch no others. What a released tensor held is
//    gone. Where holes are shared, a tensor owns its declared elements alone,
//    and no two declare one byte;
//  * a clock runs: commands one after the other, in a parallel region those of
//    each engine, until both are through. Where both engines use one bank in a
//    region they take turns. A command that breaks a rule takes no time;
//  * where the program says which bytes of one operand are which of the other,
//    commands move those and no others; execution units see their own memory
//    only, but for operands that are broadcast.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_NPUSIMULATOR_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_NPUSIMULATOR_H

#include "layout/Support/EngineTimes.h"
#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlir {
namespace npu {

/// The figures of `#npu.target`; limits of 0 are not known.
struct SimulatedChip {
  int64_t npus = 0, bytesPerNpu = 0, euBytes = 1, dmaAlignment = 1;
  std::array<int64_t, 4> maxShape{0, 0, 0, 0};
  int64_t maxStride = 0;
  int64_t banks = 0; // of a core, evenly
  layout::ChipClock clock;
};

/// N, C, H and W.
using Box = std::array<int64_t, 4>;

/// Where a command finds the elements of its box; strides count elements.
struct Operand {
  bool isLocal = false;
  uint64_t address = 0;
  Box stride{0, 0, 0, 1};
  int64_t elementBytes = 0; // where they are not those of the command
};

enum class Engine { DMA, Compute };

/// A command that ran, in cycles since the program began.
struct Event {
  Engine engine;
  int64_t begin, end;
  std::string name;
};

/// An element operation is one run of the body of a computation. Execution
/// cores issue them in steps: in one step each of the X cores works on EU bytes
/// of one row, which is successive bytes of the operand that the lanes run
/// along: one of which each run of the body has an element of its own, or else
/// the result. A computation takes as many steps as the core with the most
/// rows, and that for every element operation that an element of the operand
/// has. Lanes beyond the end of a row, and cores without one, are issued for
/// nothing.
struct Counters {
  int64_t transfers = 0, computes = 0; // commands that ran
  int64_t bytesToLocal = 0, bytesToSystem = 0, bytesInside = 0,
          bytesOutside = 0;             // moved by DMA: S2L, L2S, L2L, S2S
  int64_t peakBytes = 0;                // of declared tensors, in a core, ..
  int64_t liveBytes = 0;                // .. and the most that live at one time
                                        // (of elements where holes are shared)
  int64_t broadcastBytes = 0;           // of operands that go to other cores
  int64_t usefulOps = 0, issuedOps = 0; // element operations
  int64_t regions = 0;                  // parallel ones that ended
  int64_t overlappedBytes = 0; // moved by DMA in those that computed, too
  // In some core, one bank for two operands of a computation, unless they begin
  // at the same byte; and for both engines in one region.
  int64_t bankConflicts = 0, regionConflicts = 0;
  // Of the clock: until the last command ends, and while an engine works.
  int64_t cycles = 0, dmaCycles = 0, computeCycles = 0;
};

/// A box of bytes and where each of them is among the numbered bytes of several
/// operands, the destination first: the byte of index i has in operand k the
/// number first_k + sum of i_d * stride_k_d.
struct Relation {
  static constexpr size_t kMaxRank = 16;
  struct Side {
    bool isLocal = false;
    uint64_t address = 0; // of a tensor, or of what is at number 0
    int64_t first = 0;
    std::vector<int64_t> strides;
  };
  std::vector<int64_t> sizes;
  std::vector<Side> sides;
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
  /// Bytes that the core has, little end first, whether written or not.
  uint64_t readLocal(int64_t core, int64_t byte, int64_t bytes) const;
  bool isWritten(int64_t core, int64_t byte) const;
  /// How many bytes of local memory have been written.
  int64_t countWritten() const;

  // Commands.
  void copy(const Operand &dest, const Operand &source, const Box &shape,
            int64_t elementBytes, Engine engine = Engine::DMA,
            const char *name = "copy");
  void fill(const Operand &dest, const void *value, const Box &shape,
            int64_t elementBytes, Engine engine = Engine::DMA,
            const char *name = "fill");
  /// dest = fn(sources) element by element, on the execution units.
  using ElementFn = std::function<void(void *dest, const void *const *sources)>;
  void compute(const Operand &dest, const std::vector<Operand> &sources,
               const Box &shape, int64_t elementBytes, const ElementFn &fn,
               const char *name = "compute");
  /// Writes what nobody is to read; false where a rule is broken.
  bool spoil(const Operand &work, const Box &shape, int64_t elementBytes);
  /// A kernel on dense images of local tensors (okk/sim_compute.h): operands,
  /// the boxes of each, the images or null where a rule is broken, the results.
  void beginCompute(const char *name, int64_t points);
  void addImage(int64_t bytes, unsigned access);
  /// The elements of the last operand are of use to the core that has the
  /// result of the same key alone, which is (byte in the image / inner) mod
  /// count.
  void keepInCore(int64_t inner, int64_t count);
  void addBox(uint64_t address, int64_t imageByte, int64_t elementBytes,
              const Box &shape, const Box &stride, const Box &imageStride);
  void *const *getImages();
  void endCompute();
  void startParallel();
  void endParallel();
  bool isParallel() const { return parallel; }

  /// From here on tensors own their declared elements alone, and others may lie
  /// in their holes.
  void shareHoles() { sharesHoles = true; }
  /// A tensor at `address` owns `bytes` of every core from its byte on ..
  void declareTensor(uint64_t address, int64_t bytes, int64_t alignment);
  /// .. and these are elements of it; the rest is holes.
  void declareElements(const Operand &elements, const Box &shape,
                       int64_t elementBytes);
  /// .. of which the bytes have numbers from `first` on, elements by `strides`.
  void numberElements(const Operand &elements, const Box &shape,
                      int64_t elementBytes, int64_t first, const Box &strides);
  void releaseTensor(uint64_t address);

  /// Until endExpected, commands move the bytes of this relation, each once and
  /// none to where another one belongs.
  void expect(Relation relation);
  void endExpected();

  const Counters &getCounters() const { return counters; }
  const std::vector<Event> &getEvents() const { return events; }
  const std::vector<std::string> &getErrors() const { return errors; }
  void report(std::string message) { errors.push_back(std::move(message)); }

private:
  struct Memory;
  struct Run;
  struct RegionRun;
  struct Tensor {
    uint64_t address;
    int64_t byte, bytes;
    bool hasElements;
    /// Of each byte of each core its number plus 1, 0 where it has none.
    std::vector<std::unique_ptr<int32_t[]>> numbers;
    /// Where holes are shared: its elements in each core, begins and ends.
    std::vector<std::map<int64_t, int64_t>> owned;
  };
  struct Expected;
  enum class Access { Read, ReadOnce, Write };
  struct Image;
  struct Computation;
  struct Numbers;

  /// A shape of at least one iteration, and `most` where that is not 0.
  bool checkShape(const Box &shape, int64_t elementBytes, const Box &most = {});
  bool checkCommand(const Box &shape, int64_t elementBytes, Engine engine);
  bool checkOperand(const Operand &operand, const Box &shape,
                    int64_t elementBytes, Engine engine, const char *what);
  bool collectRuns(const Operand &operand, const Box &shape,
                   int64_t elementBytes, const char *what,
                   std::vector<Run> &runs);
  const Tensor *findTensor(const Run &run) const;
  bool holds(const Tensor &tensor, const Run &run) const;
  bool claim(Tensor &tensor, const Run &run);
  bool shareBank(const std::vector<const std::vector<Run> *> &operands) const;
  bool sharesRegionBank() const;
  bool checkAccess(const std::vector<Run> &runs, Engine engine, Access access,
                   const char *what);
  static void markWritten(const Run &run);
  bool getNumbers(const Run &run, const Relation::Side &side, const char *what,
                  Numbers &numbers);
  bool checkExpected(const std::vector<Run> &dest,
                     const std::vector<Run> *source, size_t side,
                     const char *what);
  int64_t findStray(const Numbers &dest, const Numbers &source, size_t side,
                    int64_t bytes);
  bool checkExpectedImage(const Run &run, int64_t place, const char *what);
  bool checkCores(const Image &image, std::vector<int64_t> &coreOf,
                  const std::string &what);
  void countTransfer(int64_t bytes, const std::string &name);
  void countSteps(const std::vector<Run> &runs, int64_t elementBytes,
                  int64_t points, bool usesBankTwice, const std::string &name);
  void passTime(Engine engine, int64_t cycles, const std::string &name);
  void endRegionTime(bool takesTurns);
  void countMoved(int64_t &counter, int64_t bytes);
  Memory *findSystem(uint64_t address);
  std::string describe(const Run &run) const;
  bool prepare(const Operand &operand, const Box &shape, int64_t elementBytes,
               Engine engine, Access access, const char *what,
               std::vector<Run> &runs);

  SimulatedChip chip;
  std::vector<Memory> local;
  std::list<Memory> system; // runs point into it
  uint64_t nextSystem;
  std::vector<Tensor> tensors;
  mutable size_t lastTensor = 0; // that a run was in
  bool tracksTensors = false, sharesHoles = false, parallel = false;
  std::vector<int64_t> ownedBytes; // of each core, where holes are shared
  std::vector<RegionRun> touched;  // inside a parallel region
  std::unique_ptr<Computation> computation; // that is being described
  std::unique_ptr<Expected> expected;
  int64_t regionBytes = 0; // moved by DMA in the parallel region
  bool regionComputes = false;
  std::array<int64_t, 2> regionCycles{0, 0}; // of each engine
  size_t regionEvent = 0;                    // the first of the region
  std::vector<Event> events;
  Counters counters;
  std::vector<std::string> errors;
};

} // namespace npu
} // namespace mlir

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_NPUSIMULATOR_H
