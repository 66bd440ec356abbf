//===- SimulatorRulesTest.cpp - The limits of the simulator's rules -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each rule is barely met and barely violated, by a byte, an iteration or a
// step.

#include "layout/Targets/NPU/Simulator/NpuSimulator.h"
#include "layout/Targets/NPU/Simulator/okk/okk.h"
#include "layout/Targets/NPU/Simulator/okk/sim.h"
#include "layout/Targets/NPU/Simulator/okk/sim_compute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::npu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Four cores of 1024 bytes, 32 lanes, and 1024 bytes of ones in system memory.
class SimulatorRules : public testing::Test {
protected:
  SimulatorRules() { x = open({4, 1024, 128}); }
  /// Opens another chip with the ones in system memory.
  uint64_t open(const SimulatedChip &chip) {
    npu = std::make_unique<Simulator>(chip);
    std::vector<float> ones(256, 1);
    uint64_t address = npu->allocSystem(1024);
    npu->writeSystem(address, ones.data(), 1024);
    return address;
  }
  /// Returns a row of floats in one core.
  static Operand row(uint64_t address) { return {true, address, {0, 0, 0, 1}}; }
  static Operand outside(uint64_t address) {
    return {false, address, {0, 0, 0, 1}};
  }
  void load(uint64_t address, int64_t count) {
    npu->copy(row(address), outside(x), {1, 1, 1, count}, 4);
  }
  /// Computes dest = a + b on rows of `count` floats.
  void add(uint64_t dest, uint64_t a, uint64_t b, int64_t count) {
    npu->compute(row(dest), {row(a), row(b)}, {1, 1, 1, count}, 4,
                 [](void *, const void *const *) {});
  }
  void fill(uint64_t address, int64_t count, Engine engine) {
    npu->fill(row(address), "\0\0\200\77", {1, 1, 1, count}, 4, engine);
  }

  std::unique_ptr<Simulator> npu;
  uint64_t x;
};

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

TEST_F(SimulatorRules, ComputationsHaveLimitsThatTransfersHaveNot) {
  uint64_t y = npu->allocSystem(4096);
  Box channels{1, 4096, 1, 1};
  npu->fill({false, y, {1, 1, 1, 1}}, "", channels, 1);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  npu->fill({true, 0, {1, 1, 1, 1}}, "", {1, 4095, 1, 1}, 1, Engine::Compute);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  npu->fill({true, 0, {1, 1, 1, 1}}, "", channels, 1, Engine::Compute);
  EXPECT_THAT(npu->getErrors(),
              ElementsAre(HasSubstr("the chip supports 1 to 4095")));
}

/// The smaller of the limits of the chip and of its engine applies.
TEST_F(SimulatorRules, BothLimitsHold) {
  SimulatedChip chip{4, 1024, 128};
  chip.maxShape = {8, 8192, 8, 8};
  open(chip);
  Operand all{true, 0, {1, 1, 1, 1}};
  npu->fill(all, "", {1, 4096, 1, 1}, 1, Engine::Compute);
  npu->fill(all, "", {1, 1, 9, 1}, 1, Engine::Compute);
  EXPECT_THAT(
      npu->getErrors(),
      ElementsAre(HasSubstr("iterations of C, but the chip supports 1 to 4095"),
                  HasSubstr("iterations of H, but the chip supports 1 to 8")));
}

TEST_F(SimulatorRules, StridesReachTheirLimit) {
  SimulatedChip chip{4, 1024, 128};
  chip.maxStride = 40;
  open(chip);
  auto fillRows = [&](int64_t rows, int64_t stride) {
    npu->fill({true, 0, {0, 0, stride, 1}}, "\0\0\0", {1, 1, rows, 4}, 4);
    return npu->getErrors().size();
  };
  EXPECT_EQ(fillRows(2, 40), 0u);
  EXPECT_EQ(fillRows(1, 1000), 0u); // is not used
  EXPECT_EQ(fillRows(2, 41), 1u);
}

/// Elements of 8 bytes are pairs of words.
TEST_F(SimulatorRules, WideElementsAreAlignedToWords) {
  npu->fill(row(4), "\0\0\0\0\0\0\0", {1, 1, 1, 1}, 8);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  npu->fill(row(2), "\0\0\0\0\0\0\0", {1, 1, 1, 1}, 8);
  EXPECT_THAT(npu->getErrors(),
              ElementsAre(HasSubstr("is not aligned to 4 bytes")));
}

