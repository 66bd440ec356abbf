//===- SimulatorComputeTest.cpp - Kernels, results and counters -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/Simulator/NpuSimulator.h"
#include "layout/Targets/NPU/Simulator/okk/sim_compute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::npu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Four cores of 1024 bytes, steps of 128, and a tensor 1x3x1x4xf32 that starts
/// at core 2 in compact mode: 16 bytes of cores 2, 3 and 0.
class SimulatorComputeTest : public testing::Test {
protected:
  SimulatorComputeTest() {
    std::vector<float> values(12);
    for (int i = 0; i < 12; ++i)
      values[i] = float(i);
    x = npu.allocSystem(48);
    npu.writeSystem(x, values.data(), 48);
    npu.copy(inside(2 * 1024), {false, x, {12, 4, 4, 1}}, shape, 4);
  }
  Operand inside(uint64_t address) const { return {true, address, stride}; }

  /// Adds an operand of 12 floats at `address`.
  void add(uint64_t address, unsigned access, bool isOwn = true) {
    npu.addImage(48, access);
    if (isOwn)
      npu.keepInCore(16, 3);
    npu.addBox(address, 0, 4, shape, stride, {12, 4, 4, 1});
  }
  /// Computes y = 2 * x.
  bool twice() {
    auto *images = npu.getImages();
    if (!images)
      return false;
    for (int i = 0; i < 12; ++i)
      static_cast<float *>(images[1])[i] =
          2 * static_cast<float *>(images[0])[i];
    npu.endCompute();
    return true;
  }
  float read(int64_t core, int64_t byte) {
    uint32_t bits = uint32_t(npu.readLocal(core, byte, 4));
    return okk_sim_bitcast<float>(bits);
  }

  Simulator npu{{4, 1024, 128}};
  Box shape{1, 3, 1, 4}, stride{4, 4, 4, 1};
  uint64_t x;
};

TEST_F(SimulatorComputeTest, ImagesAreGatheredAndScattered) {
  npu.beginCompute("twice", 12);
  add(2 * 1024, OKK_SIM_READ);
  add(2 * 1024 + 64, OKK_SIM_WRITE | OKK_SIM_LANES);
  EXPECT_TRUE(twice());
  EXPECT_THAT(npu.getErrors(), IsEmpty());
  EXPECT_EQ(read(2, 64), 0);
  EXPECT_EQ(read(3, 64 + 4), 10);
  // The third channel is in the next row.
  EXPECT_EQ(read(0, 64 + 16 + 12), 22);
  EXPECT_EQ(npu.getCounters().computes, 1);
  // Three channels from core 2 of 4 on are two rows of channels, each of which
  // takes a step of 32 lanes in all cores.
  EXPECT_EQ(npu.getCounters().usefulOps, 12);
  EXPECT_EQ(npu.getCounters().issuedOps, 2 * 4 * 32);
}

TEST_F(SimulatorComputeTest, BytesAreThereAndInsideOfTheirMemory) {
  npu.beginCompute("twice", 12);
  add(2 * 1024 + 256, OKK_SIM_READ);
  add(2 * 1024 + 64, OKK_SIM_WRITE | OKK_SIM_LANES);
  EXPECT_FALSE(twice());
  npu.beginCompute("twice", 12);
  add(2 * 1024, OKK_SIM_READ);
  add(2 * 1024 + 1000, OKK_SIM_WRITE | OKK_SIM_LANES);
  EXPECT_FALSE(twice());
  npu.beginCompute("twice", 12);
  npu.addImage(96, OKK_SIM_READ);
  npu.addBox(2 * 1024, 0, 4, shape, stride, {12, 4, 4, 1});
  EXPECT_EQ(npu.getImages(), nullptr);
  EXPECT_THAT(
      npu.getErrors(),
      ElementsAre(HasSubstr("twice: operand 0 reads byte 256 of core 2, which "
                            "was never written"),
                  HasSubstr("operand 1 leaves its memory at byte 1016"),
                  HasSubstr("has boxes of 48 bytes, but its image has 96")));
  EXPECT_EQ(npu.getCounters().computes, 0);
  EXPECT_FALSE(npu.isWritten(2, 64));
}

TEST_F(SimulatorComputeTest, UnitsSeeTheirOwnMemoryAndWhatIsBroadcast) {
  npu.beginCompute("twice", 12);
  add(2 * 1024, OKK_SIM_READ);
  add(1 * 1024 + 64, OKK_SIM_WRITE | OKK_SIM_LANES);
  EXPECT_FALSE(twice());
  EXPECT_THAT(
      npu.getErrors(),
      ElementsAre(HasSubstr("operand 0 has byte 0 of core 2 for a result "
                            "computed in core 1")));
  npu.beginCompute("twice", 12);
  add(2 * 1024, OKK_SIM_READ | OKK_SIM_BROADCAST, /*isOwn=*/false);
  add(1 * 1024 + 64, OKK_SIM_WRITE | OKK_SIM_LANES);
  EXPECT_TRUE(twice());
  EXPECT_EQ(npu.getErrors().size(), 1u);
  EXPECT_EQ(npu.getCounters().broadcastBytes, 48);
}

