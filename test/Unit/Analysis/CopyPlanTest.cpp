//===- CopyPlanTest.cpp - Boxes of a copy against single points -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The laws of CopyPlan.h, point by point: every logical index is in exactly one
// box, and the fills are the storage points without an index.
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/CopyPlan.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <map>
#include <random>
#include <set>

using namespace mlir;
using namespace mlir::layout;

namespace {

class CopyPlanTest : public ::testing::Test {
protected:
  CopyPlanTest() { context.loadDialect<LayoutDialect>(); }

  RankedTensorType parse(const std::string &text) {
    return cast<RankedTensorType>(parseType(text, &context));
  }

  MLIRContext context;
};

/// Calls `visit` for every point of a box, with one number per digit.
void walk(const IterationSpace &space, const DigitBox &box,
          llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> point(space.digits.size());
  std::function<void(size_t)> at = [&](size_t digit) {
    if (digit == point.size())
      return visit(point);
    int64_t size =
        box[digit].size.value_or(*space.digits[digit].extent.getConstant());
    for (int64_t i = 0; i < size; ++i) {
      point[digit] = box[digit].offset + i;
      at(digit + 1);
    }
  };
  at(0);
}

SmallVector<int64_t> getIndex(const IterationSpace &space,
                              ArrayRef<int64_t> point, unsigned rank) {
  SmallVector<int64_t> index(rank, 0);
  for (auto [digit, value] : llvm::zip(space.digits, point))
    index[digit.loop] += digit.weight * value;
  return index;
}

/// Returns the position along every stored axis of the result.
std::vector<int64_t> getPosition(const IterationSpace &space,
                                 ArrayRef<int64_t> point) {
  std::vector<int64_t> position;
  for (const AxisAccess &axis : space.operands[1]) {
    int64_t value = 0;
    for (unsigned digit : axis.digits)
      value = value * *space.digits[digit].extent.getConstant() + point[digit];
    position.push_back(value);
  }
  return position;
}

/// Draws a blocked layout of NCHW: dims in random order, followed by tiles of
/// some of them.
std::string drawLayout(std::mt19937 &random) {
  std::string dims = "NCHW", tiles;
  std::shuffle(dims.begin(), dims.end(), random);
  for (char dim : {'n', 'c'})
    for (const char *tile : {"2", "4"})
      if (random() % 3 == 0)
        tiles += std::string(tile) + dim;
  return dims + tiles;
}

TEST_F(CopyPlanTest, CoversStorageByBoxesAndFillsOnce) {
  std::mt19937 random(7);
  unsigned boxed = 0;
  for (unsigned round = 0; round < 400; ++round) {
    std::string shape;
    for (unsigned d = 0; d < 4; ++d)
      shape += std::to_string(1 + random() % 9) + "x";
    std::string from = drawLayout(random), to = drawLayout(random);
    bool states = random() % 2, brings = random() % 3 == 0;
    auto spell = [&](const std::string &layout, bool zero) {
      std::string text = "#layout.blocked<\"NCHW\" to \"" + layout + "\">";
      return "tensor<" + shape + "f32, " +
             (zero ? "#layout.padded<" + text + ", zero>" : text) + ">";
    };
    RankedTensorType source = parse(spell(from, brings));
    RankedTensorType dest = parse(spell(to, states));
    SCOPED_TRACE(shape + " " + from + " to " + to);
    std::string whyNot;
    FailureOr<CopyPlan> copy = planCopy(source, dest, whyNot);
    ASSERT_TRUE(succeeded(copy)) << whyNot;
    if (copy->method != CopyPlan::Method::Boxes)
      continue;
    ++boxed;

    std::map<std::vector<int64_t>, unsigned> copied;
    std::set<std::vector<int64_t>> written;
    bool isInside = true;
    for (const DigitBox &box : copy->boxes)
      walk(copy->space, box, [&](ArrayRef<int64_t> point) {
        SmallVector<int64_t> index = getIndex(copy->space, point, 4);
        ++copied[std::vector<int64_t>(index.begin(), index.end())];
        written.insert(getPosition(copy->space, point));
        for (auto [i, size] : llvm::zip(index, dest.getShape()))
          isInside &= i < size;
      });
    // Padding is copied only if the source has the stated value.
    EXPECT_TRUE(isInside || !states || brings);
    int64_t elements = dest.getNumElements();
    for (auto [index, count] : copied)
      EXPECT_EQ(count, 1u);
    EXPECT_GE(int64_t(copied.size()), elements);

    for (const DigitBox &box : copy->fills)
      walk(copy->space, box, [&](ArrayRef<int64_t> point) {
        SmallVector<int64_t> index = getIndex(copy->space, point, 4);
        bool isPadding = false;
        for (auto [i, size] : llvm::zip(index, dest.getShape()))
          isPadding |= i >= size;
        EXPECT_TRUE(isPadding);
        written.insert(getPosition(copy->space, point));
      });
    EXPECT_TRUE(states || copy->fills.empty());
    if (states && !copy->prefills) {
      int64_t stored = getPhysicalType(dest)->getNumElements();
      EXPECT_EQ(int64_t(written.size()), stored);
    }
  }
  EXPECT_GT(boxed, 300u);
}

/// Space after the last row is padding, too, and is filled before elements are
/// written.
TEST_F(CopyPlanTest, FillsHolesBeforeElements) {
  std::string whyNot;
  FailureOr<CopyPlan> copy =
      planCopy(parse("tensor<4x3xf32>"),
               parse("tensor<4x3xf32, #layout.padded<#layout.map<(a, b) -> "
                     "buffer(offset = a * 3 + b extent 20)>, zero>>"),
               whyNot);
  ASSERT_TRUE(succeeded(copy)) << whyNot;
  EXPECT_TRUE(copy->prefills);
  EXPECT_TRUE(copy->fills.empty());
  constexpr int64_t elements = 4 * 3, extent = 20;
  EXPECT_EQ(copy->getNumRead({4, 3}), elements);
  EXPECT_EQ(copy->getNumWritten({4, 3}), extent + elements);
}

/// Tiles of 4 in another order: the source has the stated padding.
TEST_F(CopyPlanTest, CopiesPaddingThatTheSourceStates) {
  std::string whyNot;
  FailureOr<CopyPlan> copy =
      planCopy(parse("tensor<2x6xf32, #layout.padded<#layout.map<(a, b) -> "
                     "buffer(b floordiv 4, a, b mod 4)>, zero>>"),
               parse("tensor<2x6xf32, #layout.padded<#layout.map<(a, b) -> "
                     "buffer(b mod 4, a, b floordiv 4)>, zero>>"),
               whyNot);
  ASSERT_TRUE(succeeded(copy)) << whyNot;
  EXPECT_EQ(copy->boxes.size(), 1u);
  EXPECT_TRUE(copy->fills.empty());
  EXPECT_TRUE(copy->maskedDims.empty());
  constexpr int64_t stored = 2 * 2 * 4; // rows, tiles, elements of a tile
  EXPECT_EQ(copy->getNumRead({2, 6}), stored);
  EXPECT_EQ(copy->getNumWritten({2, 6}), stored);
}

TEST_F(CopyPlanTest, CountsElementsReadAndWrittenOfATiling) {
  std::string whyNot;
  FailureOr<CopyPlan> copy = planCopy(
      parse("tensor<1x61x7x7xf32>"),
      parse("tensor<1x61x7x7xf32, #layout.padded<#layout.blocked<\"NCHW\" to "
            "\"NCHW16c\">, zero>>"),
      whyNot);
  ASSERT_TRUE(succeeded(copy)) << whyNot;
  EXPECT_EQ(copy->boxes.size(), 2u); // whole tiles, and the last one
  constexpr int64_t channels = 61, tiledChannels = 4 * 16, pixels = 7 * 7;
  EXPECT_EQ(copy->getNumRead({1, channels, 7, 7}), channels * pixels);
  EXPECT_EQ(copy->getNumWritten({1, channels, 7, 7}), tiledChannels * pixels);
  EXPECT_EQ(copy->getCommonRun({1, 61, 7, 7}), 1);
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os);
  EXPECT_EQ(text, "digits d0:1 d1/16:4 d2:7 d3:7 d1%16:16; from [d0] [d1/16 "
                  "d1%16] [d2] [d3]; to [d0] [d1/16] [d2] [d3] [d1%16]; fill "
                  "d1/16=3..4 d1%16=13..16; copy d1/16=0..3; copy d1/16=3..4 "
                  "d1%16=0..13");
}

