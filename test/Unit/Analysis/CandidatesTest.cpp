//===- CandidatesTest.cpp - Candidate configurations of ops ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/Candidates.h"
#include "layout/Algebra/Proof.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Interfaces/RuleCheck.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "layout/Targets/Registration.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Debug.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;
using Origin = OpConfig::Origin;
using ::testing::HasSubstr;

namespace {

/// A convolution with its producer and consumer.
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

class Propagation : public ::testing::Test {
protected:
  Propagation() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, LayoutDialect,
                    linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                    tensor::TensorDialect>();
    registerLayoutRules(registry);
    registerTargets(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    read(kProgram);
  }

  void read(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    FailureOr<LayoutConstraints> constraints = readConstraints(*module);
    ASSERT_TRUE(succeeded(constraints));
    program.emplace(readProgram(*module, 8, *constraints));
  }

  CostModel getCosts(Objective objective = Objective::time,
                     StringRef target = "#layout.cpu<lanes = 8>") {
    return CostModel(cast<TargetInterface>(parseAttribute(target, &context)),
                     objective);
  }
  template <typename OpTy>
  const Candidates &of(const std::vector<Candidates> &all) {
    for (auto [c, node] : llvm::enumerate(program->nodeClasses))
      if (node.op && isa<OpTy>(node.op))
        return all[c];
    llvm_unreachable("the program has one");
  }
  static bool proposes(const Candidates &candidates, Origin origin) {
    return llvm::any_of(candidates.configs, [&](const OpConfig &config) {
      return config.origin == origin;
    });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<Program> program;
};

/// A convolution prefers channel tiles. Its neighbors can use them, and every
/// op can stay as typed.
TEST_F(Propagation, TilesGoBothWays) {
  CostModel costs = getCosts();
  std::vector<Candidates> all = collectCandidates(*program, costs);
  const Candidates &conv = of<linalg::Conv2DNchwFchwOp>(all);
  EXPECT_TRUE(proposes(conv, Origin::Lanes));
  for (const Candidates *candidates :
       {&conv, &of<arith::NegFOp>(all), &of<arith::AddFOp>(all)}) {
    EXPECT_EQ(candidates->configs.front().origin, Origin::AsTyped);
    EXPECT_FALSE(candidates->isTruncated);
  }
  EXPECT_TRUE(proposes(of<arith::NegFOp>(all), Origin::Carried));
  EXPECT_TRUE(proposes(of<arith::AddFOp>(all), Origin::Carried));
}

#ifndef NDEBUG
/// Builds with assertions print the candidates of each op.
TEST_F(Propagation, AreToldToWhoDebugs) {
  llvm::DebugFlag = true;
  llvm::setCurrentDebugType("layout-candidates");
  ::testing::internal::CaptureStderr();
  CostModel costs = getCosts();
  (void)collectCandidates(*program, costs);
  std::string story = ::testing::internal::GetCapturedStderr();
  llvm::DebugFlag = false;
  EXPECT_THAT(story, HasSubstr("is linalg.conv_2d_nchw_fchw"));
  EXPECT_THAT(story,
              HasSubstr("may choose what tiles its channels for 8 lanes"));
}
#endif

/// Every configuration satisfies the rule of its op and is valid (L1), has the
/// price of the cost model, and is listed once.
TEST_F(Propagation, AreValidAndPriced) {
  CostModel costs = getCosts();
  std::vector<Candidates> all = collectCandidates(*program, costs);
  for (auto [node, candidates] : llvm::zip(program->nodeClasses, all)) {
    if (!node.op || !std::holds_alternative<LoopsRule>(node.rule))
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
              ProofResult::Proved);
          stored.push_back(costs.getStoredType(tensor, layout));
        }
        return stored;
      };
      std::string whyNot;
      EXPECT_TRUE(succeeded(checkRule(
          node.rule,
          getTypes(node.op->getOperandTypes(), config.exact.operands),
          getTypes(node.op->getResultTypes(), config.exact.results), whyNot)))
          << whyNot;
      EXPECT_EQ(config.cost,
                isRematerializable(node.op, node.rule)
                    ? Cost(0)
                    : costs.getOpCost(node.op, node.rule, config.layouts));
      for (size_t j = 0; j < i; ++j)
        EXPECT_FALSE(candidates.configs[j].layouts == config.layouts);
    }
  }
}

