//===- NpuSimulator.h - An NPU that checks every access ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates the memories and engines of an NPU, as plain C++ without MLIR: X
// cores with a local memory each, system memory in buffers, a DMA engine and
// execution units. A command reads and writes boxes (n, c, h, w) of elements.
// In local memory, channel c of a box at address A = Q * S + R is in core (Q +
// c) mod X, row (Q + c) / X:
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
//  * a command that breaks a rule is reported and has no effect. Addresses and
//    runs are inside their memory, elements and DMA addresses are aligned, and
//    shapes and strides are within limits. No byte is read before it is
//    written, written twice by one command, or read twice by a transfer without
//    zero strides;
//  * between startParallel and endParallel, no engine accesses what the other
//    one writes;
//  * declared tensors own their bytes in every core, holes included. They do
//    not overlap, and a local access is inside one tensor, and inside the
//    elements of the tensor if these were declared. The contents of a released
//    tensor are undefined. If holes are shared, a tensor owns its declared
//    elements only, and no two tensors declare one byte;
//  * a clock counts cycles: commands run one after the other. In a parallel
//    region, each engine runs its commands one after the other, and the region
//    ends when both engines have finished. If both engines use one bank, one
//    engine waits for the other. A command that breaks a rule takes no time;
//  * if the program declares which bytes of the operands correspond, commands
//    move exactly these. An execution unit accesses only the memory of its own
//    core, except for operands that are broadcast.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_SIMULATOR_NPUSIMULATOR_H
#define LAYOUT_TARGETS_NPU_SIMULATOR_NPUSIMULATOR_H

#include "layout/Support/ChipClock.h"
#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::npu {

/// The parameters of `#npu.target`. A limit (`max..`) of 0 is not checked.
/// Shapes are also checked against the limits of OKKernel's commands.
struct SimulatedChip {
  int64_t npus = 0, bytesPerNpu = 0, euBytes = 1, dmaAlignment = 1;
  std::array<int64_t, 4> maxShape{0, 0, 0, 0};
  int64_t maxStride = 0;
  int64_t maxComputeStride = 0; // N and C strides of computations
  int64_t banks = 0;            // equal banks per core, 0: not counted
  layout::ChipClock clock = layout::ChipClock();
};

/// The sizes or the strides of a box of elements, in the order N, C, H, W.
using Box = std::array<int64_t, 4>;

/// The address and strides of a box that a command reads or writes. Strides
/// count elements.
struct Operand {
  bool isLocal = false;
  uint64_t address = 0;
  Box stride{0, 0, 0, 1};
  int64_t elementBytes = 0; // 0: the element bytes of the command
  bool isAligned = false;   // the command states no strides for it
};

enum class Engine { DMA, Compute };

/// A command that ran; times are in cycles since the program began.
struct Event {
  Engine engine;
  int64_t begin, end;
  std::string name;
};

/// Statistics of a program. An element operation is one execution of the body
/// of a computation. The lane operand of a computation is an operand with one
/// element per execution of the body, or else the result. Cores issue element
/// operations in steps (ChipClock.h): in one step each of the X cores processes
/// the lanes of a step, of one channel of one N of the lane operand. The steps
/// of a computation are those of the core that needs most, times the element
/// operations per element of the lane operand. Lanes beyond the end of a
/// channel, and cores without a channel, are issued but idle.
struct Counters {
  // The numbers of DMA and compute commands that ran.
  int64_t transfers = 0, computes = 0;
  // The bytes that DMA moved: from system to local memory (S2L), L2S, L2L and
  // S2S.
  int64_t bytesToLocal = 0, bytesToSystem = 0, bytesInside = 0,
          bytesOutside = 0;
  int64_t peakBytes = 0; // the highest end of a declared tensor in a core
  // The maximum, over time, of the bytes of all live tensors in a core. If
  // holes are shared, only bytes of elements count.
  int64_t liveBytes = 0;
  int64_t broadcastBytes = 0; // bytes of operands read from other cores
  // Element operations that the program needs, and those issued, idle lanes
  // included.
  int64_t usefulOps = 0, issuedOps = 0;
  int64_t regions = 0;         // completed parallel regions
  int64_t overlappedBytes = 0; // moved by DMA in regions that also compute
  // The number of commands that use a bank of some core for two operands that
  // begin at different bytes, and of parallel regions in which both engines use
  // one bank.
  int64_t bankConflicts = 0, regionConflicts = 0;
  // The cycles until the last command ends, and the cycles in which the DMA
  // engine or the execution units are busy.
  int64_t cycles = 0, dmaCycles = 0, computeCycles = 0;
};

