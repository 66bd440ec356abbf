//===- DevicePricesTest.cpp - Prices on images and on nodes ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The expected numbers are worked out by hand from the heads of CostModel.h and
// ImageReads.h, and the figures of the targets.

#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

using DevicePrices = layout_test::PriceTest;

constexpr const char *kTurned = "(d0, d1) -> buffer(d1, d0)";
constexpr const char *kImage =
    "(d0, d1) -> image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4)";

/// 1000 for a launch; reads cost what they are.
constexpr const char *kDevice =
    "#layout.opencl<launch_cost = 1000, image_read_percent = 100, "
    "buffer_read_percent = 100>";

constexpr const char *kNegArguments = "%x: tensor<16x16xf32>";
constexpr const char *kNeg = "%0 = arith.negf %x : tensor<16x16xf32>";

/// Both tensors, each element read once, 256 operations of which eight take as
/// long as a byte; and a launch where the op is no part of another's kernel.
TEST_F(DevicePrices, KernelsOfElementwiseOps) {
  CostModel costs = getCostsOf(kDevice);
  Cost fused = 2 * 1024 + 1024 + 256 / 8;
  EXPECT_EQ(price(costs, kNegArguments, kNeg), fused);
  EXPECT_EQ(price(costs, kNegArguments, kNeg, {kTurned, kTurned}), fused);
  EXPECT_EQ(price(costs, kNegArguments, kNeg, {"", kTurned}), fused + 1000);
}

TEST_F(DevicePrices, ConversionsReadEachElement) {
  CostModel costs = getCostsOf(kDevice);
  EXPECT_EQ(costs.getConversionCost(getType({16, 16}), costs.getRowMajor(2),
                                    costs.intern(getMap(kTurned))),
            1000 + 2 * 1024 + 1024);
}

/// Parts that begin with a pixel are read by pixels, others lane by lane.
TEST_F(DevicePrices, ConcatenationsOfPixels) {
  CostModel costs = getCostsOf(kDevice);
  auto concat = [&](std::string columns, std::string all) {
    std::string part = "tensor<4x" + columns + "xf32>";
    return price(costs, "%x: " + part + ", %y: " + part,
                 "%0 = tensor.concat dim(1) %x, %y : (" + part + ", " + part +
                     ") -> tensor<4x" + all + "xf32>",
                 {kImage, kImage, kImage});
  };
  EXPECT_EQ(concat("8", "16"), 2 * 128 + 256 + 2 * 128);
  EXPECT_EQ(concat("6", "12"), 2 * 128 + 192 + 4 * 2 * 128);
}

/// Four nodes of eight lanes, 256 for a transfer that is started.
constexpr const char *kUnits =
    "#layout.npu<launch_cost = 256, chip = #npu.target<npus = 4, "
    "bytes_per_npu = 16384, eu_bytes = 32>>";

std::string scatter(StringRef mode) {
  return "#layout.npu_scatter<" + mode.str() +
         ", start = 0, target = #npu.target<npus = 4, bytes_per_npu = 16384, "
         "eu_bytes = 32>>";
}

/// Every node issues the 16 words of a channel, for each operation.
TEST_F(DevicePrices, UnitsComputeInLockstep) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
  EXPECT_EQ(price(costs, "%x: tensor<1x4x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x4x4x4xf32>",
                  {aligned, aligned}),
            4 * 16 / 8);
  // Five channels take two rows, where the others wait.
  EXPECT_EQ(price(costs, "%x: tensor<1x5x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x5x4x4xf32>",
                  {aligned, aligned}),
            4 * 2 * 16 / 8);
}

/// The sum of three values for each element; nobody looks at the window's.
TEST_F(DevicePrices, SumsOfCores) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
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
            3 * 4 * 16 / 8);
}

/// One transfer of the part, of which every byte is read and written.
TEST_F(DevicePrices, PartsAreMoved) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
  EXPECT_EQ(price(costs, "%x: tensor<1x4x2x4xf32>, %y: tensor<1x4x8x4xf32>",
                  "%0 = tensor.insert_slice %x into %y[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x2x4xf32> into "
                  "tensor<1x4x8x4xf32>",
                  {"", aligned, aligned}),
            256 + 2 * 4 * 32);
  // The same at an offset that is not known.
  EXPECT_EQ(price(costs,
                  "%x: tensor<1x4x2x4xf32>, %y: tensor<1x4x8x4xf32>, "
                  "%i: index",
                  "%0 = tensor.insert_slice %x into %y[0, 0, %i, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x2x4xf32> into "
                  "tensor<1x4x8x4xf32>",
                  {"", aligned, "", aligned}),
            256 + 2 * 4 * 32);
  // Beside channels and runs the engine has two loops. Batches and the two
  // digits of the rows' index are three.
  StringRef odd = "(d0, d1, d2, d3) -> buffer(d2 mod 2, d0, d1, "
                  "d2 floordiv 2, d3)";
  EXPECT_EQ(price(costs, "%x: tensor<2x4x4x4xf32>, %y: tensor<2x4x8x4xf32>",
                  "%0 = tensor.insert_slice %x into %y[0, 0, 0, 0]"
                  "[2, 4, 4, 4][1, 1, 1, 1] : tensor<2x4x4x4xf32> into "
                  "tensor<2x4x8x4xf32>",
                  {odd, aligned, aligned}),
            2 * 256 + 2 * 4 * 128);
  // So is what is read of a whole.
  EXPECT_EQ(price(costs, "%x: tensor<1x4x8x4xf32>",
                  "%0 = tensor.extract_slice %x[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x8x4xf32> to "
                  "tensor<1x4x2x4xf32>",
                  {aligned, ""}),
            256 + 2 * 4 * 32);
}

} // namespace
