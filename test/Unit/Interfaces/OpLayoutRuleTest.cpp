//===- OpLayoutRuleTest.cpp - Layout requirements of ops ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/OpLayoutRule.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/DroppedDims.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Interfaces/RuleCheck.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

class Rules : public ::testing::Test {
protected:
  Rules() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, LayoutDialect,
                    linalg::LinalgDialect, math::MathDialect,
                    tensor::TensorDialect>();
    registerLayoutRules(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Returns the rule of the last op before the return of a function.
  OpLayoutRule getRule(StringRef arguments, StringRef body) {
    std::string text =
        "func.func @f(" + arguments.str() + ") {\n" + body.str() + "\nreturn }";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    auto function = *module->getOps<func::FuncOp>().begin();
    op = function.getBody().front().getTerminator()->getPrevNode();
    return getLayoutRule(op);
  }
  template <typename RuleTy>
  RuleTy getRuleAs(StringRef arguments, StringRef body) {
    OpLayoutRule rule = getRule(arguments, body);
    EXPECT_TRUE(std::holds_alternative<RuleTy>(rule)) << body.str();
    return std::holds_alternative<RuleTy>(rule) ? std::get<RuleTy>(rule)
                                                : RuleTy();
  }
  SmallVector<int64_t> getTileSizeMustDivide(StringRef arguments,
                                             StringRef body) {
    return getRuleAs<PerDimRule>(arguments, body).tileSizeMustDivide;
  }
  static SmallVector<bool> getTileable(const LoopsRule &rule) {
    SmallVector<bool> tileable;
    for (const LoopRule &loop : rule.loops)
      tileable.push_back(loop.tileable);
    return tileable;
  }
  LayoutMap getMap(StringRef text) {
    return cast<MapAttr>(
               parseAttribute(("#layout.map<" + text + ">").str(), &context))
        .getMap();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Operation *op = nullptr;
};

/// A slice may be stored in tiles that divide its offset and size. Strides and
/// dropped dims must not be tiled.
TEST_F(Rules, SlicesKeepTilesThatTheyDoNotCut) {
  StringRef x = "%x: tensor<64x48x32xf32>";
  EXPECT_THAT(getTileSizeMustDivide(
                  x, "%0 = tensor.extract_slice %x[16, 0, 0][24, 48, 32]"
                     "[1, 1, 1] : tensor<64x48x32xf32> to "
                     "tensor<24x48x32xf32>"),
              ElementsAre(8, 0, 0));
  EXPECT_THAT(getTileSizeMustDivide(
                  x, "%0 = tensor.extract_slice %x[0, 12, 0][64, 18, 32]"
                     "[1, 1, 1] : tensor<64x48x32xf32> to "
                     "tensor<64x18x32xf32>"),
              ElementsAre(0, 6, 0));
  EXPECT_THAT(getTileSizeMustDivide(
                  x, "%0 = tensor.extract_slice %x[0, 0, 0][32, 48, 16]"
                     "[2, 1, 2] : tensor<64x48x32xf32> to "
                     "tensor<32x48x16xf32>"),
              ElementsAre(1, 0, 1));
  PerDimRule rule = getRuleAs<PerDimRule>(
      x, "%0 = tensor.extract_slice %x[32, 0, 0][1, 48, 32][1, 1, 1] : "
         "tensor<64x48x32xf32> to tensor<48x32xf32>");
  EXPECT_THAT(rule.tileSizeMustDivide, ElementsAre(1, 0, 0));
  EXPECT_TRUE(rule.dropped[0]);
  EXPECT_FALSE(rule.writesPart);
  // A stride counts even if every index is taken.
  EXPECT_THAT(
      getTileSizeMustDivide("%x: tensor<1x48xf32>",
                            "%0 = tensor.extract_slice %x[0, 0][1, 48][4, 1] : "
                            "tensor<1x48xf32> to tensor<1x48xf32>"),
      ElementsAre(1, 0));
  // A dropped dim has no tiles to divide.
  EXPECT_THAT(
      getTileSizeMustDivide("%x: tensor<1x48xf32>",
                            "%0 = tensor.extract_slice %x[0, 0][1, 48][1, 1] : "
                            "tensor<1x48xf32> to tensor<48xf32>"),
      ElementsAre(1, 0));
  // A dynamic offset may be any number.
  EXPECT_THAT(getTileSizeMustDivide(
                  "%x: tensor<64x48xf32>, %i: index",
                  "%0 = tensor.extract_slice %x[%i, 0][16, 48][1, 1] : "
                  "tensor<64x48xf32> to tensor<16x48xf32>"),
              ElementsAre(1, 0));
}

/// Only the inserted part is read and written.
TEST_F(Rules, InsertionsWriteAPart) {
  PerDimRule rule = getRuleAs<PerDimRule>(
      "%x: tensor<16x4xf32>, %y: tensor<64x4xf32>",
      "%0 = tensor.insert_slice %x into %y[32, 0][16, 4][1, 1] : "
      "tensor<16x4xf32> into tensor<64x4xf32>");
  EXPECT_TRUE(rule.writesPart);
  EXPECT_THAT(rule.isRead, ElementsAre(true, false));
  EXPECT_THAT(rule.tileSizeMustDivide, ElementsAre(16, 0));
}

TEST_F(Rules, PadsKeepTheDimsTheyChangeWhole) {
  StringRef x = "%x: tensor<2x3x4xf32>, %z: f32";
  EXPECT_THAT(getTileSizeMustDivide(
                  x, R"(%0 = tensor.pad %x low[0, 1, 0] high[0, 0, 2] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %z : f32
    } : tensor<2x3x4xf32> to tensor<2x4x6xf32>)"),
              ElementsAre(0, 1, 1));
  // A body that uses its index gets logical indices.
  EXPECT_THAT(getTileSizeMustDivide("%x: tensor<2x3xi32>",
                                    R"(%0 = tensor.pad %x low[0, 0] high[0, 2] {
    ^bb0(%i: index, %j: index):
      %v = arith.index_cast %j : index to i32
      tensor.yield %v : i32
    } : tensor<2x3xi32> to tensor<2x5xi32>)"),
              ElementsAre(1, 1));
}