/// Limits hold, and truncation is reported.
TEST_F(Propagation, AreLimited) {
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
  // With one layout per tensor, no op carries the layout of another.
  CostModel costs = getCosts();
  CandidateLimits limits;
  limits.layoutsPerTensor = 1;
  std::vector<Candidates> all = collectCandidates(*program, costs, limits);
  EXPECT_FALSE(proposes(of<arith::NegFOp>(all), Origin::Carried));
  EXPECT_FALSE(proposes(of<arith::AddFOp>(all), Origin::Carried));
}

/// If bytes are counted, ops are free, and an op with a need has only its best
/// configuration that meets it.
TEST_F(Propagation, NeedsAreMetWhereBytesAreCounted) {
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
  // An op without a need gets candidates of its own types first.
  const Candidates &before = of<arith::NegFOp>(all);
  EXPECT_TRUE(proposes(before, Origin::Carried));
  EXPECT_EQ(before.configs.front().origin, Origin::AsTyped);
}

/// Padding stated by a constraint is not proposed to others. They get
/// the map, and choose their padding themselves.
TEST_F(Propagation, PaddingOfConstraintsIsNotProposed) {
  read(R"(
  #zero = #layout.padded<#layout.map<(i, j) -> buffer(j floordiv 4, i, j mod 4)>, zero>
  func.func @main(%x: tensor<4x6xf32>, %n: index) -> tensor<4x6xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = arith.negf %x {layout.result_layouts = [#zero], layout.operand_layouts = [#zero]} : tensor<4x6xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> tensor<4x6xf32> {
      %b = math.exp %s : tensor<4x6xf32>
      scf.yield %b : tensor<4x6xf32>
    }
    return %r : tensor<4x6xf32>
  })");
  CostModel costs = getCosts();
  std::vector<Candidates> all = collectCandidates(*program, costs);
  EXPECT_TRUE(proposes(of<math::ExpOp>(all), Origin::Carried));
  for (const Candidates &candidates : all)
    for (const OpConfig &config : candidates.configs) {
      bool mayStatePadding = config.origin == Origin::Constrained ||
                             config.origin == Origin::Padded;
      for (LayoutId layout : config.exact.results)
        EXPECT_TRUE(mayStatePadding || layout == kAnyLayout ||
                    !costs.getPadding(layout));
    }
}

/// The body of a parallel loop makes parts of 4 rows, images that fit a device
/// with images of 8 x 4 pixels. The whole of 64 rows does not fit.
TEST_F(Propagation, JoinsTakeWhatTheTargetHolds) {
  read(R"(
  func.func @main(%x: tensor<4x16xf32>, %w: tensor<16x16xf32>, %y: tensor<64x16xf32>) -> tensor<64x16xf32> {
    %r = scf.forall (%i) = (0) to (64) step (4)
        shared_outs(%o = %y) -> (tensor<64x16xf32>) {
      %z = tensor.extract_slice %o[%i, 0] [4, 16] [1, 1]
        : tensor<64x16xf32> to tensor<4x16xf32>
      %a = linalg.matmul ins(%x, %w : tensor<4x16xf32>, tensor<16x16xf32>)
        outs(%z : tensor<4x16xf32>) -> tensor<4x16xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %a into %o[%i, 0] [4, 16] [1, 1]
          : tensor<4x16xf32> into tensor<64x16xf32>
      }
    }
    return %r : tensor<64x16xf32>
  })");
  CostModel costs =
      getCosts(Objective::time, "#layout.opencl<image2d_max_width = 8, "
                                "image2d_max_height = 4>");
  std::vector<Candidates> all = collectCandidates(*program, costs);
  bool madeImages = false;
  for (const OpConfig &config : of<linalg::MatmulOp>(all).configs)
    madeImages |= isImage(costs.getMap(config.layouts.results[0]));
  EXPECT_TRUE(madeImages);
  unsigned numJoins = 0;
  for (auto [node, candidates] : llvm::zip(program->nodeClasses, all)) {
    numJoins += node.isFlowClass();
    for (const OpConfig &config : candidates.configs)
      EXPECT_FALSE(node.isFlowClass() &&
                   isImage(costs.getMap(config.layouts.results[0])));
  }
  EXPECT_GT(numJoins, 0u);
}

} // namespace
