//===- AssignmentTest.cpp - Costs of an assignment ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Assignment.h"
#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

using AssignmentTest = layout_test::PriceTest;

/// Setting the solved choice again keeps the cost, which includes the cost of
/// storing constants.
TEST_F(AssignmentTest, ChoicesIncludeTheCostOfWeights) {
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %w = arith.constant dense<1.0> : tensor<8x8xf32>
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<4x8xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>)
        -> tensor<4x8xf32>
      %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>)
        outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
      return %y : tensor<4x8xf32>
    })",
                                                             &context);
  ASSERT_TRUE(parsed);
  CostModel costs = getCosts();
  WeightOptions weights;
  weights.costPercent = 100;
  LayoutAssignment solved =
      assignLayouts(*parsed, costs, {}, {}, LayoutConstraints(), weights);
  EXPECT_GT(solved.weightCost, 0);
  Cost cost = solved.cost;
  setChoice(solved, solved.choice, costs);
  EXPECT_EQ(solved.cost, cost);
}

} // namespace