/// The bytes that a copy or a computation combines, as a box of `sizes`, and
/// the numbers of these bytes in each operand, the destination first. The byte
/// at index i of the box has number first_k + sum of i_d * stride_k_d in
/// operand k. A byte of the destination is computed from the bytes of the
/// sources at the same index.
struct Relation {
  static constexpr size_t kMaxRank = 16;
  struct Side {
    bool isLocal = false;
    uint64_t address = 0; // of the tensor, or of system byte number 0
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
  void setClock(layout::ClockParam param, int64_t value) {
    chip.clock.set(param, value);
  }

  // Accesses of the host, which no counter and no clock counts.
  uint64_t allocSystem(int64_t bytes);
  void freeSystem(uint64_t address);
  void writeSystem(uint64_t address, const void *data, int64_t bytes);
  void readSystem(uint64_t address, void *data, int64_t bytes);
  /// Returns `bytes` bytes of core `core` from byte `byte` on, as a
  /// little-endian integer. Does not check that they were written; the initial
  /// bytes are 0.
  uint64_t readLocal(int64_t core, int64_t byte, int64_t bytes) const;
  bool isWritten(int64_t core, int64_t byte) const;
  /// Returns the number of bytes, summed over all cores, that have been written
  /// and are not undefined again.
  int64_t countWritten() const;

  // Commands.
  void copy(const Operand &dest, const Operand &source, const Box &shape,
            int64_t elementBytes, Engine engine = Engine::DMA,
            const char *name = "copy");
  /// Makes the next transfer a part of the command of the last one, which moves
  /// `rows` for it and has no other start.
  void continueTransfer(const layout::ChipClock::Rows &rows) {
    continued = rows;
  }
  void fill(const Operand &dest, const void *value, const Box &shape,
            int64_t elementBytes, Engine engine = Engine::DMA,
            const char *name = "fill");
  /// Computes dest = fn(sources) element by element, on the execution units.
  /// `check` gets the source elements of one result. It returns a message if
  /// they break a rule of the command, e.g. are outside of a lookup table, and
  /// otherwise an empty string. The first message is reported, and nothing is
  /// computed. `work` is that of a step, without the function `name`.
  using ElementFn = std::function<void(void *dest, const void *const *sources)>;
  using ElementCheck = std::function<std::string(const void *const *sources)>;
  void compute(const Operand &dest, const std::vector<Operand> &sources,
               const Box &shape, int64_t elementBytes, const ElementFn &fn,
               const char *name = "compute", const ElementCheck &check = {},
               layout::ChipClock::Work work = {});
  /// Overwrites the work buffer of a command of the execution units with
  /// arbitrary bytes, as the chip does. Reports an error and returns false if
  /// the command may not write the buffer.
  bool spoil(const Operand &work, const Box &shape, int64_t elementBytes);
  /// Makes padding undefined that a command of the execution units overwrites.
  /// The bytes must be inside one declared tensor, and may be outside of its
  /// elements. `what` names them in errors.
  void spoilPadding(const Operand &padding, const Box &shape,
                    int64_t elementBytes, const char *what);
  /// Begins a kernel (okk/sim_compute.h), which computes on images: dense
  /// copies of its operands. Then addImage adds each operand, and addBox the
  /// boxes of local memory that it consists of. getImages fills the images, or
  /// returns nullptr if a rule is broken, and endCompute writes the results
  /// back. `points` is the number of executions of the body. `work` is that
  /// of a function of OKKernel on `planes`. Without a function, the steps are
  /// those of the boxes of the lane operand, and each takes the cycles of a
  /// kernel per execution of the body.
  void beginCompute(const char *name, int64_t points,
                    const layout::ChipClock::Work &work = {},
                    const layout::ChipClock::Planes &planes = {});
  /// Returns the planes of a box at `address` in local memory.
  layout::ChipClock::Planes getPlanes(uint64_t address, const Box &shape) const;
  void addImage(int64_t bytes, unsigned access);
  /// Requires that each element of the operand that addImage added last is in
  /// the core of the results with the same key. The key of an element is (byte
  /// in the image / inner) mod count, e.g. its channel.
  void keepInCore(int64_t inner, int64_t count);
  void addBox(uint64_t address, int64_t imageByte, int64_t elementBytes,
              const Box &shape, const Box &stride, const Box &imageStride);
  void *const *getImages();
  void endCompute();
  void startParallel();
  void endParallel();
  bool isParallel() const { return parallel; }

