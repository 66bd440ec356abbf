//===- PaddingMasksTest.cpp - Masks of padding in structured ops ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/PaddingMasks.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::layout;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using utils::IteratorType;

namespace {

/// Ops on vectors of 6 elements in tiles of 4: two positions are padding.
class Masks : public ::testing::Test {
protected:
  Masks() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, LayoutDialect,
                        linalg::LinalgDialect, math::MathDialect>();
  }

  RankedTensorType getTiled(Type element, TypedAttr padding = {}) {
    LayoutMap map =
        cast<MapAttr>(parseAttribute("#layout.map<(d0) -> "
                                     "buffer(d0 mod 4, d0 floordiv 4)>",
                                     &context))
            .getMap();
    return withLayout(RankedTensorType::get({6}, element), map, padding);
  }
  /// Creates the block of a function, used as the body of a structured op.
  Block *getBody(StringRef arguments, StringRef ops, StringRef result) {
    std::string type = arguments.contains("i32") ? "i32" : "f32";
    module = parseSourceString<ModuleOp>(
        "func.func @f(" + arguments.str() + ") -> " + type + " {\n" +
            ops.str() + "\nreturn " + result.str() + " : " + type + "\n}",
        &context);
    EXPECT_TRUE(module);
    return &(*module->getOps<func::FuncOp>().begin()).getBody().front();
  }
  /// Returns the masks of an op over one loop with these inputs and one result.
  PaddingMasks getMasks(ArrayRef<RankedTensorType> inputs,
                        RankedTensorType result, Block *body, bool reduces,
                        bool readsInit) {
    AffineMap same = AffineMap::getMultiDimIdentityMap(1, &context);
    SmallVector<OperandAccess> operands;
    for (RankedTensorType input : inputs)
      operands.push_back({same, input, false});
    operands.push_back(
        {reduces ? AffineMap::get(1, 0, &context) : same, result, true});
    SmallVector<IteratorType> iterators{reduces ? IteratorType::reduction
                                                : IteratorType::parallel};
    FailureOr<IterationSpace> space =
        getIterationSpace(operands, iterators, {6});
    EXPECT_TRUE(succeeded(space));
    EXPECT_TRUE(space->isPadded[0]);
    ScalarBody scalar;
    scalar.block = body;
    return findPaddingMasks(operands, iterators, {readsInit}, scalar, *space);
  }

  MLIRContext context;
  Builder builder{&context};
  OwningOpRef<ModuleOp> module;
};

constexpr const char *kTwo = "%a: f32, %b: f32, %acc: f32";

/// The example of the header.
TEST_F(Masks, SumsOfProductsWantBothZero) {
  Block *body = getBody(kTwo, R"(%0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32)",
                        "%1");
  Type f32 = builder.getF32Type();
  RankedTensorType open = getTiled(f32),
                   zero = getTiled(f32, builder.getF32FloatAttr(0)),
                   one = getTiled(f32, builder.getF32FloatAttr(1)),
                   sum = RankedTensorType::get({}, f32);
  auto mask = [&](RankedTensorType a, RankedTensorType b) {
    PaddingMasks masks = getMasks({a, b}, sum, body, true, true);
    // Masked positions keep the previous element.
    EXPECT_FALSE(masks.instead[0]);
    return masks.loops[0];
  };
  EXPECT_THAT(mask(open, open), ElementsAre(0));
  EXPECT_THAT(mask(zero, open), ElementsAre(0));
  EXPECT_THAT(mask(open, zero), ElementsAre(0));
  EXPECT_THAT(mask(zero, zero), IsEmpty());
  EXPECT_THAT(mask(zero, one), IsEmpty());
  EXPECT_THAT(mask(one, one), ElementsAre(0));
}

/// Integers have no NaN, so one zero operand is enough.
TEST_F(Masks, SumsOfIntegerProductsWantOneZero) {
  Block *body = getBody("%a: i32, %b: i32, %acc: i32",
                        R"(%0 = arith.muli %a, %b : i32
    %1 = arith.addi %0, %acc : i32)",
                        "%1");
  Type i32 = builder.getI32Type();
  RankedTensorType open = getTiled(i32),
                   zero = getTiled(i32, builder.getI32IntegerAttr(0)),
                   sum = RankedTensorType::get({}, i32);
  EXPECT_THAT(getMasks({zero, open}, sum, body, true, true).loops[0],
              IsEmpty());
  EXPECT_THAT(getMasks({open, open}, sum, body, true, true).loops[0],
              ElementsAre(0));
}