TEST_F(SimulatorComputeTest, RegionsCountWhatMovesBesideComputations) {
  npu.startParallel();
  npu.copy(inside(256), {false, x, {12, 4, 4, 1}}, shape, 4);
  npu.endParallel();
  npu.startParallel();
  npu.copy(inside(512), {false, x, {12, 4, 4, 1}}, shape, 4);
  npu.fill(inside(768), "\0\0\0", shape, 4, Engine::Compute);
  // The computation races with the transfer.
  npu.beginCompute("twice", 12);
  add(512, OKK_SIM_READ);
  add(768, OKK_SIM_WRITE | OKK_SIM_LANES);
  EXPECT_FALSE(twice());
  npu.endParallel();
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("which the other engine accesses")));
  EXPECT_EQ(npu.getCounters().regions, 2);
  EXPECT_EQ(npu.getCounters().overlappedBytes, 48);
}

/// The tensor of the other tests, declared and numbered in row-major order.
class SimulatorExpectTest : public testing::Test {
protected:
  SimulatorExpectTest() {
    x = npu.allocSystem(48);
    std::vector<uint8_t> zeros(48);
    npu.writeSystem(x, zeros.data(), 48);
    npu.declareTensor(2 * 1024, 32, 4);
    npu.numberElements(inside(), shape, 4, 0, {48, 16, 16, 4});
  }
  Operand inside() const { return {true, 2 * 1024, {8, 4, 4, 1}}; }
  Operand outside(Box stride = {12, 4, 4, 1}, uint64_t offset = 0) const {
    return {false, x + offset, stride};
  }
  /// Expects a copy of the tensor to system memory with these strides.
  void expect(std::vector<int64_t> strides) {
    npu.expect(
        {{3, 4, 4}, {{true, 2 * 1024, 0, {16, 4, 1}}, {false, x, 0, strides}}});
  }

  Simulator npu{{4, 1024, 128}};
  Box shape{1, 3, 1, 4};
  uint64_t x;
};

TEST_F(SimulatorExpectTest, EachElementGoesWhereItBelongs) {
  expect({16, 4, 1});
  npu.copy(inside(), outside(), shape, 4);
  npu.endExpected();
  EXPECT_THAT(npu.getErrors(), IsEmpty());
  // Any sequence of transfers is accepted.
  expect({16, 4, 1});
  npu.copy(inside(), outside(), {1, 2, 1, 4}, 4);
  npu.copy({true, 16, {8, 4, 4, 1}}, {false, x + 32, {12, 4, 4, 1}},
           {1, 1, 1, 4}, 4);
  npu.endExpected();
  EXPECT_THAT(npu.getErrors(), IsEmpty());
}

TEST_F(SimulatorExpectTest, StridesThatPermuteAreReported) {
  // As if it were 4x3 in system memory: every byte is an expected one.
  expect({4, 12, 1});
  npu.copy(inside(), outside(), shape, 4);
  npu.endExpected();
  EXPECT_THAT(
      npu.getErrors(),
      ElementsAre(HasSubstr("for system address"),
                  HasSubstr("bytes of the 48 that the program declared")));
}

TEST_F(SimulatorExpectTest, WhatLiesBesideTheBoxIsNoPartOfIt) {
  // The first three of four columns; the fourth of a row has the number that
  // the first of the next row would have in a dense box.
  npu.expect({{3, 3, 4},
              {{true, 2 * 1024, 0, {16, 4, 1}}, {false, x, 0, {16, 4, 1}}}});
  auto copyColumns = [&](uint64_t to, uint64_t from, int64_t count) {
    npu.copy({true, to, {8, 4, 4, 1}}, outside({12, 4, 4, 1}, from),
             {1, 1, 1, count}, 4);
  };
  copyColumns(2 * 1024, 0, 4);
  copyColumns(3 * 1024 + 4, 20, 2);
  copyColumns(16, 32, 3);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("byte 12 of core 2 for system address")));
}

TEST_F(SimulatorExpectTest, AllIsReachedOnceAndInTheTensorThatIsMeant) {
  expect({16, 4, 1});
  npu.copy(inside(), outside(), {1, 2, 1, 4}, 4);
  npu.copy(inside(), outside(), {1, 1, 1, 4}, 4);
  npu.endExpected();
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("was reached before"),
                          HasSubstr("reached 32 bytes of the 48")));
  npu.declareTensor(2 * 1024 + 64, 32, 4);
  expect({16, 4, 1});
  npu.copy({true, 2 * 1024 + 64, {8, 4, 4, 1}}, outside(), shape, 4);
  EXPECT_THAT(npu.getErrors().back(),
              HasSubstr("not an element of the tensor at address 2048"));
}

} // namespace
