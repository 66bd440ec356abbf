//===- SimulatorTest.cpp - The rules that the simulator checks ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/Simulator/NpuSimulator.h"
#include "layout/Targets/NPU/Simulator/okk/okk.h"
#include "layout/Targets/NPU/Simulator/okk/sim.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::npu;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Four cores of 1024 bytes, and a tensor 2x3x4x5xf32 of ones in system memory.
class SimulatorTest : public testing::Test {
protected:
  SimulatorTest() {
    std::vector<float> ones(120, 1);
    x = npu.allocSystem(480);
    y = npu.allocSystem(480);
    npu.writeSystem(x, ones.data(), 480);
  }
  Operand outside(uint64_t address) const {
    return {false, address, {60, 20, 5, 1}};
  }
  Operand inside(uint64_t address) const {
    return {true, address, {64, 32, 5, 1}};
  }
  void load(uint64_t address) {
    npu.copy(inside(address), outside(x), shape, 4);
  }

  Simulator npu{{4, 1024, 128}};
  Box shape{2, 3, 4, 5};
  uint64_t x, y;
};

TEST_F(SimulatorTest, ChannelsGoFromUnitToUnitAndThenToTheNextRow) {
  load(2 * 1024 + 128);
  EXPECT_THAT(npu.getErrors(), IsEmpty());
  EXPECT_EQ(npu.countWritten(), 480);
  EXPECT_TRUE(npu.isWritten(2, 128));
  EXPECT_TRUE(npu.isWritten(3, 128));
  EXPECT_FALSE(npu.isWritten(0, 128));
  EXPECT_TRUE(npu.isWritten(0, 128 + 4 * 32));
  EXPECT_FALSE(npu.isWritten(1, 128 + 4 * 32));
  EXPECT_EQ(npu.readLocal(0, 128 + 460, 4), 0x3f800000u);
  EXPECT_EQ(npu.getCounters().transfers, 1);
  EXPECT_EQ(npu.getCounters().bytesToLocal, 480);
}

TEST_F(SimulatorTest, WhatLeavesItsMemoryIsReportedAndNothingMoves) {
  load(2 * 1024 + 640);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("the destination leaves its memory at byte "
                                    "1024 of core 0")));
  npu.copy(inside(4096), outside(x), shape, 4);
  npu.copy(inside(0), outside(x + 4), shape, 4);
  npu.copy(inside(0), outside(x + 65536), shape, 4);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(testing::_, HasSubstr("is not in a core"),
                          HasSubstr("the source leaves its memory"),
                          HasSubstr("is not in a buffer")));
  EXPECT_EQ(npu.countWritten(), 0);
  EXPECT_EQ(npu.getCounters().transfers, 0);
}

TEST_F(SimulatorTest, ElementsAndTheEngineHaveAnAlignment) {
  load(2);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("address 2 is not aligned to 4 bytes")));
  Simulator strict({4, 1024, 128, 16});
  uint64_t z = strict.allocSystem(480);
  strict.fill(outside(z + 4), "\0\0\0", {1, 1, 1, 1}, 4);
  EXPECT_THAT(strict.getErrors(),
              ElementsAre(HasSubstr("is not aligned to 16 bytes")));
}

TEST_F(SimulatorTest, BytesAreWrittenBeforeTheyAreRead) {
  npu.copy(outside(y), inside(0), shape, 4);
  float back[120];
  npu.readSystem(y, back, 480);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("the source reads byte 0 of core 0, which "
                                    "was never written"),
                          HasSubstr("the host reads system address")));
}

TEST_F(SimulatorTest, ATransferTouchesEveryByteOnce) {
  Operand overlapping = inside(0);
  overlapping.stride = {64, 32, 4, 1};
  npu.copy(overlapping, outside(x), shape, 4);
  Operand again = outside(x);
  again.stride = {60, 20, 4, 1};
  npu.copy(inside(0), again, shape, 4);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("writes byte 16 of core 0 twice"),
                          HasSubstr("reads system address")));
  // A stride of 0 states that repetition is intended.
  again.stride = {0, 0, 5, 1};
  npu.copy(inside(0), again, shape, 4);
  EXPECT_EQ(npu.getErrors().size(), 2u);
}

