//===- WholeDigitsTest.cpp - Moves without a plan against the plan -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WholeDigits.h"
#include "layout/Analysis/DigitCopy.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Every dim in up to three digits, all digits in a random order.
LayoutMap drawLayout(std::mt19937 &random, unsigned rank) {
  std::vector<Sized> digits;
  for (unsigned d = 0; d < rank; ++d) {
    Sized rest = Sized::dim(d);
    for (unsigned cuts = random() % 3; cuts > 0; --cuts) {
      int64_t tile = 2 + random() % 3;
      digits.push_back(mod(rest, tile));
      rest = floorDiv(rest, tile);
    }
    digits.push_back(rest);
  }
  std::shuffle(digits.begin(), digits.end(), random);
  Sized offset = group(digits);
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}});
}

TEST(WholeDigits, MoveIsThatOfThePlan) {
  MLIRContext context;
  context.loadDialect<LayoutDialect>();
  std::mt19937 random(20240612);
  const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 36};
  unsigned numFound = 0, numLong = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    unsigned rank = 1 + random() % 3;
    SmallVector<int64_t> shape;
    for (unsigned d = 0; d < rank; ++d)
      shape.push_back(sizes[random() % std::size(sizes)]);
    LayoutMap from = drawLayout(random, rank), to = drawLayout(random, rank);
    // Views bring layouts with the numbers of one shape in them.
    if (random() % 2)
      from = from.specialize(shape);
    if (random() % 2)
      to = to.specialize(shape);
    std::optional<DigitMove> move = findMoveOfDigits(from, to, shape);
    if (!move)
      continue;
    auto type = RankedTensorType::get(shape, Float32Type::get(&context));
    std::string whyNot;
    FailureOr<DigitCopy> copy =
        planDigitCopy(withLayout(type, from), withLayout(type, to), whyNot);
    ASSERT_TRUE(succeeded(copy)) << whyNot << ", round " << round;
    EXPECT_EQ(copy->getNumRead(shape), move->elements) << "round " << round;
    EXPECT_EQ(copy->getNumWritten(shape), move->elements) << "round " << round;
    EXPECT_EQ(copy->getCommonRun(shape), move->run)
        << from.str() << " to " << to.str() << ", round " << round;
    ++numFound;
    numLong += move->run > 1;
  }
  EXPECT_GT(numFound, 300u);
  EXPECT_GT(numLong, 100u);
}

} // namespace
