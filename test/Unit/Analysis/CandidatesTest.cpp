//===- CandidatesTest.cpp - What ops may choose from ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Candidates.h"
#include "layout/Algebra/Proof.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Interfaces/RuleCheck.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;
using Origin = OpConfig::Origin;

namespace {

/// A convolution, what follows it and what comes before.
constexpr const char *kProgram = R"(
  func.func @main(%x: tensor<1x16x10x10xf32>, %w: tensor<16x16x3x3xf32>,
                  %b: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
    %z = arith.constant 0.0 : f32
    %before = arith.negf %x : tensor<1x16x10x10xf32>
    %e = tensor.empty() : tensor<1x16x8x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %conv = linalg.conv_2d_nchw_fchw
      ins(%before, %w : tensor<1x16x10x10xf32>, tensor<16x16x3x3xf32>)
      outs(%i : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %after = arith.addf %conv, %b : tensor<1x16x8x8xf32>
    return %after : tensor<1x16x8x8xf32>
  })";

class Offers : public ::testing::Test {
protected:
  Offers() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, LayoutDialect,
                    linalg::LinalgDialect, tensor::TensorDialect>();
    registerLayoutRules(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(kProgram, &context);
    program.emplace(readProgram(*module, 8));
  }

  CostModel getCosts(Objective objective = Objective::time) {
    return CostModel(
        cast<TargetAttr>(parseAttribute(
            "#layout.target<kind = \"cpu\", lanes = 8>", &context)),
        objective);
  }
  template <typename OpTy>
  const Candidates &of(const std::vector<Candidates> &all) {
    for (auto [c, unit] : llvm::enumerate(program->unitClasses))
      if (unit.op && isa<OpTy>(unit.op))
        return all[c];
    llvm_unreachable("the program has one");
  }
  static bool offers(const Candidates &candidates, Origin origin) {
    return llvm::any_of(candidates.configs, [&](const OpConfig &config) {
      return config.origin == origin;
    });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<Program> program;
};

/// A convolution wants tiles of its channels; what is before and after can take
/// them, and everybody can stay as typed.
TEST_F(Offers, TilesGoBothWays) {
  CostModel costs = getCosts();
  std::vector<Candidates> all = collectCandidates(*program, costs);
  const Candidates &conv = of<linalg::Conv2DNchwFchwOp>(all);
  EXPECT_TRUE(offers(conv, Origin::Lanes));
  for (const Candidates *candidates :
       {&conv, &of<arith::NegFOp>(all), &of<arith::AddFOp>(all)}) {
    EXPECT_EQ(candidates->configs.front().origin, Origin::AsTyped);
    EXPECT_FALSE(candidates->isTruncated);
  }
  EXPECT_TRUE(offers(of<arith::NegFOp>(all), Origin::Carried));
  EXPECT_TRUE(offers(of<arith::AddFOp>(all), Origin::Carried));
}

/// Every configuration satisfies the rule of its op and is valid (L1), its
/// price is that of the cost model, and none is offered twice.
TEST_F(Offers, AreValidAndPriced) {
  CostModel costs = getCosts();
  std::vector<Candidates> all = collectCandidates(*program, costs);
  for (auto [unit, candidates] : llvm::zip(program->unitClasses, all)) {
    if (!unit.op || unit.rule.kind != OpLayoutRule::Kind::Loops)
      continue;
    for (auto [i, config] : llvm::enumerate(candidates.configs)) {
      auto getTypes = [&](TypeRange types, ArrayRef<LayoutId> layouts) {
        SmallVector<Type> stored;
        for (auto [type, layout] : llvm::zip_equal(types, layouts)) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          if (!tensor || layout == kAnyLayout) {
            stored.push_back(type);
            continue;
          }
          EXPECT_EQ(
              proveInjective(costs.getMap(layout), tensor.getShape()).answer,
              Answer::Yes);
          stored.push_back(costs.getStoredType(tensor, layout));
        }
        return stored;
      };
      std::string whyNot;
      EXPECT_TRUE(succeeded(checkRule(
          unit.rule,
          getTypes(unit.op->getOperandTypes(), config.exact.operands),
          getTypes(unit.op->getResultTypes(), config.exact.results), whyNot)))
          << whyNot;
      if (!unit.isPinned) {
        EXPECT_EQ(config.cost,
                  costs.getOpCost(unit.op, unit.rule, config.layouts));
      }
      for (size_t j = 0; j < i; ++j)
        EXPECT_FALSE(candidates.configs[j].layouts == config.layouts);
    }
  }
}

/// Limits hold, and that they cut something off is told.
TEST_F(Offers, AreLimited) {
  for (unsigned most : {1u, 2u, 3u}) {
    CostModel costs = getCosts();
    CandidateLimits limits;
    limits.configsPerOp = most;
    std::vector<Candidates> all = collectCandidates(*program, costs, limits);
    for (const Candidates &candidates : all)
      EXPECT_LE(candidates.configs.size(), most);
    const Candidates &conv = of<linalg::Conv2DNchwFchwOp>(all);
    EXPECT_EQ(conv.configs.size(), most);
    EXPECT_TRUE(conv.isTruncated);
  }
  // With one layout for each tensor nobody carries another.
  CostModel costs = getCosts();
  CandidateLimits limits;
  limits.layoutsPerTensor = 1;
  std::vector<Candidates> all = collectCandidates(*program, costs, limits);
  EXPECT_FALSE(offers(of<arith::NegFOp>(all), Origin::Carried));
  EXPECT_FALSE(offers(of<arith::AddFOp>(all), Origin::Carried));
}

/// Where bytes are counted ops cost nothing, and one with a need of its own
/// keeps to the best that meets it.
TEST_F(Offers, NeedsAreMetWhereBytesAreCounted) {
  CostModel timed = getCosts();
  std::vector<Candidates> byTime = collectCandidates(*program, timed);
  Cost least = kInfiniteCost;
  for (const OpConfig &config : of<linalg::Conv2DNchwFchwOp>(byTime).configs)
    if (config.meetsNeed)
      least = std::min(least, config.cost);
  CostModel costs = getCosts(Objective::bytes);
  std::vector<Candidates> all = collectCandidates(*program, costs);
  for (const Candidates &candidates : all)
    for (const OpConfig &config : candidates.configs)
      EXPECT_EQ(config.cost, 0);
  const Candidates &conv = of<linalg::Conv2DNchwFchwOp>(all);
  ASSERT_FALSE(conv.configs.empty());
  for (const OpConfig &config : conv.configs) {
    EXPECT_TRUE(config.meetsNeed);
    Cost timedCost = kInfiniteCost;
    for (const OpConfig &other : of<linalg::Conv2DNchwFchwOp>(byTime).configs)
      if (other.tiles == config.tiles)
        timedCost = std::min(timedCost, other.cost);
    EXPECT_EQ(timedCost, least);
  }
}

} // namespace