TEST_F(SimulatorTest, LimitsOfTheChip) {
  SimulatedChip chip{4, 1024, 128};
  chip.maxShape = {8, 2, 8, 8};
  chip.maxStride = 40;
  Simulator small(chip);
  uint64_t z = small.allocSystem(480);
  small.fill(outside(z), "\0\0\0", shape, 4);
  small.fill(outside(z), "\0\0\0", {2, 2, 4, 5}, 4);
  small.fill({false, z, {1, 1, 1, 2}}, "\0\0\0", {1, 1, 1, 5}, 4);
  small.fill(outside(z), "\0\0\0", {1, 0, 1, 1}, 4);
  EXPECT_THAT(
      small.getErrors(),
      ElementsAre(HasSubstr("3 iterations of C, but the chip supports 1 to 2"),
                  HasSubstr("stride 60, but the chip supports 0 to 40"),
                  HasSubstr("W stride 2"), HasSubstr("0 iterations of C")));
}

TEST_F(SimulatorTest, EnginesDoNotTouchWhatTheOtherWrites) {
  load(0);
  npu.startParallel();
  load(512); // within one engine, conflicts are allowed
  npu.copy(outside(y), inside(512), shape, 4);
  EXPECT_THAT(npu.getErrors(), IsEmpty());
  npu.fill(inside(512), "\0\0\0", shape, 4, Engine::Compute);
  npu.fill(inside(0), "\0\0\0", shape, 4, Engine::Compute);
  npu.copy(outside(y), inside(0), shape, 4);
  npu.endParallel();
  EXPECT_THAT(
      npu.getErrors(),
      ElementsAre(HasSubstr("writes byte 512 of core 0, which the other "
                            "engine accesses"),
                  HasSubstr("reads byte 0 of core 0, which the other "
                            "engine accesses")));
  npu.fill(inside(512), "\0\0\0", shape, 4, Engine::Compute);
  npu.endParallel();
  npu.startParallel();
  npu.startParallel();
  EXPECT_THAT(npu.getErrors(), ElementsAre(testing::_, testing::_,
                                           HasSubstr("ends before it starts"),
                                           HasSubstr("inside another")));
}

TEST_F(SimulatorTest, DeclaredTensorsOwnTheirBytes) {
  npu.declareTensor(2 * 1024, 512, 128);
  npu.declareTensor(3 * 1024 + 384, 512, 128); // other cores do not help
  npu.declareTensor(640, 512, 128);
  npu.declareTensor(520, 128, 128);
  npu.declareTensor(4096, 1, 1);
  npu.releaseTensor(0);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("overlaps the tensor at address 2048"),
                          HasSubstr("needs 512 bytes from byte 640 on"),
                          HasSubstr("is not aligned to 128"),
                          HasSubstr("is not in a core"),
                          HasSubstr("no tensor is at address 0")));
  EXPECT_EQ(npu.getCounters().peakBytes, 512);
}

TEST_F(SimulatorTest, AccessesStayAmongTheElementsOfOneTensor) {
  npu.declareTensor(2 * 1024, 512, 128);
  load(2 * 1024 + 128);
  npu.declareElements(inside(2 * 1024), shape, 4);
  load(2 * 1024);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("is not part of one tensor")));
  npu.fill({true, 2 * 1024 + 80, {1, 1, 1, 1}}, "\0\0\0", {1, 1, 1, 1}, 4);
  EXPECT_THAT(npu.getErrors().back(), HasSubstr("has a hole"));
  npu.releaseTensor(2 * 1024);
  npu.declareTensor(2 * 1024, 512, 128);
  npu.copy(outside(y), inside(2 * 1024), shape, 4);
  EXPECT_THAT(npu.getErrors().back(), HasSubstr("never written"));
}

