//===- ConversionPlanTest.cpp - Padding in conversions --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;
using Kind = ConversionPlan::Kind;

namespace {

/// Four rows of 6 elements in storage for 8, as one tile per row (#digits) and
/// by alignment (#aligned).
constexpr const char *kLayouts = R"(
  #digits = #layout.map<(d0, d1) -> buffer(d1 floordiv 8, d0, d1 mod 8)>
  #aligned = #layout.map<(d0, d1) -> buffer(d0, [d1] align 8)>
  #zero = #layout.padded<#aligned, zero>
  #digitsOfZero = #layout.padded<#digits, zero>
  #digitsOfOnes = #layout.padded<#digits, 1.0 : f32>
)";

class ConversionPlanTest : public layout_test::PriceTest {
protected:
  /// Returns the plan of the last op before the terminator.
  ConversionPlan getPlan(const std::string &body) {
    module =
        parseSourceString<ModuleOp>(kLayouts + body + "\nreturn }", &context);
    EXPECT_TRUE(module) << body;
    auto function = *module->getOps<func::FuncOp>().begin();
    return ConversionPlan::get(cast<ConvertOp>(
        function.getBody().front().getTerminator()->getPrevNode()));
  }
};

TEST_F(ConversionPlanTest, WritesOnlyThePaddingThatTheSourceLacks) {
  auto convert = [&](std::string from, std::string to) {
    std::string types =
        "tensor<4x6xf32, #" + from + "> to tensor<4x6xf32, #" + to + ">";
    return getPlan("func.func @f(%x: tensor<4x6xf32, #" + from +
                   ">) { %0 = arith.negf %x : tensor<4x6xf32, #" + from +
                   "> %1 = layout.convert %0 : " + types);
  };
  EXPECT_EQ(convert("digitsOfZero", "zero").kind, Kind::View);
  EXPECT_EQ(convert("digitsOfZero", "aligned").kind, Kind::View);
  EXPECT_EQ(convert("zero", "zero").kind, Kind::Same);
  for (const char *from : {"digits", "aligned", "digitsOfOnes"}) {
    ConversionPlan plan = convert(from, "zero");
    EXPECT_EQ(plan.kind, Kind::Padding) << from;
    constexpr int64_t rows = 4, paddingOfRow = 8 - 6, elementBytes = 4;
    EXPECT_EQ(plan.bytesRead, 0);
    EXPECT_EQ(plan.bytesWritten, rows * paddingOfRow * elementBytes);
  }
}

/// Constants, arguments and values with other uses are copied.
TEST_F(ConversionPlanTest, WritesPaddingInPlaceIfTheSourceHasNoOtherUse) {
  const char *conversion = "%1 = layout.convert %0 : tensor<4x6xf32, #digits> "
                           "to tensor<4x6xf32, #zero>";
  auto plan = [&](std::string value) {
    return getPlan("func.func @f(%x: tensor<4x6xf32, #digits>) { " + value +
                   conversion)
        .kind;
  };
  std::string made = "%0 = arith.negf %x : tensor<4x6xf32, #digits> ";
  EXPECT_EQ(plan(made), Kind::Padding);
  EXPECT_EQ(plan("%0 = arith.constant dense<1.0> : tensor<4x6xf32, #digits> "),
            Kind::Relayout);
  EXPECT_EQ(plan(made + "%2 = arith.negf %0 : tensor<4x6xf32, #digits> "),
            Kind::Relayout);
  EXPECT_EQ(getPlan("func.func @f(%0: tensor<4x6xf32, #digits>) { " +
                    std::string(conversion))
                .kind,
            Kind::Relayout);
}

} // namespace
