//===- KernelPricesTest.cpp - Prices of kernels ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The expected numbers follow by hand from the prologues of CostModel.h and
// ImageReads.h, and the parameters of the target.

#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

using KernelPrices = layout_test::PriceTest;

constexpr const char *kTurned = "(d0, d1) -> buffer(d1, d0)";
constexpr const char *kImage =
    "(d0, d1) -> image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4)";

/// 1000 per launch; reads cost their bytes.
constexpr const char *kDevice =
    "#layout.opencl<launch_cost = 1000, image_read_percent = 100, "
    "buffer_read_percent = 100>";

constexpr const char *kNegArguments = "%x: tensor<16x16xf32>";
constexpr const char *kNeg = "%0 = arith.negf %x : tensor<16x16xf32>";

/// Both tensors, one read per element, 256 operations at eight per byte; and a
/// launch if the op is not part of another kernel.
TEST_F(KernelPrices, KernelsOfElementwiseOps) {
  CostModel costs = getCostsOf(kDevice);
  Cost fused = 2 * 1024 + 1024 + 256 / 8;
  EXPECT_EQ(price(costs, kNegArguments, kNeg), fused);
  EXPECT_EQ(price(costs, kNegArguments, kNeg, {kTurned, kTurned}), fused);
  EXPECT_EQ(price(costs, kNegArguments, kNeg, {"", kTurned}), fused + 1000);
}

TEST_F(KernelPrices, ConversionsReadEachElement) {
  CostModel costs = getCostsOf(kDevice);
  EXPECT_EQ(costs.getConversionCost(getType({16, 16}), costs.getRowMajor(2),
                                    costs.intern(getMap(kTurned))),
            1000 + 2 * 1024 + 1024);
}

/// Parts that begin at a pixel are read by pixels, others by lanes.
TEST_F(KernelPrices, ConcatenationsOfPixels) {
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

} // namespace