/// Parts meet at multiples of every size, including the last, because a later
/// concatenation may continue.
TEST_F(Rules, ConcatenationsKeepTilesOfAllParts) {
  EXPECT_THAT(getTileSizeMustDivide(
                  "%x: tensor<2x24xf32>, %y: tensor<2x16xf32>, "
                  "%z: tensor<2x12xf32>",
                  "%0 = tensor.concat dim(1) %x, %y, %z : "
                  "(tensor<2x24xf32>, tensor<2x16xf32>, tensor<2x12xf32>)"
                  " -> tensor<2x52xf32>"),
              ElementsAre(0, 4));
  EXPECT_THAT(getTileSizeMustDivide("%x: tensor<2x24xf32>, %y: tensor<2x?xf32>",
                                    "%0 = tensor.concat dim(1) %x, %y : "
                                    "(tensor<2x24xf32>, tensor<2x?xf32>) -> "
                                    "tensor<2x?xf32>"),
              ElementsAre(0, 1));
}

/// Loop sizes, operands that the body reads, operations per point, and tileable
/// loops, which index a dim without other loops everywhere.
TEST_F(Rules, StructuredOps) {
  LoopsRule rule = getRuleAs<LoopsRule>(
      "%x: tensor<10xf32>, %w: tensor<3xf32>, %y: tensor<8xf32>",
      "%0 = linalg.conv_1d ins(%x, %w : tensor<10xf32>, tensor<3xf32>) "
      "outs(%y : tensor<8xf32>) -> tensor<8xf32>");
  EXPECT_EQ(rule.opsPerPoint, 2);
  EXPECT_EQ(rule.loops[0].size, 8);
  EXPECT_EQ(rule.loops[1].size, 3);
  EXPECT_THAT(getTileable(rule), ElementsAre(false, false));
  EXPECT_THAT(rule.isRead, ElementsAre(true, true, true));

  rule =
      getRuleAs<LoopsRule>("%x: tensor<4x?x6xf32>, %y: tensor<4x?x6xf32>", R"(
    %0 = linalg.generic {
        indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>,
                         affine_map<(i, j, k) -> (i, j, k)>],
        iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<4x?x6xf32>) outs(%y : tensor<4x?x6xf32>) {
    ^bb0(%a: f32, %b: f32):
      %two = arith.constant 2.0 : f32
      %i = linalg.index 2 : index
      %n = arith.index_cast %i : index to i32
      %f = arith.sitofp %n : i32 to f32
      %s = arith.mulf %f, %two : f32
      linalg.yield %s : f32
    } -> tensor<4x?x6xf32>)");
  EXPECT_EQ(rule.opsPerPoint, 3);
  EXPECT_THAT(rule.isRead, ElementsAre(false, false));
  EXPECT_THAT(getTileable(rule), ElementsAre(true, false, false));
  EXPECT_TRUE(ShapedType::isDynamic(rule.loops[1].size));

  // A diagonal cannot be tiled in one dim only.
  rule = getRuleAs<LoopsRule>("%x: tensor<4x4xf32>, %y: tensor<4xf32>", R"(
    %0 = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}
        ins(%x : tensor<4x4xf32>) outs(%y : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<4xf32>)");
  EXPECT_THAT(getTileable(rule), ElementsAre(false));
}

