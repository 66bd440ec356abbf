//===- StaticCopyCostTest.cpp - Static copy costs against plans -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StaticCopyCost.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Pack.h"
#include "layout/Analysis/CopyPlan.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Draws a layout: every dim, or two fused dims, in up to three digits, all
/// digits in random order, sometimes with gaps between them.
LayoutMap drawLayout(std::mt19937 &random, unsigned rank) {
  std::vector<BoundedIndex> sources, digits;
  for (unsigned d = 0; d < rank; ++d)
    sources.push_back(BoundedIndex::dim(d));
  if (rank > 1 && random() % 4 == 0) {
    BoundedIndex fused = group(ArrayRef<BoundedIndex>(sources).take_front(2));
    sources.erase(sources.begin());
    sources.front() = fused;
  }
  for (BoundedIndex &rest : sources) {
    for (unsigned cuts = random() % 3; cuts > 0; --cuts) {
      int64_t tile = 2 + random() % 3;
      digits.push_back(mod(rest, tile));
      rest = floorDiv(rest, tile);
    }
    digits.push_back(random() % 6 ? rest : align(rest, 2 + random() % 3));
  }
  std::shuffle(digits.begin(), digits.end(), random);
  BoundedIndex offset = group(digits);
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}});
}

/// A dim that is split at its end has a digit of one value above the split,
/// which is neither padding nor a break of contiguity.
TEST(StaticCopyCostTest, TreatsDigitsOfOneValueAsContiguous) {
  MLIRContext context;
  context.loadDialect<LayoutDialect>();
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
    auto getMap = [&](const char *text) {
      return cast<MapAttr>(parseAttribute(text, &context)).getMap();
    };
    LayoutMap from = getMap(example.from), to = getMap(example.to);
    auto type =
        RankedTensorType::get(example.shape, Float32Type::get(&context));
    std::string whyNot;
    FailureOr<CopyPlan> copy =
        planCopy(withLayout(type, from), withLayout(type, to), whyNot);
    ASSERT_TRUE(succeeded(copy)) << whyNot;
    EXPECT_EQ(copy->getNumRead(example.shape), type.getNumElements());
    EXPECT_EQ(copy->getNumWritten(example.shape), type.getNumElements());
    EXPECT_EQ(copy->getCommonRun(example.shape), example.run);
  }
}

/// The counts of read and written elements, and the contiguous run, are those
/// of the plan; a copy without a plan gathers single elements.
TEST(StaticCopyCostTest, EqualsThePlanOfRandomLayouts) {
  MLIRContext context;
  context.loadDialect<LayoutDialect>();
  std::mt19937 random(20240612);
  const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 36};
  unsigned numFound = 0, numLong = 0, numGathered = 0, numPadded = 0;
  for (unsigned round = 0; round < 4000; ++round) {
    unsigned rank = 1 + random() % 3;
    SmallVector<int64_t> shape;
    for (unsigned d = 0; d < rank; ++d)
      shape.push_back(sizes[random() % std::size(sizes)]);
    LayoutMap from = drawLayout(random, rank), to = drawLayout(random, rank);
    // Views introduce layouts with the sizes of one shape.
    if (random() % 2)
      from = from.specialize(shape);
    if (random() % 2)
      to = to.specialize(shape);
    auto source = StaticStorage::read(from, shape);
    auto dest = StaticStorage::read(to, shape);
    ASSERT_TRUE(source && dest);
    std::optional<StaticCopyCount> move =
        countStaticCopy(*source, *dest, shape);
    if (!move)
      continue;
    SCOPED_TRACE(from.str() + " to " + to.str() + ", round " +
                 std::to_string(round));
    auto type = RankedTensorType::get(shape, Float32Type::get(&context));
    std::string whyNot;
    FailureOr<CopyPlan> copy =
        planCopy(withLayout(type, from), withLayout(type, to), whyNot);
    ASSERT_EQ(succeeded(copy), !move->isGathered) << whyNot;
    if (move->isGathered) {
      EXPECT_EQ(move->read, *countIndices(shape));
      EXPECT_EQ(move->written, *getStorageSize(to, shape));
      EXPECT_EQ(move->run, 1);
      ++numGathered;
      continue;
    }
    EXPECT_EQ(copy->getNumRead(shape), move->read);
    EXPECT_EQ(copy->getNumWritten(shape), move->written);
    EXPECT_EQ(copy->getCommonRun(shape), move->run);
    numPadded += move->read > *countIndices(shape);
    ++numFound;
    numLong += move->run > 1;
  }
  EXPECT_GT(numFound, 300u);
  EXPECT_GT(numLong, 100u);
  EXPECT_GT(numGathered, 100u);
  EXPECT_GT(numPadded, 100u);
}

} // namespace