/// The neutral element of a combiner, on either side, yields the other operand.
TEST_F(Masks, ReductionsKnowTheirNeutralElements) {
  struct Example {
    const char *op;
    double neutral, other;
  };
  const Example floats[] = {{"arith.addf", 0, 1},
                            {"arith.maximumf", -INFINITY, INFINITY},
                            {"arith.maxnumf", -INFINITY, 0},
                            {"arith.minimumf", INFINITY, -INFINITY},
                            {"arith.minnumf", INFINITY, 0},
                            {"arith.mulf", 2, 0}};
  Type f32 = builder.getF32Type();
  for (const Example &example : floats)
    for (bool isFirst : {false, true}) {
      SCOPED_TRACE(example.op);
      Block *body =
          getBody("%a: f32, %acc: f32",
                  std::string("%0 = ") + example.op +
                      (isFirst ? " %acc, %a : f32" : " %a, %acc : f32"),
                  "%0");
      auto isMasked = [&](double padding) {
        return !getMasks({getTiled(f32, builder.getF32FloatAttr(padding))},
                         RankedTensorType::get({}, f32), body, true, true)
                    .loops[0]
                    .empty();
      };
      EXPECT_EQ(isMasked(example.neutral),
                StringRef(example.op) == "arith.mulf");
      EXPECT_TRUE(isMasked(example.other));
    }
  struct IntExample {
    const char *op;
    int32_t neutral, other;
  };
  const IntExample integers[] = {
      {"arith.addi", 0, 1},          {"arith.ori", 0, -1},
      {"arith.xori", 0, -1},         {"arith.maxui", 0, -1},
      {"arith.maxsi", INT32_MIN, 0}, {"arith.minsi", INT32_MAX, INT32_MIN}};
  Type i32 = builder.getI32Type();
  for (const IntExample &example : integers) {
    SCOPED_TRACE(example.op);
    Block *body =
        getBody("%a: i32, %acc: i32",
                std::string("%0 = ") + example.op + " %a, %acc : i32", "%0");
    auto isMasked = [&](int32_t padding) {
      return !getMasks({getTiled(i32, builder.getI32IntegerAttr(padding))},
                       RankedTensorType::get({}, i32), body, true, true)
                  .loops[0]
                  .empty();
    };
    EXPECT_FALSE(isMasked(example.neutral));
    EXPECT_TRUE(isMasked(example.other));
  }
}

/// Stated padding of a result is written unless the body computes it.
TEST_F(Masks, ElementwiseOpsMakeThePaddingOfTheirResult) {
  Type f32 = builder.getF32Type();
  TypedAttr zero = builder.getF32FloatAttr(0), one = builder.getF32FloatAttr(1);
  Block *add = getBody(kTwo, "%0 = arith.addf %a, %b : f32", "%0");
  auto mask = [&](TypedAttr a, TypedAttr b, TypedAttr result) {
    return getMasks({getTiled(f32, a), getTiled(f32, b)}, getTiled(f32, result),
                    add, false, false);
  };
  EXPECT_THAT(mask(zero, zero, zero).loops[0], IsEmpty());
  EXPECT_THAT(mask(zero, one, one).loops[0], IsEmpty());
  PaddingMasks masks = mask(zero, one, zero);
  EXPECT_THAT(masks.loops[0], ElementsAre(0));
  EXPECT_EQ(masks.instead[0], zero);
  EXPECT_THAT(mask(zero, {}, zero).loops[0], ElementsAre(0));
  // No padding is stated, so no mask is needed.
  EXPECT_THAT(mask({}, {}, {}).loops[0], IsEmpty());
}

/// A result whose init is read keeps the previous element.
TEST_F(Masks, KeepWhatTheBodyReads) {
  Type f32 = builder.getF32Type();
  TypedAttr zero = builder.getF32FloatAttr(0);
  Block *add = getBody(kTwo, "%0 = arith.addf %a, %acc : f32", "%0");
  PaddingMasks masks =
      getMasks({getTiled(f32), getTiled(f32)}, getTiled(f32, zero), add, false,
               /*readsInit=*/true);
  EXPECT_THAT(masks.loops[0], ElementsAre(0));
  EXPECT_FALSE(masks.instead[0]);
}