/// The size of a loop is that of the first operand that it indexes.
TEST_F(Rules, SizesOfLoops) {
  LoopsRule rule =
      getRuleAs<LoopsRule>("%x: tensor<4xf32>, %y: tensor<?xf32>", R"(
    %0 = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}
        ins(%x : tensor<4xf32>) outs(%y : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<?xf32>)");
  EXPECT_EQ(rule.loops[0].size, 4);
}

TEST_F(Rules, SoftmaxKeepsItsDimWhole) {
  LoopsRule rule = getRuleAs<LoopsRule>(
      "%x: tensor<4x6x8xf32>, %y: tensor<4x6x8xf32>",
      "%0 = linalg.softmax dimension(1) ins(%x : tensor<4x6x8xf32>) "
      "outs(%y : tensor<4x6x8xf32>) -> tensor<4x6x8xf32>");
  EXPECT_THAT(getTileable(rule), ElementsAre(true, false, true));
  EXPECT_THAT(rule.isRead, ElementsAre(true, false));
  EXPECT_EQ(rule.opsPerPoint, 5);
}

TEST_F(Rules, PacksAreViewsWhereTilesAreFull) {
  StringRef full = "%0 = linalg.pack %x outer_dims_perm = [1, 0] "
                   "inner_dims_pos = [1] inner_tiles = [4] into %y : "
                   "tensor<6x8xf32> -> tensor<2x6x4xf32>";
  ViewRule rule =
      getRuleAs<ViewRule>("%x: tensor<6x8xf32>, %y: tensor<2x6x4xf32>", full);
  EXPECT_FALSE(rule.isOfRowMajor);
  // Element (5, 7) is element (1, 5, 3) of the result, and vice versa.
  auto evaluate = [](ArrayRef<IndexExpr> dims, ArrayRef<int64_t> index) {
    SmallVector<int64_t> result;
    for (const IndexExpr &dim : dims)
      result.push_back(*dim.evaluate(index, {}));
    return result;
  };
  EXPECT_THAT(evaluate(rule.toResult.dims, {5, 7}), ElementsAre(1, 5, 3));
  EXPECT_THAT(evaluate(rule.toSource.dims, {1, 5, 3}), ElementsAre(5, 7));
  EXPECT_THAT(evaluate(rule.toResult.dims, {2, 4}), ElementsAre(1, 2, 0));

  getRuleAs<OpaqueRule>("%x: tensor<6x7xf32>, %y: tensor<6x2x4xf32>, %z: f32",
                        "%0 = linalg.pack %x padding_value(%z : f32) "
                        "inner_dims_pos = [1] inner_tiles = [4] into %y : "
                        "tensor<6x7xf32> -> tensor<6x2x4xf32>");
  // The number of tiles is dynamic.
  getRuleAs<OpaqueRule>(
      "%x: tensor<6x8xf32>, %y: tensor<6x?x4xf32>",
      "%0 = linalg.pack %x inner_dims_pos = [1] inner_tiles = [4] "
      "into %y : tensor<6x8xf32> -> tensor<6x?x4xf32>");
}

TEST_F(Rules, FreeSources) {
  OpLayoutRule rule = getRule("%z: f32", R"(%e = tensor.empty() : tensor<4xf32>
    %0 = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>)");
  EXPECT_TRUE(isRematerializable(op, rule));
  rule = getRule("%z: f32, %e: tensor<4xf32>",
                 "%0 = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> "
                 "tensor<4xf32>");
  EXPECT_FALSE(isRematerializable(op, rule));
  rule = getRule("%z: f32, %x: tensor<4xf32>",
                 R"(%e = arith.negf %x : tensor<4xf32>
    %0 = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>)");
  EXPECT_FALSE(isRematerializable(op, rule));
}

