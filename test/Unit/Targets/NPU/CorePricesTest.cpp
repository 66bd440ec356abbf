//===- CorePricesTest.cpp - Prices on the cores of a chip -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expected prices follow from the prologue of CostModel.h and from the
// parameters below. Tensors have f32 elements.
//
//===----------------------------------------------------------------------===//

#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

using CorePricesTest = layout_test::PriceTest;

constexpr int64_t kElementBytes = 4, kVectorBytes = 32;
constexpr int64_t kLanes = kVectorBytes / kElementBytes;

/// The price of starting a transfer.
constexpr Cost kTransferStart = 256;
constexpr int64_t kFlopsPerByte = 8;

/// The price of a step, in which every byte of all lanes counts two operations.
constexpr Cost kStep = 2 * kVectorBytes / kFlopsPerByte;

/// A chip of four cores with the parameters above.
constexpr const char *kUnits =
    "#layout.npu<launch_cost = 256, flops_per_byte = 8, chip = #npu.target<"
    "npus = 4, bytes_per_npu = 16384, eu_bytes = 32>>";

/// Returns the price of a transfer that reads and writes f32 elements.
constexpr Cost transferring(int64_t elements, int64_t transfers = 1) {
  return transfers * kTransferStart + 2 * kElementBytes * elements;
}

std::string scatter(StringRef mode) {
  return "#layout.npu_scatter<" + mode.str() +
         ", start = 0, target = #npu.target<npus = 4, bytes_per_npu = 16384, "
         "eu_bytes = 32>>";
}

/// All cores compute a row of channels, one channel per core, in steps of one
/// vector.
TEST_F(CorePricesTest, ChargesRowsOfChannelsInLockstep) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
  constexpr int64_t steps = 4 * 4 / kLanes;
  EXPECT_EQ(price(costs, "%x: tensor<1x4x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x4x4x4xf32>",
                  {aligned, aligned}),
            steps * kStep);
  // Five channels take two rows; three cores idle in the second.
  EXPECT_EQ(price(costs, "%x: tensor<1x5x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x5x4x4xf32>",
                  {aligned, aligned}),
            2 * steps * kStep);
}

/// A sum of three values per element; the window operand is not read.
TEST_F(CorePricesTest, ChargesEveryTapOfWindows) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
  constexpr int64_t taps = 3;
  EXPECT_EQ(price(costs,
                  "%x: tensor<1x4x4x6xf32>, %w: tensor<3xf32>, "
                  "%y: tensor<1x4x4x4xf32>",
                  R"(%0 = linalg.generic {
    indexing_maps = [affine_map<(n, c, h, w, k) -> (n, c, h, w + k)>,
                     affine_map<(n, c, h, w, k) -> (k)>,
                     affine_map<(n, c, h, w, k) -> (n, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel",
                      "reduction"]}
    ins(%x, %w : tensor<1x4x4x6xf32>, tensor<3xf32>) outs(%y : tensor<1x4x4x4xf32>) {
  ^bb0(%a: f32, %v: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x4x4x4xf32>)",
                  {aligned, "", aligned, aligned}),
            taps * (4 * 4 / kLanes) * kStep);
}

/// Without parameters of the target, those of the chip's clock apply: a cycle
/// costs twice the bytes that DMA moves in it.
TEST_F(CorePricesTest, DerivesParametersFromTheClockOfTheChip) {
  CostModel costs = getCostsOf(
      "#layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 16384, "
      "eu_bytes = 32, clock = {s2l_rate = 16000, s2l_start = 5, "
      "compute_start = 3}>>");
  std::string aligned =
      "#layout.npu_scatter<aligned, start = 0, target = #npu.target<npus = 4, "
      "bytes_per_npu = 16384, eu_bytes = 32, clock = {s2l_rate = 16000, "
      "s2l_start = 5, compute_start = 3}>>";
  constexpr int64_t dmaBytesPerCycle = 16, dmaStart = 5, computeStart = 3;
  constexpr Cost cycle = 2 * dmaBytesPerCycle;
  EXPECT_EQ(price(costs, "%x: tensor<1x4x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x4x4x4xf32>",
                  {aligned, aligned}),
            (computeStart + 4 * 4 / kLanes) * cycle);
  EXPECT_EQ(price(costs, "%x: tensor<1x4x8x4xf32>",
                  "%0 = tensor.extract_slice %x[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x8x4xf32> to "
                  "tensor<1x4x2x4xf32>",
                  {aligned, ""}),
            dmaStart * cycle + 2 * kElementBytes * (4 * 2 * 4));
}

TEST_F(CorePricesTest, ChargesThePartOfSlices) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
  constexpr Cost part = transferring(1 * 4 * 2 * 4);
  EXPECT_EQ(price(costs, "%x: tensor<1x4x2x4xf32>, %y: tensor<1x4x8x4xf32>",
                  "%0 = tensor.insert_slice %x into %y[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x2x4xf32> into "
                  "tensor<1x4x8x4xf32>",
                  {"", aligned, aligned}),
            part);
  // A dynamic offset has the same price.
  EXPECT_EQ(price(costs,
                  "%x: tensor<1x4x2x4xf32>, %y: tensor<1x4x8x4xf32>, "
                  "%i: index",
                  "%0 = tensor.insert_slice %x into %y[0, 0, %i, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x2x4xf32> into "
                  "tensor<1x4x8x4xf32>",
                  {"", aligned, "", aligned}),
            part);
  // Reading a part of a whole costs the same.
  EXPECT_EQ(price(costs, "%x: tensor<1x4x8x4xf32>",
                  "%0 = tensor.extract_slice %x[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x8x4xf32> to "
                  "tensor<1x4x2x4xf32>",
                  {aligned, ""}),
            part);
}

/// A transfer loops over channels, contiguous segments and two other dims. The
/// batches and the two digits of the row index are three other dims.
TEST_F(CorePricesTest, ChargesOneTransferPerLoopNest) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
  StringRef oddRowsFirst = "(d0, d1, d2, d3) -> buffer(d2 mod 2, d0, d1, "
                           "d2 floordiv 2, d3)";
  EXPECT_EQ(price(costs, "%x: tensor<2x4x4x4xf32>, %y: tensor<2x4x8x4xf32>",
                  "%0 = tensor.insert_slice %x into %y[0, 0, 0, 0]"
                  "[2, 4, 4, 4][1, 1, 1, 1] : tensor<2x4x4x4xf32> into "
                  "tensor<2x4x8x4xf32>",
                  {oddRowsFirst, aligned, aligned}),
            transferring(2 * 4 * 4 * 4, /*transfers=*/2));
}

} // namespace