/// A dim that is split at its end has a digit of one value above the split,
/// which is neither padding nor a break of contiguity.
TEST_F(CopyPlanTest, TreatsDigitsOfOneValueAsContiguous) {
  struct Example {
    const char *from, *to;
    SmallVector<int64_t> shape;
    /// The elements that are contiguous in source and result.
    int64_t run;
  };
  const Example examples[] = {
      {"#layout.map<(d0, d1) -> buffer(d0, d1 mod 3, d1 floordiv 3)>",
       "#layout.map<(d0, d1) -> buffer([d0, d1] align 3)>",
       {2, 3},
       /*run=*/2 * 3},
      {"#layout.map<(d0, d1) -> buffer([d0, d1] mod 4, [d0, d1] floordiv 4)>",
       "#layout.map<(d0, d1) -> buffer([d0, d1] mod 2, [d0, d1] floordiv 2)>",
       {4, 4},
       /*run=*/1},
  };
  for (const Example &example : examples) {
    auto getType = [&](const char *layout) {
      return RankedTensorType::get(example.shape, Float32Type::get(&context),
                                   parseAttribute(layout, &context));
    };
    std::string whyNot;
    FailureOr<CopyPlan> copy =
        planCopy(getType(example.from), getType(example.to), whyNot);
    ASSERT_TRUE(succeeded(copy)) << whyNot;
    int64_t elements = llvm::product_of(example.shape);
    EXPECT_EQ(copy->getNumRead(example.shape), elements);
    EXPECT_EQ(copy->getNumWritten(example.shape), elements);
    EXPECT_EQ(copy->getCommonRun(example.shape), example.run);
  }
}

} // namespace