TEST_F(SimulatorRules, RunsEndWithTheirMemory) {
  uint64_t small = npu->allocSystem(7);
  std::vector<uint8_t> bytes(8, 1);
  npu->writeSystem(small, bytes.data(), 7);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  npu->copy(row(0), outside(small), {1, 1, 1, 7}, 1);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  npu->copy(row(0), outside(small), {1, 1, 1, 8}, 1);
  EXPECT_THAT(npu->getErrors(),
              ElementsAre(HasSubstr("the source leaves its memory")));
  npu->writeSystem(small, bytes.data(), 8);
  npu->readSystem(small, bytes.data(), 8);
  EXPECT_THAT(npu->getErrors(),
              ElementsAre(testing::_, HasSubstr("the host writes outside"),
                          HasSubstr("the host reads outside")));
}

/// An access beyond a system buffer does not reach the next one.
TEST_F(SimulatorRules, BuffersOfTheSystemLieApart) {
  npu->allocSystem(1024);
  npu->copy(row(0), outside(x + 1024), {1, 1, 1, 1}, 4);
  EXPECT_THAT(npu->getErrors(), ElementsAre(HasSubstr("is not in a buffer")));
}

TEST_F(SimulatorRules, FillsWriteEveryElement) {
  fill(16, 3, Engine::DMA);
  for (int64_t byte : {16, 20, 24})
    EXPECT_EQ(npu->readLocal(0, byte, 4), 0x3f800000u);
  EXPECT_FALSE(npu->isWritten(0, 28));
  EXPECT_EQ(npu->getCounters().transfers, 1);
  EXPECT_EQ(npu->getCounters().computes, 0);
}

//===----------------------------------------------------------------------===//
// Banks and lanes
//===----------------------------------------------------------------------===//

TEST_F(SimulatorRules, BanksEndWithTheirLastByte) {
  SimulatedChip chip{4, 1024, 128};
  chip.banks = 8;
  x = open(chip);
  load(0, 64); // two banks
  add(256, 0, 128, 32);
  EXPECT_EQ(npu->getCounters().bankConflicts, 0);
  add(256, 0, 124, 32);
  EXPECT_EQ(npu->getCounters().bankConflicts, 1);
  // Both engines use banks of equal number, but of two cores.
  npu->startParallel();
  npu->copy(row(3 * 1024 + 256), outside(x), {1, 1, 1, 8}, 4);
  add(256, 0, 0, 8);
  npu->endParallel();
  EXPECT_EQ(npu->getCounters().regionConflicts, 0);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
}

TEST_F(SimulatorRules, ChipsWithoutBanksHaveNoConflicts) {
  load(0, 64);
  add(256, 0, 4, 32);
  EXPECT_EQ(npu->getCounters().bankConflicts, 0);
}

/// Rows of 33 floats take two steps, in the core with the most rows.
TEST_F(SimulatorRules, StepsAreThoseOfTheSlowestUnit) {
  fill(2 * 1024, 33, Engine::Compute);
  EXPECT_EQ(npu->getCounters().usefulOps, 33);
  EXPECT_EQ(npu->getCounters().issuedOps, 4 * 32 * 2);
}

/// A box in core 0 and one in core 1, which begins at the end of the other.
TEST_F(SimulatorRules, EachBoxTakesItsOwnSteps) {
  load(0, 32);
  load(1024 + 128, 32);
  npu->beginCompute("id", 64);
  npu->addImage(256, OKK_SIM_READ | OKK_SIM_WRITE | OKK_SIM_LANES);
  for (int64_t k : {0, 1})
    npu->addBox(k * (1024 + 128), k * 128, 4, {1, 1, 1, 32}, {0, 0, 0, 1},
                {0, 0, 0, 1});
  ASSERT_TRUE(npu->getImages());
  npu->endCompute();
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  EXPECT_EQ(npu->getCounters().issuedOps, 2 * 4 * 32);
}

