//===- ClockTest.cpp - The timing of the simulated engines ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Times by hand: a transfer takes 30 cycles and one per 64 bytes, a command of
// the execution units 8 and one per 128 bytes of a core.

#include "layout/Support/ChipClock.h"
#include "layout/Targets/NPU/Simulator/NpuSimulator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::npu;
using mlir::layout::ClockParam;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

class Clock : public testing::Test {
protected:
  Clock() { open(/*banks=*/0); }
  void open(int64_t banks) {
    SimulatedChip chip{4, 1024, 128};
    chip.banks = banks;
    chip.clock.set(ClockParam::s2l_start, 30);
    chip.clock.set(ClockParam::fill_local_start, 30);
    npu = std::make_unique<Simulator>(chip);
    std::vector<float> ones(256, 1);
    x = npu->allocSystem(1024);
    npu->writeSystem(x, ones.data(), 1024);
  }
  static Operand row(uint64_t address) { return {true, address, {0, 0, 0, 1}}; }
  void load(uint64_t address, int64_t count) {
    npu->copy(row(address), {false, x, {0, 0, 0, 1}}, {1, 1, 1, count}, 4);
  }
  void add(uint64_t dest, uint64_t a, uint64_t b, int64_t count) {
    npu->compute(row(dest), {row(a), row(b)}, {1, 1, 1, count}, 4,
                 [](void *, const void *const *) {});
  }
  std::array<int64_t, 3> times() const {
    const Counters &counters = npu->getCounters();
    return {counters.cycles, counters.dmaCycles, counters.computeCycles};
  }
  std::vector<std::pair<int64_t, int64_t>> events() const {
    std::vector<std::pair<int64_t, int64_t>> all;
    for (const Event &event : npu->getEvents())
      all.push_back({event.begin, event.end});
    return all;
  }

  std::unique_ptr<Simulator> npu;
  uint64_t x;
};

TEST_F(Clock, CommandsFollowEachOther) {
  load(0, 16);          // 64 bytes
  load(128, 17);        // 68 bytes are two cycles
  add(512, 0, 128, 16); // one step
  npu->fill(row(256), "\0\0\200\77", {1, 1, 1, 33}, 4, Engine::Compute);
  npu->fill(row(0), "\0\0\200\77", {1, 1, 1, 256}, 4); // 1024 bytes
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  EXPECT_THAT(events(), ElementsAre(std::pair(0, 31), std::pair(31, 63),
                                    std::pair(63, 72), std::pair(72, 82),
                                    std::pair(82, 128)));
  EXPECT_THAT(times(), ElementsAre(128, 31 + 32 + 46, 9 + 10));
}

/// The slower engine determines the time of a region, and later commands wait
/// for both.
TEST_F(Clock, EnginesOverlapInsideOfRegions) {
  load(0, 16); // until 31
  npu->startParallel();
  load(512, 64);     // 34 cycles
  add(256, 0, 0, 8); // 9
  add(384, 0, 0, 8); // 9 more, after the first
  npu->endParallel();
  add(256, 512, 512, 8); // what was loaded
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  EXPECT_THAT(events(), ElementsAre(std::pair(0, 31), std::pair(31, 65),
                                    std::pair(31, 40), std::pair(40, 49),
                                    std::pair(65, 74)));
  EXPECT_THAT(times(), ElementsAre(74, 65, 27));
}

TEST_F(Clock, RegionsWithoutCommandsTakeNoTime) {
  npu->startParallel();
  npu->endParallel();
  EXPECT_THAT(times(), ElementsAre(0, 0, 0));
}

TEST_F(Clock, BanksThatAreUsedTwiceTakeEveryStepTwice) {
  open(/*banks=*/8); // of 128 bytes
  load(0, 32);
  load(128, 64); // two banks
  int64_t before = npu->getCounters().computeCycles;
  add(512, 0, 128, 32);
  EXPECT_EQ(npu->getCounters().computeCycles - before, 9);
  add(512, 0, 64, 32); // half of the second operand shares the first's bank
  EXPECT_EQ(npu->getCounters().computeCycles - before, 9 + 10);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
}

TEST_F(Clock, EnginesThatShareABankRunSequentially) {
  open(/*banks=*/8);
  load(0, 16); // until 31
  npu->startParallel();
  add(512, 0, 0, 8); // 9 cycles, after the other engine's
  load(64, 16);      // 31, in the bank that is read
  npu->endParallel();
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  EXPECT_THAT(events(), ElementsAre(std::pair(0, 31), std::pair(62, 71),
                                    std::pair(31, 62)));
  EXPECT_THAT(times(), ElementsAre(71, 62, 9));
}

TEST_F(Clock, RefusedCommandsTakeNoTime) {
  load(2, 4);        // not aligned
  add(256, 0, 0, 8); // never written
  EXPECT_THAT(npu->getErrors(), SizeIs(2));
  EXPECT_THAT(times(), ElementsAre(0, 0, 0));
}

/// Rows that take a third of a cycle each are rounded together. A unit of which
/// a cycle has 128 is two for each of 64 bytes.
TEST_F(Clock, RatesRoundUpOnceAndDoNotOverflow) {
  using mlir::layout::Direction;
  mlir::layout::ChipClock clock;
  clock.set(ClockParam::s2l_rate, 12000);
  EXPECT_EQ(clock.getRowTime(Direction::S2L, {0, 4}), 0);
  EXPECT_EQ(clock.getRowTime(Direction::S2L, {1, 4}), 1);
  EXPECT_EQ(clock.getRowTime(Direction::S2L, {3, 4}), 1);
  EXPECT_EQ(clock.getRowTime(Direction::S2L, {4, 4}), 2);
  EXPECT_EQ(clock.getRowTime(Direction::L2S, {5, 4}, /*unit=*/128), 40);
  EXPECT_EQ(clock.getRowTime(Direction::L2S, {1 << 30, 1 << 30},
                             /*unit=*/1 << 30),
            mlir::layout::kInfiniteCost - 1);
}

} // namespace