  /// Makes each tensor that is declared later own only its declared elements,
  /// so that other tensors may be in the holes between them.
  void shareHoles() { sharesHoles = true; }
  /// Declares a tensor at the local address `address` that owns `bytes` of
  /// every core. Reports an error, and does not declare it, if it leaves a
  /// core, if `address` is not a multiple of `alignment`, or if it overlaps
  /// another tensor and holes are not shared.
  void declareTensor(uint64_t address, int64_t bytes, int64_t alignment);
  /// Declares elements of a declared tensor; its other bytes are holes. Reports
  /// an error, and declares no more of them, if no declared tensor contains
  /// them, or if holes are shared and they are elements of another tensor.
  void declareElements(const Operand &elements, const Box &shape,
                       int64_t elementBytes);
  /// Declares elements of a declared tensor, and numbers their bytes for checks
  /// of moved bytes: byte b of the element at index i of the box gets first +
  /// sum of i_d * strides_d + b.
  void numberElements(const Operand &elements, const Box &shape,
                      int64_t elementBytes, int64_t first, const Box &strides);
  void releaseTensor(uint64_t address);

  /// Requires that the commands until endExpected move or combine all bytes of
  /// the box of `relation`, each once, and that each byte has, in every
  /// operand, the number that `relation` states for its index. Otherwise an
  /// error is reported.
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
    /// Per core, 1 plus the number that the program gave each byte of the
    /// tensor for checks of moved bytes, or 0 if the byte has no number.
    std::vector<std::unique_ptr<int32_t[]>> numbers;
    /// Per core, the disjoint ranges of bytes with elements of the tensor, as a
    /// map from begin to end. Only used if holes are shared, i.e. other tensors
    /// may be between these ranges.
    std::vector<std::map<int64_t, int64_t>> owned;
  };
  struct Expected;
  /// The accesses of a command to bytes. All but Read reject a byte that one
  /// operand of the command accesses twice. WritePadding may reach bytes of a
  /// tensor that are not elements.
  enum class Access { Read, ReadOnce, Write, WritePadding };
  struct Image;
  struct Computation;
  struct Numbers;

  /// Returns true if `elementBytes` and all sizes of `shape` are at least 1,
  /// and each size is at most that of `most`, where 0 means no limit. Reports
  /// an error otherwise.
  bool checkShape(const Box &shape, int64_t elementBytes, const Box &most = {});
  bool checkCommand(const Box &shape, int64_t elementBytes, Engine engine);
  bool checkStrides(const Operand &operand, const Box &shape, Engine engine,
                    const std::string &where);
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
  void countTransfer(const Operand &dest, const Operand *source,
                     const Box &shape, int64_t elementBytes,
                     const std::string &name);
  void countCommand(int64_t cycles, int64_t points, int64_t issuedLanes,
                    bool usesBankTwice, const std::string &name);
  void countElements(const Operand &dest, const std::vector<Operand> &sources,
                     const Box &shape, int64_t elementBytes, bool usesBankTwice,
                     const std::string &name,
                     layout::ChipClock::Work work = {});
  int64_t getLanes(int64_t elementBytes) const;
  void countKernel(const Image &image, bool usesBankTwice);
  void passTime(Engine engine, int64_t cycles, const std::string &name);
  void endRegionTime(bool isSequential);
  void countMoved(int64_t &counter, int64_t bytes);
  Memory *findSystem(uint64_t address);
  std::string describe(const Run &run) const;
  bool prepare(const Operand &operand, const Box &shape, int64_t elementBytes,
               Engine engine, Access access, const char *what,
               std::vector<Run> &runs);

  SimulatedChip chip;
  std::vector<Memory> local;
  std::list<Memory> system; // buffers, with stable addresses for Run
  uint64_t nextSystem;
  std::vector<Tensor> tensors;
  mutable size_t lastTensor = 0; // cache of findTensor
  bool tracksTensors = false, sharesHoles = false, parallel = false;
  std::vector<int64_t> ownedBytes; // live bytes per core, if holes are shared
  std::vector<RegionRun> touched;  // accesses of the current parallel region
  std::unique_ptr<Computation> computation; // the kernel that began last
  std::unique_ptr<Expected> expected;
  int64_t regionBytes = 0; // moved by DMA in the current parallel region
  bool regionComputes = false;
  std::optional<layout::ChipClock::Rows> continued;
  std::array<int64_t, 2> regionCycles{0, 0}; // of each engine in the region
  size_t regionEvent = 0; // index of the first event of the region
  std::vector<Event> events;
  Counters counters;
  std::vector<std::string> errors;
};

} // namespace mlir::npu

#endif // LAYOUT_TARGETS_NPU_SIMULATOR_NPUSIMULATOR_H