/// All tensors of a per-dim rule have one layout, tiled only as divisors allow.
TEST_F(Rules, PerDimChecks) {
  OpLayoutRule rule =
      getRule("%x: tensor<64x48xf32>",
              "%0 = tensor.extract_slice %x[16, 0][24, 48][1, 1] : "
              "tensor<64x48xf32> to tensor<24x48xf32>");
  auto check = [&](StringRef from, StringRef to) {
    Type f32 = Float32Type::get(&context);
    std::string whyNot;
    Type source =
        withLayout(RankedTensorType::get({64, 48}, f32), getMap(from));
    Type result = withLayout(RankedTensorType::get({24, 48}, f32), getMap(to));
    return succeeded(checkRule(rule, source, result, whyNot)) ? "" : whyNot;
  };
  StringRef by8 = "(d0, d1) -> buffer(d0 floordiv 8, d1, d0 mod 8)";
  StringRef by16 = "(d0, d1) -> buffer(d0 floordiv 16, d1, d0 mod 16)";
  StringRef turned = "(d0, d1) -> buffer(d1, d0)";
  EXPECT_EQ(check(by8, by8), "");
  EXPECT_EQ(check(turned, turned), "");
  EXPECT_THAT(check(by16, by16), HasSubstr("changes dim 0"));
  EXPECT_THAT(check(by8, turned), HasSubstr("needs one layout"));
}

TEST_F(Rules, PartsOfALowerRankLackTheDim) {
  OpLayoutRule rule =
      getRule("%x: tensor<8x6x4xf32>",
              "%0 = tensor.extract_slice %x[2, 0, 0][1, 6, 4][1, 1, 1] : "
              "tensor<8x6x4xf32> to tensor<6x4xf32>");
  Type f32 = Float32Type::get(&context);
  Type source = withLayout(RankedTensorType::get({8, 6, 4}, f32),
                           getMap("(d0, d1, d2) -> buffer(d0, d2, d1)"));
  RankedTensorType part = RankedTensorType::get({6, 4}, f32);
  std::string whyNot;
  EXPECT_TRUE(succeeded(checkRule(
      rule, source, withLayout(part, getMap("(d0, d1) -> buffer(d1, d0)")),
      whyNot)));
  EXPECT_TRUE(failed(checkRule(rule, source, part, whyNot)));
}

/// Restored dims are the slowest; dropped dims have one index.
TEST_F(Rules, DroppedDims) {
  llvm::SmallBitVector dropped(3);
  dropped.set(1);
  LayoutMap whole = getMap("(d0, d1, d2) -> buffer([d2, d0, d1])");
  LayoutMap part = dropDims(whole, dropped);
  EXPECT_EQ(part, getMap("(d0, d1) -> buffer([d1, d0])"));
  std::optional<LayoutMap> back = insertDims(part, dropped);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, getMap("(d0, d1, d2) -> buffer([d1, d2, d0])"));
}

TEST_F(Rules, ElementwiseOpsHaveOneShape) {
  LoopsRule rule =
      getRuleAs<LoopsRule>("%x: tensor<4x6xf32>, %y: tensor<4x6xf32>",
                           "%0 = arith.addf %x, %y : tensor<4x6xf32>");
  EXPECT_EQ(rule.opsPerPoint, 1);
  EXPECT_THAT(getTileable(rule), ElementsAre(true, true));
  rule =
      getRuleAs<LoopsRule>("%c: i1, %x: tensor<4x?xf32>, %y: tensor<4x?xf32>",
                           "%0 = arith.select %c, %x, %y : tensor<4x?xf32>");
  EXPECT_THAT(getTileable(rule), ElementsAre(true, false));
  EXPECT_THAT(rule.isRead, ElementsAre(false, true, true));
  getRuleAs<OpaqueRule>(
      "%x: tensor<4xf32>, %n: tensor<?xi32>",
      "%0 = math.fpowi %x, %n : tensor<4xf32>, tensor<?xi32>");
}

} // namespace
