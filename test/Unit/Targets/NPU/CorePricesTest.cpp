//===- CorePricesTest.cpp - Prices on the cores of a chip -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The expected numbers follow by hand from the prologue of CostModel.h and the
// parameters of the target.

#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

using CorePrices = layout_test::PriceTest;

/// Four cores of eight lanes, and 256 for starting a transfer. A step, in which
/// all lanes may multiply and add, costs 2 * 32 / 8.
constexpr const char *kUnits =
    "#layout.npu<launch_cost = 256, flops_per_byte = 8, chip = #npu.target<"
    "npus = 4, bytes_per_npu = 16384, eu_bytes = 32>>";
constexpr int64_t kStep = 2 * 32 / 8;

std::string scatter(StringRef mode) {
  return "#layout.npu_scatter<" + mode.str() +
         ", start = 0, target = #npu.target<npus = 4, bytes_per_npu = 16384, "
         "eu_bytes = 32>>";
}

/// Every core issues the 16 words of a channel, 8 per step.
TEST_F(CorePrices, UnitsComputeInLockstep) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
  EXPECT_EQ(price(costs, "%x: tensor<1x4x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x4x4x4xf32>",
                  {aligned, aligned}),
            16 / 8 * kStep);
  // Five channels take two rows, while the other cores idle.
  EXPECT_EQ(price(costs, "%x: tensor<1x5x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x5x4x4xf32>",
                  {aligned, aligned}),
            2 * 16 / 8 * kStep);
}

/// A sum of three values per element; the window operand is not read.
TEST_F(CorePrices, SumsOfCores) {
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
            3 * 16 / 8 * kStep);
}

/// Without parameters of the target, those of the chip's clock apply: a cycle
/// costs twice the bytes that DMA moves in it.
TEST_F(CorePrices, TheClockOfTheChip) {
  CostModel costs = getCostsOf(
      "#layout.npu<chip = #npu.target<npus = 4, bytes_per_npu = 16384, "
      "eu_bytes = 32, dma_bytes_per_cycle = 16, dma_start = 5, "
      "compute_start = 3>>");
  std::string aligned =
      "#layout.npu_scatter<aligned, start = 0, target = #npu.target<npus = 4, "
      "bytes_per_npu = 16384, eu_bytes = 32, dma_bytes_per_cycle = 16, "
      "dma_start = 5, compute_start = 3>>";
  EXPECT_EQ(price(costs, "%x: tensor<1x4x4x4xf32>",
                  "%0 = arith.negf %x : tensor<1x4x4x4xf32>",
                  {aligned, aligned}),
            (3 + 2) * 2 * 16);
  EXPECT_EQ(price(costs, "%x: tensor<1x4x8x4xf32>",
                  "%0 = tensor.extract_slice %x[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x8x4xf32> to "
                  "tensor<1x4x2x4xf32>",
                  {aligned, ""}),
            5 * 2 * 16 + 2 * 4 * 32);
}

/// One transfer of the part, of which every byte is read and written.
TEST_F(CorePrices, PartsAreMoved) {
  CostModel costs = getCostsOf(kUnits);
  std::string aligned = scatter("aligned");
  EXPECT_EQ(price(costs, "%x: tensor<1x4x2x4xf32>, %y: tensor<1x4x8x4xf32>",
                  "%0 = tensor.insert_slice %x into %y[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x2x4xf32> into "
                  "tensor<1x4x8x4xf32>",
                  {"", aligned, aligned}),
            256 + 2 * 4 * 32);
  // A dynamic offset has the same price.
  EXPECT_EQ(price(costs,
                  "%x: tensor<1x4x2x4xf32>, %y: tensor<1x4x8x4xf32>, "
                  "%i: index",
                  "%0 = tensor.insert_slice %x into %y[0, 0, %i, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x2x4xf32> into "
                  "tensor<1x4x8x4xf32>",
                  {"", aligned, "", aligned}),
            256 + 2 * 4 * 32);
  // The engine has two loops in addition to channels and contiguous segments.
  // Batches and the two digits of the row index are three.
  StringRef odd = "(d0, d1, d2, d3) -> buffer(d2 mod 2, d0, d1, "
                  "d2 floordiv 2, d3)";
  EXPECT_EQ(price(costs, "%x: tensor<2x4x4x4xf32>, %y: tensor<2x4x8x4xf32>",
                  "%0 = tensor.insert_slice %x into %y[0, 0, 0, 0]"
                  "[2, 4, 4, 4][1, 1, 1, 1] : tensor<2x4x4x4xf32> into "
                  "tensor<2x4x8x4xf32>",
                  {odd, aligned, aligned}),
            2 * 256 + 2 * 4 * 128);
  // Reading a part of a whole costs the same.
  EXPECT_EQ(price(costs, "%x: tensor<1x4x8x4xf32>",
                  "%0 = tensor.extract_slice %x[0, 0, 0, 0]"
                  "[1, 4, 2, 4][1, 1, 1, 1] : tensor<1x4x8x4xf32> to "
                  "tensor<1x4x2x4xf32>",
                  {aligned, ""}),
            256 + 2 * 4 * 32);
}

} // namespace
