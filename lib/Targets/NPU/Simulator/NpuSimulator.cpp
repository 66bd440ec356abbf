//===- NpuSimulator.cpp - An NPU that checks every access -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/Simulator/NpuSimulator.h"
#include "NpuMemory.h"
#include <algorithm>
#include <cstring>

using namespace mlir::npu;
using mlir::layout::ChipClock;
using mlir::layout::Direction;

/// The first address of system memory, and the least number of bytes between
/// two of its buffers, so that an access beyond the end of a buffer is
/// detected.
static constexpr uint64_t kSystemBase = uint64_t(1) << 32, kSystemGap = 1 << 16;

Simulator::Simulator(const SimulatedChip &chip)
    : chip(chip), nextSystem(kSystemBase) {
  for (int64_t core = 0; core < chip.npus; ++core)
    local.emplace_back(chip.bytesPerNpu);
}

Simulator::~Simulator() = default;

std::string Simulator::describe(const Run &run) const {
  if (run.core < 0)
    return "system address " + std::to_string(run.memory->base + run.byte);
  return "byte " + std::to_string(run.byte) + " of core " +
         std::to_string(run.core);
}

//===----------------------------------------------------------------------===//
// The host's side
//===----------------------------------------------------------------------===//

uint64_t Simulator::allocSystem(int64_t bytes) {
  uint64_t base = nextSystem;
  system.emplace_back(bytes, base);
  nextSystem = (base + bytes + 2 * kSystemGap) / kSystemGap * kSystemGap;
  return base;
}

void Simulator::freeSystem(uint64_t address) {
  system.remove_if([&](const Memory &m) { return m.base == address; });
}

Simulator::Memory *Simulator::findSystem(uint64_t address) {
  for (Memory &memory : system)
    if (address >= memory.base && address < memory.base + memory.data.size())
      return &memory;
  return nullptr;
}

void Simulator::writeSystem(uint64_t address, const void *data, int64_t bytes) {
  Memory *memory = findSystem(address);
  if (!memory || address - memory->base + bytes > memory->data.size())
    return report("the host writes outside of system memory");
  std::memcpy(memory->data.data() + (address - memory->base), data, bytes);
  std::fill_n(memory->state.begin() + (address - memory->base), bytes, Written);
}

void Simulator::readSystem(uint64_t address, void *data, int64_t bytes) {
  Memory *memory = findSystem(address);
  if (!memory || address - memory->base + bytes > memory->data.size())
    return report("the host reads outside of system memory");
  Run run{memory, -1, int64_t(address - memory->base), bytes};
  const uint8_t *state = memory->state.data() + run.byte;
  bool isWhole = summarize(state, bytes).all & Written;
  for (int64_t i = 0; !isWhole && i < bytes; ++i, ++run.byte)
    if (!(memory->state[run.byte] & Written))
      return report("the host reads " + describe(run) +
                    ", which was never written");
  std::memcpy(data, memory->data.data() + (address - memory->base), bytes);
}

uint64_t Simulator::readLocal(int64_t core, int64_t byte, int64_t bytes) const {
  uint64_t value = 0;
  for (int64_t i = bytes - 1; i >= 0; --i)
    value = value << 8 | local[core].data[byte + i];
  return value;
}

bool Simulator::isWritten(int64_t core, int64_t byte) const {
  return core >= 0 && core < chip.npus && byte >= 0 &&
         byte < chip.bytesPerNpu && (local[core].state[byte] & Written);
}