/// Boxes that are contiguous in memory and in reverse order in the image.
TEST_F(SimulatorRules, ImagesAreInTheOrderOfTheirBoxes) {
  fill(0, 4, Engine::DMA);
  npu->fill(row(16), "\0\0\0", {1, 1, 1, 4}, 4);
  npu->beginCompute("id", 8);
  npu->addImage(32, OKK_SIM_READ | OKK_SIM_LANES);
  Box four{1, 1, 1, 4}, stride{0, 0, 0, 1};
  npu->addBox(0, 16, 4, four, stride, stride);
  npu->addBox(16, 0, 4, four, stride, stride);
  void *const *images = npu->getImages();
  ASSERT_TRUE(images);
  EXPECT_EQ(static_cast<float *>(images[0])[0], 0);
  EXPECT_EQ(static_cast<float *>(images[0])[7], 1);
  npu->endCompute();
  EXPECT_THAT(npu->getErrors(), IsEmpty());
}

TEST_F(SimulatorRules, BoxesEndWithTheirImage) {
  load(0, 4);
  npu->beginCompute("id", 4);
  npu->addImage(15, OKK_SIM_READ | OKK_SIM_LANES);
  npu->addBox(0, 0, 4, {1, 1, 1, 4}, {0, 0, 0, 1}, {0, 0, 0, 1});
  EXPECT_THAT(npu->getErrors(),
              ElementsAre(HasSubstr("leaves its image of 15 bytes")));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

TEST_F(SimulatorRules, EnginesDoNotWriteWhatTheOtherReads) {
  load(0, 8);
  npu->startParallel();
  npu->copy(outside(x), row(0), {1, 1, 1, 8}, 4);
  fill(0, 8, Engine::Compute);
  npu->endParallel();
  EXPECT_THAT(npu->getErrors(),
              ElementsAre(HasSubstr("which the other engine accesses")));
  npu->startParallel();
  add(512, 0, 0, 8);
  load(0, 8);
  npu->endParallel();
  EXPECT_EQ(npu->getErrors().size(), 2u);
  // One engine executes its commands in order.
  npu->startParallel();
  npu->copy(outside(x), row(0), {1, 1, 1, 8}, 4);
  load(0, 8);
  npu->endParallel();
  EXPECT_EQ(npu->getErrors().size(), 2u);
}

TEST_F(SimulatorRules, RegionsForgetWhatWasTouched) {
  npu->startParallel();
  load(0, 8);
  npu->endParallel();
  npu->startParallel();
  add(512, 0, 0, 8);
  npu->endParallel();
  EXPECT_THAT(npu->getErrors(), IsEmpty());
}

TEST_F(SimulatorRules, WhatMovesOutsideOfRegionsIsNotOverlapped) {
  load(0, 8);
  npu->startParallel();
  add(512, 0, 0, 8);
  npu->endParallel();
  EXPECT_EQ(npu->getCounters().overlappedBytes, 0);
}

TEST_F(SimulatorRules, ProgramsEndOutsideOfRegions) {
  okk_sim_open(4, 1024, 128);
  okk_poll();
  EXPECT_EQ(okk_sim_num_errors(), 0);
  okk_parallel_start();
  okk_poll();
  EXPECT_THAT(okk_sim_error(0), HasSubstr("inside a parallel region"));
  okk_sim_close();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

TEST_F(SimulatorRules, TensorsTouchAndDoNotOverlap) {
  npu->declareTensor(128, 128, 1);
  npu->declareTensor(0, 128, 1);
  npu->declareTensor(256, 768, 1);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  EXPECT_EQ(npu->getCounters().peakBytes, 1024);
  npu->releaseTensor(256);
  npu->declareTensor(255, 4, 1);
  npu->declareTensor(257, 768, 1);
  EXPECT_THAT(npu->getErrors(),
              ElementsAre(HasSubstr("overlaps the tensor at address 128"),
                          HasSubstr("needs 768 bytes from byte 257 on")));
}

TEST_F(SimulatorRules, ThePeakIsWhereTheHighestTensorEnds) {
  npu->declareTensor(512, 128, 1);
  npu->declareTensor(0, 256, 1);
  EXPECT_EQ(npu->getCounters().peakBytes, 640);
  EXPECT_EQ(npu->getCounters().liveBytes, 384);
}

/// Rows of 32 bytes with 16 bytes of elements, and the bytes between them.
TEST_F(SimulatorRules, BytesOfSharedRowsAreCountedOnce) {
  npu->shareHoles();
  Operand rows{true, 0, {0, 0, 8, 1}}, holes{true, 16, {0, 0, 8, 1}};
  Box shape{1, 1, 4, 4};
  npu->declareTensor(0, 112, 1);
  npu->declareElements(rows, shape, 4);
  npu->declareElements(rows, shape, 4);
  npu->declareTensor(16, 112, 1);
  npu->declareElements(holes, shape, 4);
  EXPECT_EQ(npu->getCounters().liveBytes, 128);
  npu->fill(rows, "\0\0\0", shape, 4);
  npu->fill(holes, "\0\0\0", shape, 4);
  // Releasing a tensor keeps the elements of the other one.
  npu->releaseTensor(0);
  EXPECT_FALSE(npu->isWritten(0, 0));
  EXPECT_TRUE(npu->isWritten(0, 16));
  npu->declareTensor(0, 112, 1);
  npu->declareElements(rows, shape, 4);
  EXPECT_EQ(npu->getCounters().liveBytes, 128);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
}

//===----------------------------------------------------------------------===//
// Expected copies
//===----------------------------------------------------------------------===//

/// A row of 12 floats whose bytes are numbered.
class SimulatorMeaning : public SimulatorRules {
protected:
  SimulatorMeaning() {
    npu->declareTensor(0, 64, 4);
    npu->numberElements(row(0), {1, 1, 1, 12}, 4, 0, {0, 0, 0, 4});
  }
};

TEST_F(SimulatorMeaning, NothingIsReachedBehindTheBox) {
  npu->expect({{8, 4}, {{true, 0, 0, {4, 1}}, {false, x, 0, {4, 1}}}});
  load(0, 8);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  npu->copy(row(32), outside(x + 32), {1, 1, 1, 4}, 4);
  EXPECT_THAT(npu->getErrors(), ElementsAre(HasSubstr("byte 32 of core 0")));
}

/// The first 8 bytes of rows of 16 are expected.
TEST_F(SimulatorMeaning, NothingIsReachedBehindARow) {
  npu->expect(
      {{2, 2, 4}, {{true, 0, 0, {16, 4, 1}}, {false, x, 0, {16, 4, 1}}}});
  load(0, 2);
  EXPECT_THAT(npu->getErrors(), IsEmpty());
  npu->copy(row(8), outside(x + 8), {1, 1, 1, 1}, 4);
  EXPECT_THAT(npu->getErrors(), ElementsAre(HasSubstr("byte 8 of core 0")));
}

/// Bytes 0 and 4 are expected, bytes 1 and 5 are filled.
TEST_F(SimulatorMeaning, NothingIsReachedBetweenElements) {
  npu->expect({{2}, {{true, 0, 0, {4}}}});
  npu->fill({true, 1, {0, 0, 4, 1}}, "", {1, 1, 2, 1}, 1);
  EXPECT_THAT(npu->getErrors(), ElementsAre(HasSubstr("byte 1 of core 0")));
}

TEST_F(SimulatorMeaning, OperandsAreInTheMemoryThatIsMeant) {
  load(0, 4);
  npu->expect({{4, 4}, {{true, 0, 16, {4, 1}}, {false, x, 0, {4, 1}}}});
  npu->copy(row(16), row(0), {1, 1, 1, 4}, 4);
  EXPECT_THAT(npu->getErrors(),
              ElementsAre(HasSubstr("the source is not in the memory")));
}

/// Two rows of 8 columns in system memory, 10 apart.
TEST(OkkMatrix, RowsLieApart) {
  okk_sim_open(4, 1024, 128);
  std::vector<float> data(20), back(20, -1);
  for (int i = 0; i < 20; ++i)
    data[i] = float(i);
  system_addr_t x = okk_sim_alloc(80);
  okk_sim_write(x, data.data(), 80);
  okk_gdma_32bit_matrix_S2L(0, x, 2, 8, 8, 10);
  dim4 shape{2, 1, 1, 8}, plain{8, 8, 8, 1};
  system_addr_t y = okk_sim_alloc(64);
  okk_gdma_32bit_cpy_L2S(y, 0, &shape, &plain, nullptr);
  okk_sim_read(y, back.data(), 64);
  EXPECT_EQ(back[7], 7);
  EXPECT_EQ(back[8], 10);
  EXPECT_EQ(back[15], 17);
  EXPECT_EQ(okk_sim_num_errors(), 0);
  okk_sim_close();
}

} // namespace