/// Rows of 128 bytes have 80 bytes of elements.
TEST_F(SimulatorTest, HolesAreSharedOnRequest) {
  Operand rows{true, 0, {32, 32, 5, 1}};
  npu.declareTensor(0, 256, 128);
  npu.declareElements(rows, {2, 3, 4, 5}, 4);
  npu.declareTensor(80, 48, 4);
  EXPECT_THAT(npu.getErrors(), ElementsAre(HasSubstr("overlaps")));

  Simulator shared({4, 1024, 128});
  uint64_t from = shared.allocSystem(480);
  std::vector<float> ones(120, 1);
  shared.writeSystem(from, ones.data(), 480);
  Operand hole{true, 80, {12, 12, 12, 1}};
  Operand row{false, from, {36, 12, 12, 1}};
  Box inHole{1, 3, 1, 12};
  shared.shareHoles();
  shared.declareTensor(0, 256, 128);
  shared.declareElements(rows, {2, 3, 4, 5}, 4);
  shared.declareTensor(80, 48, 4);
  shared.declareElements(hole, inHole, 4);
  shared.copy(rows, outside(from), shape, 4);
  shared.copy(hole, row, inHole, 4);
  EXPECT_THAT(shared.getErrors(), IsEmpty());
  EXPECT_EQ(shared.getCounters().peakBytes, 256);
  // The larger tensor has its rows, and 208 bytes of a core are elements.
  EXPECT_EQ(shared.getCounters().liveBytes, 256);
  // The bytes of a released tensor are undefined, those around them are not.
  shared.releaseTensor(80);
  EXPECT_FALSE(shared.isWritten(0, 80));
  EXPECT_TRUE(shared.isWritten(0, 79));
  EXPECT_TRUE(shared.isWritten(0, 128));
  // A hole without an owner cannot be written, ..
  shared.copy(hole, row, inHole, 4);
  EXPECT_THAT(shared.getErrors(),
              ElementsAre(HasSubstr("which is not part of one tensor")));
  // Elements of two tensors cannot share a byte.
  shared.declareTensor(76, 48, 4);
  shared.declareElements({true, 76, {12, 12, 12, 1}}, inHole, 4);
  EXPECT_THAT(shared.getErrors().back(),
              HasSubstr("share bytes with those of the tensor at address 0"));
}

/// Banks of 128 bytes.
TEST_F(SimulatorTest, AccessesOfOneBankAreCounted) {
  SimulatedChip chip{4, 1024, 128};
  chip.banks = 8;
  Simulator banked(chip);
  uint64_t from = banked.allocSystem(480);
  std::vector<float> ones(120, 1);
  banked.writeSystem(from, ones.data(), 480);
  auto add = [&](uint64_t a, uint64_t b, uint64_t dest) {
    Box one{1, 3, 4, 5};
    banked.compute(inside(dest), {inside(a), inside(b)}, one, 4,
                   [](void *, const void *const *) {});
    return banked.getCounters().bankConflicts;
  };
  for (uint64_t address : {0, 256, 512})
    banked.copy(inside(address), outside(from), shape, 4);
  EXPECT_EQ(add(0, 256, 512), 0);
  EXPECT_EQ(add(0, 256, 256), 0);      // in place
  EXPECT_EQ(add(0, 256, 128 + 52), 1); // reaches into the bank at 256
  EXPECT_EQ(add(0, 256, 80), 2);
  // Other cores have separate banks.
  banked.startParallel();
  banked.copy({true, 3 * 1024, {64, 32, 5, 1}}, outside(from), {1, 1, 4, 5}, 4);
  add(256, 256, 512);
  banked.endParallel();
  EXPECT_EQ(banked.getCounters().regionConflicts, 0);
  banked.startParallel();
  banked.copy(inside(384), outside(from), {1, 3, 4, 5}, 4);
  add(0, 0, 512);
  banked.endParallel();
  EXPECT_EQ(banked.getCounters().regionConflicts, 0);
  banked.startParallel();
  banked.copy(inside(384), outside(from), {1, 3, 4, 5}, 4);
  banked.fill(inside(464), ones.data(), {1, 1, 1, 1}, 4, Engine::Compute);
  banked.endParallel();
  EXPECT_EQ(banked.getCounters().regionConflicts, 1);
  EXPECT_THAT(banked.getErrors(), IsEmpty());
}

TEST_F(SimulatorTest, ExecutionUnitsSeeTheirOwnMemory) {
  load(0);
  load(2 * 1024 + 512);
  auto add = [](void *out, const void *const *in) {
    *static_cast<float *>(out) =
        *static_cast<const float *>(in[0]) + *static_cast<const float *>(in[1]);
  };
  npu.compute(inside(512), {inside(0), inside(0)}, shape, 4, add);
  EXPECT_EQ(npu.readLocal(1, 512, 4), 0x40000000u);
  EXPECT_EQ(npu.getCounters().computes, 1);
  npu.compute(inside(512), {inside(0), inside(2 * 1024 + 512)}, shape, 4, add);
  EXPECT_THAT(npu.getErrors(),
              ElementsAre(HasSubstr("the operands start at cores 2 and 0")));
}