int64_t Simulator::countWritten() const {
  int64_t count = 0;
  for (const Memory &memory : local)
    count += std::count_if(memory.state.begin(), memory.state.end(),
                           [](uint8_t state) { return state & Written; });
  return count;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Returns true if the box has a stride of 0, so that an element is read more
/// than once.
static bool repeats(const Operand &operand, const Box &shape) {
  for (int d = 0; d < 4; ++d)
    if (operand.stride[d] == 0 && shape[d] > 1)
      return true;
  return false;
}

void Simulator::copy(const Operand &dest, const Operand &source,
                     const Box &shape, int64_t elementBytes, Engine engine,
                     const char *name) {
  std::vector<Run> from, to;
  if (!checkCommand(shape, elementBytes, engine) ||
      !prepare(source, shape, elementBytes, engine,
               repeats(source, shape) ? Access::Read : Access::ReadOnce,
               "the source", from) ||
      !prepare(dest, shape, elementBytes, engine, Access::Write,
               "the destination", to) ||
      !checkExpected(to, &from, 1, "the source"))
    return;
  std::vector<uint8_t> moved;
  for (const Run &run : from)
    moved.insert(moved.end(), run.memory->data.begin() + run.byte,
                 run.memory->data.begin() + run.byte + run.bytes);
  const uint8_t *next = moved.data();
  for (const Run &run : to) {
    std::memcpy(run.memory->data.data() + run.byte, next, run.bytes);
    markWritten(run);
    next += run.bytes;
  }
  if (engine == Engine::Compute)
    return countElements(dest, {source}, shape, elementBytes,
                         shareBank({&from, &to}), name);
  countTransfer(dest, &source, shape, elementBytes, name);
  int64_t &count =
      dest.isLocal
          ? (source.isLocal ? counters.bytesInside : counters.bytesToLocal)
          : (source.isLocal ? counters.bytesToSystem : counters.bytesOutside);
  count += int64_t(moved.size());
  regionBytes += parallel ? int64_t(moved.size()) : 0;
}

void Simulator::fill(const Operand &dest, const void *value, const Box &shape,
                     int64_t elementBytes, Engine engine, const char *name) {
  std::vector<Run> to;
  if (!checkCommand(shape, elementBytes, engine) ||
      !prepare(dest, shape, elementBytes, engine, Access::Write,
               "the destination", to) ||
      !checkExpected(to, nullptr, 0, "the destination"))
    return;
  for (const Run &run : to) {
    uint8_t *data = run.memory->data.data() + run.byte;
    for (int64_t i = 0; i < run.bytes; i += elementBytes)
      std::memcpy(data + i, value, elementBytes);
    markWritten(run);
  }
  if (engine == Engine::Compute)
    return countElements(dest, {}, shape, elementBytes,
                         /*usesBankTwice=*/false, name);
  countTransfer(dest, nullptr, shape, elementBytes, name);
}

void Simulator::compute(const Operand &dest,
                        const std::vector<Operand> &sources, const Box &shape,
                        int64_t elementBytes, const ElementFn &fn,
                        const char *name, const ElementCheck &check,
                        ChipClock::Work work) {
  if (!checkCommand(shape, elementBytes, Engine::Compute))
    return;
  std::vector<std::vector<uint8_t>> values;
  std::vector<std::vector<Run>> runs;
  auto getBytes = [&](const Operand &source) {
    return source.elementBytes ? source.elementBytes : elementBytes;
  };
  for (const Operand &source : sources) {
    if (source.isLocal && dest.isLocal &&
        source.address / chip.bytesPerNpu != dest.address / chip.bytesPerNpu)
      return report("execution units access their own memory only: the "
                    "operands start at cores " +
                    std::to_string(source.address / chip.bytesPerNpu) +
                    " and " + std::to_string(dest.address / chip.bytesPerNpu));
    std::vector<Run> from;
    if (!prepare(source, shape, getBytes(source), Engine::Compute, Access::Read,
                 "the source", from))
      return;
    values.emplace_back();
    for (const Run &run : from)
      values.back().insert(values.back().end(),
                           run.memory->data.begin() + run.byte,
                           run.memory->data.begin() + run.byte + run.bytes);
    runs.push_back(std::move(from));
  }
  std::vector<Run> to;
  if (!prepare(dest, shape, elementBytes, Engine::Compute, Access::Write,
               "the destination", to))
    return;
  for (size_t s = 0; s < runs.size(); ++s)
    if (!checkExpected(to, &runs[s], s + 1, "the source"))
      return;
  std::vector<const void *> elements(sources.size());
  auto getElements = [&](int64_t number) {
    for (size_t s = 0; s < sources.size(); ++s)
      elements[s] = values[s].data() + number * getBytes(sources[s]);
    return elements.data();
  };
  int64_t count = shape[0] * shape[1] * shape[2] * shape[3];
  for (int64_t i = 0; check && i < count; ++i)
    if (std::string rule = check(getElements(i)); !rule.empty())
      return report(std::move(rule));
  int64_t at = 0;
  for (const Run &run : to)
    for (int64_t i = 0; i < run.bytes; i += elementBytes, at += elementBytes)
      fn(run.memory->data.data() + run.byte + i,
         getElements(at / elementBytes));
  for (const Run &run : to)
    markWritten(run);
  std::vector<const std::vector<Run> *> operands{&to};
  for (const std::vector<Run> &source : runs)
    operands.push_back(&source);
  countElements(dest, sources, shape, elementBytes, shareBank(operands), name,
                work);
}

bool Simulator::spoil(const Operand &work, const Box &shape,
                      int64_t elementBytes) {
  std::vector<Run> runs;
  if (!checkCommand(shape, elementBytes, Engine::Compute) ||
      !prepare(work, shape, elementBytes, Engine::Compute, Access::Write,
               "the work tensor", runs))
    return false;
  for (const Run &run : runs) {
    std::memset(run.memory->data.data() + run.byte, 0xd3, run.bytes);
    markWritten(run);
  }
  return true;
}

void Simulator::spoilPadding(const Operand &padding, const Box &shape,
                             int64_t elementBytes, const char *what) {
  std::vector<Run> runs;
  if (!prepare(padding, shape, elementBytes, Engine::Compute,
               Access::WritePadding, what, runs))
    return;
  for (const Run &run : runs) {
    std::memset(run.memory->data.data() + run.byte, 0xd3, run.bytes);
    clearBits(run.memory->state.data() + run.byte, run.bytes, Written);
  }
}

//===----------------------------------------------------------------------===//
// The clock
//===----------------------------------------------------------------------===//

void Simulator::countTransfer(const Operand &dest, const Operand *source,
                              const Box &shape, int64_t elementBytes,
                              const std::string &name) {
  Direction direction =
      source ? layout::getCopyDirection(source->isLocal, dest.isLocal)
             : layout::getFillDirection(dest.isLocal);
  ChipClock::Rows rows =
      ChipClock::getRows(direction, shape, dest.stride,
                         source ? source->stride : dest.stride, elementBytes);
  counters.transfers += !continued;
  int64_t start = continued ? 0 : chip.clock.getStart(direction);
  passTime(Engine::DMA,
           start +
               chip.clock.getRowTime(direction, continued ? *continued : rows),
           name);
  continued.reset();
}

ChipClock::Planes Simulator::getPlanes(uint64_t address,
                                       const Box &shape) const {
  return ChipClock::Planes::get(chip.npus, int64_t(address / chip.bytesPerNpu),
                                shape);
}

int64_t Simulator::getLanes(int64_t elementBytes) const {
  return std::max<int64_t>(chip.clock.getStepBytes(chip.euBytes) / elementBytes,
                           1);
}

/// Counts a command of the execution units that takes `cycles` after its start,
/// computes `points` element operations and issues `issuedLanes` in each core.
/// Also counts a bank conflict, and each step twice, if `usesBankTwice`.
void Simulator::countCommand(int64_t cycles, int64_t points,
                             int64_t issuedLanes, bool usesBankTwice,
                             const std::string &name) {
  ++counters.computes;
  counters.bankConflicts += usesBankTwice;
  regionComputes |= parallel;
  counters.usefulOps += points;
  counters.issuedOps += chip.npus * issuedLanes;
  passTime(Engine::Compute,
           chip.clock.get(layout::ClockParam::compute_start) +
               cycles * (usesBankTwice ? 2 : 1),
           name);
}

/// Counts an elementwise command, a copy or a fill.
void Simulator::countElements(const Operand &dest,
                              const std::vector<Operand> &sources,
                              const Box &shape, int64_t elementBytes,
                              bool usesBankTwice, const std::string &name,
                              ChipClock::Work work) {
  work.function = name;
  work.isAligned = dest.isAligned;
  for (const Operand &source : sources)
    work.isAligned &= source.isAligned;
  ChipClock::Planes planes = getPlanes(dest.address, shape);
  countCommand(chip.clock.getCycles(work, planes, elementBytes, chip.euBytes),
               shape[0] * shape[1] * shape[2] * shape[3],
               chip.clock.getSteps(planes, elementBytes, chip.euBytes) *
                   getLanes(elementBytes),
               usesBankTwice, name);
}

void Simulator::passTime(Engine engine, int64_t cycles,
                         const std::string &name) {
  int64_t &now = parallel ? regionCycles[size_t(engine)] : counters.cycles;
  int64_t begin = parallel ? counters.cycles + now : now;
  events.push_back({engine, begin, begin + cycles, name});
  now += cycles;
  (engine == Engine::DMA ? counters.dmaCycles : counters.computeCycles) +=
      cycles;
}

void Simulator::endRegionTime(bool isSequential) {
  auto [dma, compute] = regionCycles;
  for (size_t e = regionEvent; isSequential && e < events.size(); ++e)
    if (events[e].engine == Engine::Compute) {
      events[e].begin += dma;
      events[e].end += dma;
    }
  counters.cycles += isSequential ? dma + compute : std::max(dma, compute);
  regionCycles = {0, 0};
}

void Simulator::startParallel() {
  if (parallel)
    return report("a parallel region starts inside another");
  parallel = true;
  regionEvent = events.size();
}

void Simulator::endParallel() {
  if (!parallel)
    return report("a parallel region ends before it starts");
  parallel = false;
  for (const Run &run : touched)
    clearBits(run.memory->state.data() + run.byte, run.bytes, kOfRegion);
  bool isSequential = sharesRegionBank();
  counters.regionConflicts += isSequential;
  endRegionTime(isSequential);
  touched.clear();
  ++counters.regions;
  counters.overlappedBytes += regionComputes ? regionBytes : 0;
  regionComputes = false;
  regionBytes = 0;
}