/// A reduction accumulates into the init, whatever its body reads, and keeps
/// the init at the padding of its result.
TEST_F(Masks, ReductionsKeepWhatTheyStartFrom) {
  Type f32 = builder.getF32Type();
  TypedAttr zero = builder.getF32FloatAttr(0);
  Block *square =
      getBody("%a: f32, %acc: f32", "%0 = arith.mulf %a, %a : f32", "%0");
  LayoutMap tiles =
      cast<MapAttr>(
          parseAttribute("#layout.map<(d0, d1) -> buffer(d0 mod 4, d1 mod 4, "
                         "d0 floordiv 4, d1 floordiv 4)>",
                         &context))
          .getMap();
  SmallVector<OperandAccess> operands{
      {AffineMap::getMultiDimIdentityMap(2, &context),
       withLayout(RankedTensorType::get({6, 6}, f32), tiles, zero), false},
      {AffineMap::get(2, 0, builder.getAffineDimExpr(0), &context),
       getTiled(f32, zero), true}};
  SmallVector<IteratorType> iterators{IteratorType::parallel,
                                      IteratorType::reduction};
  FailureOr<IterationSpace> space =
      getIterationSpace(operands, iterators, {6, 6});
  ASSERT_TRUE(succeeded(space));
  ScalarBody scalar;
  scalar.block = square;
  PaddingMasks masks = findPaddingMasks(operands, iterators,
                                        /*readsInit=*/{false}, scalar, *space);
  EXPECT_THAT(masks.loops[0], ElementsAre(0, 1));
  EXPECT_FALSE(masks.instead[0]);
}

/// A layout that skips a digit of its dim maps indices beyond the size to
/// elements.
TEST_F(Masks, LayoutsThatSkipADigitHaveNoPaddingBehind) {
  Type f32 = builder.getF32Type();
  TypedAttr zero = builder.getF32FloatAttr(0);
  LayoutMap skips =
      cast<MapAttr>(parseAttribute("#layout.map<(d0) -> buffer(d0 floordiv "
                                   "2 mod 4, d0 floordiv 16, d0 mod 2)>",
                                   &context))
          .getMap();
  AffineMap same = AffineMap::getMultiDimIdentityMap(1, &context);
  SmallVector<OperandAccess> operands{
      {same, withLayout(RankedTensorType::get({4}, f32), skips, zero), false},
      {same, RankedTensorType::get({4}, f32), true}};
  FailureOr<IterationSpace> space =
      getIterationSpace(operands, {IteratorType::parallel}, {4});
  ASSERT_TRUE(succeeded(space));
  EXPECT_FALSE(getPaddingAlong(operands, *space, 0, 0));
}

/// Beyond the size, a sum of loops reads other elements, not padding.
TEST_F(Masks, SumsOfLoopsReadNoPadding) {
  Type f32 = builder.getF32Type();
  RankedTensorType zero = getTiled(f32, builder.getF32FloatAttr(0));
  AffineMap same = AffineMap::getMultiDimIdentityMap(1, &context);
  SmallVector<OperandAccess> operands{{same, zero, false}, {same, zero, true}};
  FailureOr<IterationSpace> space =
      getIterationSpace(operands, {IteratorType::parallel}, {6});
  ASSERT_TRUE(succeeded(space));
  EXPECT_EQ(getPaddingAlong(operands, *space, 0, 0),
            builder.getF32FloatAttr(0));
  // A window: (d0 + d1) of 8 positions, for 6 results in tiles of 4.
  AffineMap window = AffineMap::get(
      2, 0, builder.getAffineDimExpr(0) + builder.getAffineDimExpr(1),
      &context);
  AffineMap first = AffineMap::get(2, 0, builder.getAffineDimExpr(0), &context);
  AffineMap second =
      AffineMap::get(2, 0, builder.getAffineDimExpr(1), &context);
  operands = {{window, RankedTensorType::get({8}, f32), false},
              {second, RankedTensorType::get({3}, f32), false},
              {first, zero, true}};
  space = getIterationSpace(
      operands, {IteratorType::parallel, IteratorType::reduction}, {6, 3});
  ASSERT_TRUE(succeeded(space));
  EXPECT_FALSE(getPaddingAlong(operands, *space, 0, 0));
  EXPECT_FALSE(getPaddingAlong(operands, *space, 1, 0));
}

} // namespace
