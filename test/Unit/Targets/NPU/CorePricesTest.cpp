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

/// A sum of three values per element is their average, times three. The window
/// operand is not read.
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
            (taps + 1) * (4 * 4 / kLanes) * kStep);
}

/// Without parameters of the target, those of the chip's clock apply: a cycle
/// costs twice the bytes that S2L moves in it.
TEST_F(CorePricesTest, DerivesParametersFromTheClockOfTheChip) {
  std::string chip =
      "#npu.target<npus = 4, bytes_per_npu = 16384, eu_bytes = 32, clock = "
      "{s2l_rate = 16000, s2l_start = 5, l2s_rate = 8000, l2s_start = 7, "
      "compute_start = 3}>";
  CostModel costs = getCostsOf("#layout.npu<chip = " + chip + ">");
  std::string aligned =
      "#layout.npu_scatter<aligned, start = 0, target = " + chip + ">";
  constexpr int64_t loadedPerCycle = 16, loadStart = 5, storedPerCycle = 8,
                    storeStart = 7, computeStart = 3;
  constexpr Cost cycle = 2 * loadedPerCycle;
  EXPECT_EQ(price(costs, "%x: tensor<1x4x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x4x4x4xf32>",
                  {aligned, aligned}),
            (computeStart + 4 * 4 / kLanes) * cycle);
  EXPECT_EQ(price(costs, "%x: tensor<1x4x8x4xf32>",
                  "%0 = tensor.extract_slice %x[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x8x4xf32> to "
                  "tensor<1x4x2x4xf32>",
                  {aligned, ""}),
            storeStart * cycle +
                cycle * kElementBytes * (4 * 2 * 4) / storedPerCycle);
  EXPECT_EQ(price(costs, "%x: tensor<1x4x2x4xf32>, %y: tensor<1x4x8x4xf32>",
                  "%0 = tensor.insert_slice %x into %y[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x2x4xf32> into "
                  "tensor<1x4x8x4xf32>",
                  {"", aligned, aligned}),
            loadStart * cycle + 2 * kElementBytes * (4 * 2 * 4));
}

/// Checks the clock of BM1684: each function has its own cycles, functions with
/// strides take longer, and short rows cost more than their bytes.
TEST_F(CorePricesTest, TakesTheCyclesOfEachFunction) {
  CostModel costs = getCostsOf("#layout.npu<chip = #npu.target<\"BM1684\">>");
  std::string aligned = "#layout.npu_scatter<aligned, start = 0, target = "
                        "#npu.target<\"BM1684\">>";
  std::string compact = "#layout.npu_scatter<compact, start = 0, target = "
                        "#npu.target<\"BM1684\">>";
  // S2L moves 53.369 bytes in a cycle. A step of the execution units has 16
  // words of each core, so 10x30 words take 19 steps.
  constexpr Cost cycle = 106, steps = 19;
  auto priceGeneric = [&](StringRef body, StringRef layout) {
    std::string op = R"(%0 = linalg.generic {
    indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>,
                     affine_map<(n, c, h, w) -> (n, c, h, w)>,
                     affine_map<(n, c, h, w) -> (n, c, h, w)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x, %y : tensor<1x64x10x30xf32>, tensor<1x64x10x30xf32>) outs(%z : tensor<1x64x10x30xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %r = )" + body.str() +
                     R"( : f32
    linalg.yield %r : f32
  } -> tensor<1x64x10x30xf32>)";
    return price(costs,
                 "%x: tensor<1x64x10x30xf32>, %y: tensor<1x64x10x30xf32>, "
                 "%z: tensor<1x64x10x30xf32>",
                 op, {layout, layout, layout, layout});
  };
  EXPECT_EQ(priceGeneric("arith.addf %a, %b", aligned), steps * cycle);
  EXPECT_EQ(priceGeneric("arith.addf %a, %b", compact), 2 * steps * cycle);
  EXPECT_EQ(priceGeneric("arith.divf %a, %b", aligned), 30 * steps * cycle);
  EXPECT_EQ(priceGeneric("math.exp %a", aligned), 182 * steps * cycle);
  // 64 rows of two words, each of which takes 0.554 cycles.
  EXPECT_EQ(price(costs, "%x: tensor<1x64x1x2xf32>, %y: tensor<1x64x4x4xf32>",
                  "%0 = tensor.insert_slice %x into %y[0, 0, 0, 0]"
                  "[1, 64, 1, 2][1, 1, 1, 1] : tensor<1x64x1x2xf32> into "
                  "tensor<1x64x4x4xf32>",
                  {"", aligned, aligned}),
            137 * cycle + 64 * 554 * cycle / 1000 + 1);
}

/// A convolution adds two input channels in a cycle, and starts in three.
TEST_F(CorePricesTest, TakesTheCyclesOfConvolutions) {
  CostModel costs = getCostsOf("#layout.npu<chip = #npu.target<\"BM1684\">>");
  std::string chip = "target = #npu.target<\"BM1684\">>";
  std::string aligned = "#layout.npu_scatter<aligned, start = 0, " + chip;
  std::string weights =
      "#layout.npu_scatter<compact, start = 0, pack = ic2, axes = \"CNHW\", " +
      chip;
  EXPECT_EQ(price(costs,
                  "%x: tensor<1x16x10x18xf32>, %w: tensor<64x16x3x3xf32>, "
                  "%y: tensor<1x64x8x16xf32>",
                  "%0 = linalg.conv_2d_nchw_fchw ins(%x, %w : "
                  "tensor<1x16x10x18xf32>, tensor<64x16x3x3xf32>) outs(%y : "
                  "tensor<1x64x8x16xf32>) -> tensor<1x64x8x16xf32>",
                  {aligned, weights, aligned, aligned}),
            8 * (3 + 8 * 9) * 106);
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