//===----------------------------------------------------------------------===//
// OKKernel's names
//===----------------------------------------------------------------------===//

class OkkTest : public testing::Test {
protected:
  OkkTest() { okk_sim_open(4, 1024, 128); }
  ~OkkTest() override { okk_sim_close(); }
};

/// The four addresses, four scatters and strides of the specification.
TEST_F(OkkTest, AddressesScattersAndStridesOfTheText) {
  EXPECT_EQ(okk_npu_num(), 4);
  EXPECT_EQ(okk_local_mem_size_per_npu(), 1024u);
  EXPECT_EQ(okk_start_npu_index(340), 0);
  EXPECT_EQ(okk_start_npu_index(1472), 1);
  EXPECT_EQ(okk_start_npu_index(2300), 2);
  EXPECT_EQ(okk_start_npu_index(3088), 3);
  EXPECT_EQ(okk_channle_num_per_npu(0, 3), 1);
  EXPECT_EQ(okk_channle_num_per_npu(1, 3), 1);
  EXPECT_EQ(okk_channle_num_per_npu(0, 6), 2);
  EXPECT_EQ(okk_channle_num_per_npu(3, 6), 3);
  auto strides = [](auto fn, int start, dim4 shape) {
    dim4 stride;
    fn(&stride, start, &shape);
    return std::vector<int>{stride.n, stride.c, stride.h, stride.w};
  };
  EXPECT_THAT(strides(okk_128_byte_aligned_stride_for_32bit, 0, {2, 3, 4, 5}),
              ElementsAre(32, 32, 5, 1));
  EXPECT_THAT(strides(okk_128_byte_aligned_stride_for_32bit, 2, {2, 3, 4, 5}),
              ElementsAre(64, 32, 5, 1));
  EXPECT_THAT(strides(okk_128_byte_aligned_stride_for_16bit, 0, {2, 3, 4, 5}),
              ElementsAre(64, 64, 5, 1));
  EXPECT_THAT(strides(okk_128_byte_aligned_stride_for_8bit, 0, {2, 3, 4, 5}),
              ElementsAre(128, 128, 5, 1));
  EXPECT_THAT(strides(okk_compact_stride, 2, {2, 3, 4, 5}),
              ElementsAre(40, 20, 5, 1));
  dim4 shape{2, 3, 4, 5}, stride;
  okk_continuous_stride(&stride, &shape);
  EXPECT_EQ(stride.n, 60);
  EXPECT_EQ(okk_sim_num_errors(), 0);
}

/// Null strides mean the aligned and the continuous layout; the matrix
/// functions copy the 4-D view of a matrix.
TEST_F(OkkTest, DefaultStridesAndMatrices) {
  std::vector<float> data(80);
  for (int i = 0; i < 80; ++i)
    data[i] = float(i);
  system_addr_t x = okk_sim_alloc(320), y = okk_sim_alloc(320);
  okk_sim_write(x, data.data(), 320);
  okk_gdma_32bit_matrix_S2L(2 * 1024, x, 2, 40, 15, 40);
  // (0, 39) is in the third channel: core 0, next row.
  float value;
  for (int b = 0; b < 4; ++b)
    reinterpret_cast<unsigned char *>(&value)[b] =
        (unsigned char)okk_sim_local_byte(0, 128 + 36 + b);
  EXPECT_EQ(value, 39);
  EXPECT_EQ(okk_sim_written_bytes(), 320);
  okk_gdma_32bit_matrix_L2S(y, 2 * 1024, 2, 40, 15, 40);
  std::vector<float> back(80);
  okk_sim_read(y, back.data(), 320);
  EXPECT_EQ(back, data);
  dim4 shape{2, 1, 4, 5};
  okk_gdma_32bit_cpy_S2L(512, x, &shape, nullptr, nullptr);
  okk_bdc_add(768, 512, 512, &shape, nullptr, nullptr, nullptr);
  okk_gdma_32bit_cpy_L2S(y, 768, &shape, nullptr, nullptr);
  okk_sim_read(y, back.data(), 160);
  EXPECT_EQ(back[39], 78);
  EXPECT_EQ(okk_sim_num_errors(), 0);
  okk_gdma_32bit_cpy_S2L(516, x, &shape, nullptr, nullptr);
  EXPECT_THAT(okk_sim_error(0), HasSubstr("is not in the aligned layout"));
}

} // namespace
