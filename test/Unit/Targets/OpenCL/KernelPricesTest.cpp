//===- KernelPricesTest.cpp - Prices of kernels ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expected prices follow from the prologues of CostModel.h and ImageReads.h
// and from the parameters below. Tensors have f32 elements.
//
//===----------------------------------------------------------------------===//

#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

using KernelPricesTest = layout_test::PriceTest;

constexpr const char *kTransposed = "(d0, d1) -> buffer(d1, d0)";
constexpr const char *kImage =
    "(d0, d1) -> image2d(x = d1 floordiv 4, y = d0, lane = d1 mod 4)";

constexpr int64_t kElementBytes = 4, kPixelElements = 4;

/// The price of starting a kernel.
constexpr Cost kLaunch = 1000;

/// The operations that cost as much as moving one byte.
constexpr int64_t kFlopsPerByte = 8;

/// A device with these parameters, on which a read costs its bytes.
constexpr const char *kDevice =
    "#layout.opencl<launch_cost = 1000, image_read_percent = 100, "
    "buffer_read_percent = 100>";

constexpr const char *kNegArguments = "%x: tensor<16x16xf32>";
constexpr const char *kNeg = "%0 = arith.negf %x : tensor<16x16xf32>";

/// Returns the price of f32 elements in memory.
constexpr Cost moving(int64_t elements) { return kElementBytes * elements; }

/// Returns the price of the read instructions for f32 elements.
constexpr Cost reading(int64_t elements) { return kElementBytes * elements; }

TEST_F(KernelPricesTest, ChargesALaunchIfAnOpIsNotFused) {
  CostModel costs = getCostsOf(kDevice);
  constexpr int64_t elements = 16 * 16;
  constexpr Cost fused =
      moving(2 * elements) + reading(elements) + elements / kFlopsPerByte;
  EXPECT_EQ(price(costs, kNegArguments, kNeg), fused);
  EXPECT_EQ(price(costs, kNegArguments, kNeg, {kTransposed, kTransposed}),
            fused);
  EXPECT_EQ(price(costs, kNegArguments, kNeg, {"", kTransposed}),
            fused + kLaunch);
}

TEST_F(KernelPricesTest, ChargesOneReadPerConvertedElement) {
  CostModel costs = getCostsOf(kDevice);
  constexpr int64_t elements = 16 * 16;
  EXPECT_EQ(costs.getConversionCost(getType({16, 16}), costs.getRowMajor(2),
                                    costs.intern(getMap(kTransposed))),
            kLaunch + moving(2 * elements) + reading(elements));
}

TEST_F(KernelPricesTest, ReadsConcatenatedPartsByPixelsIfAligned) {
  CostModel costs = getCostsOf(kDevice);
  auto concat = [&](int64_t columns) {
    std::string part = "tensor<4x" + std::to_string(columns) + "xf32>";
    return price(costs, "%x: " + part + ", %y: " + part,
                 "%0 = tensor.concat dim(1) %x, %y : (" + part + ", " + part +
                     ") -> tensor<4x" + std::to_string(2 * columns) + "xf32>",
                 {kImage, kImage, kImage});
  };
  constexpr int64_t rows = 4, part = rows * 8;
  // Two pixels per row of each part.
  EXPECT_EQ(concat(8), moving(2 * part + 2 * part) + reading(2 * part));
  // The second part starts within a pixel: every lane reads a pixel. Parts have
  // two pixels per row, the result has three.
  EXPECT_EQ(concat(6),
            moving(2 * part + rows * 12) + kPixelElements * reading(2 * part));
}

} // namespace
