//===- CuTeTest.cpp - Nested strides against arithmetic -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace layout_test;

namespace {

constexpr uint64_t kSeed = 20240703;

/// A tuple or a number, with a direct computation of the offset of an index.
struct Tuple {
  int64_t extent = 1, stride = 0;
  std::vector<Tuple> elements; // a leaf has none

  int64_t size() const {
    int64_t product = extent;
    for (const Tuple &element : elements)
      product *= element.size();
    return product;
  }
  int64_t offset(int64_t index) const {
    if (elements.empty())
      return index * stride;
    int64_t sum = 0;
    for (const Tuple &element : elements) {
      sum += element.offset(index % element.size());
      index /= element.size();
    }
    return sum;
  }
  int64_t reach() const {
    int64_t sum = (extent - 1) * stride;
    for (const Tuple &element : elements)
      sum += element.reach();
    return sum;
  }
  std::string text(int64_t Tuple::*number) const {
    if (elements.empty())
      return std::to_string(this->*number);
    std::string result;
    for (const Tuple &element : elements)
      result += (result.empty() ? "(" : ",") + element.text(number);
    return result + ")";
  }

  static Tuple random(Random &random, int depth) {
    Tuple tuple;
    if (depth == 0 || random.below(3) == 0) {
      tuple.extent = 1 + random.below(4);
      tuple.stride = random.below(20);
      return tuple;
    }
    for (int64_t n = 1 + random.below(3); n > 0; --n)
      tuple.elements.push_back(Tuple::random(random, depth - 1));
    return tuple;
  }
};

int64_t swizzle(int64_t offset, int64_t bits, int64_t base, int64_t shift) {
  int64_t mask = (int64_t(1) << bits) - 1;
  if (shift >= 0)
    return offset ^ (((offset >> (base + shift)) & mask) << base);
  return offset ^ (((offset >> base) & mask) << (base - shift));
}

TEST(CuTeImport, TheExamplesOfTheSpecification) {
  LayoutMap nested =
      *import(Notation::CuTe, "((2,2),4):((1,8),2)", {4, 4}).value;
  LayoutMap swizzled =
      *import(Notation::CuTe, "S<2,0,2> o (4,4):(4,1)", {4, 4}).value;
  const int64_t rows[4][4] = {
      {0, 1, 2, 3}, {5, 4, 7, 6}, {10, 11, 8, 9}, {15, 14, 13, 12}};
  forEachIndex({4, 4}, [&](const Index &index) {
    int64_t i = index[0], j = index[1];
    EXPECT_EQ((*nested.forward(index, {4, 4}))[0], i % 2 + i / 2 * 8 + j * 2);
    EXPECT_EQ((*swizzled.forward(index, {4, 4}))[0], rows[i][j]);
  });
  EXPECT_EQ((*swizzled.storageExtent({4, 4}))[0], 16);
  EXPECT_EQ(write(Notation::CuTe, swizzled, {4, 4}).value,
            "Sw<2,0,2> o 0 o (4,4):(4,1)");
}

TEST(CuTeImport, EveryPointOfRandomTuplesIsWhereArithmeticPutsIt) {
  Random random(kSeed);
  int swizzled = 0;
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    std::vector<Tuple> modes;
    for (int64_t rank = 1 + random.below(3); rank > 0; --rank)
      modes.push_back(Tuple::random(random, 2));
    Tuple all{1, 0, modes};
    if (all.size() > 2000)
      continue;
    Index sizes;
    for (const Tuple &mode : modes)
      sizes.push_back(mode.size());
    std::string text =
        all.text(&Tuple::extent) + ":" + all.text(&Tuple::stride);
    // A rank of 1 may be written without the outer parentheses if it is a
    // number.
    if (modes.size() == 1 && modes[0].elements.empty() && random.below(2))
      text = text.substr(1, text.find(')') - 1) + ":" +
             std::to_string(modes[0].stride);
    int64_t bits = 0, base = 0, shift = 0, start = 0;
    if (random.below(2)) {
      bits = random.below(4);
      base = random.below(4);
      shift = bits + random.below(3);
      if (random.below(2))
        shift = -shift;
      start = random.below(3) ? 0 : random.below(20);
      std::string numbers = std::to_string(bits) + "," + std::to_string(base) +
                            "," + std::to_string(shift) + "> o ";
      text = start || random.below(2)
                 ? "Sw<" + numbers + std::to_string(start) + " o " + text
                 : "S<" + numbers + text;
      ++swizzled;
    }
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + text);
    Result<LayoutMap> map = import(Notation::CuTe, text, sizes);
    ASSERT_TRUE(map.value) << map.fault;
    int64_t most = 0;
    forEachIndex(sizes, [&](const Index &index) {
      int64_t offset = start;
      for (size_t d = 0; d < modes.size(); ++d)
        offset += modes[d].offset(index[d]);
      offset = swizzle(offset, bits, base, shift);
      most = std::max(most, offset);
      ASSERT_EQ((*map.value->forward(index, sizes))[0], offset)
          << testing::PrintToString(index);
    });
    int64_t extent = (*map.value->storageExtent(sizes))[0];
    ASSERT_LT(most, extent);
    ASSERT_GE(extent, start + all.reach() + 1);
    if (bits == 0) {
      ASSERT_EQ(extent, start + all.reach() + 1);
    }
  }
  EXPECT_GT(swizzled, 1000);
}

TEST(CuTeExport, SwizzlesOfPowersOfTwoAreFoundAgain) {
  Random random(kSeed + 1);
  int found = 0;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    int64_t rows = int64_t(4) << random.below(4);
    int64_t columns = int64_t(8) << random.below(4);
    int64_t bits = 1 + random.below(3), base = random.below(4);
    int64_t shift = (bits + random.below(3)) * (random.below(2) ? 1 : -1);
    bool rowMajor = random.below(2);
    std::string text = "Sw<" + std::to_string(bits) + "," +
                       std::to_string(base) + "," + std::to_string(shift) +
                       "> o 0 o (" + std::to_string(rows) + "," +
                       std::to_string(columns) + "):" +
                       (rowMajor ? "(" + std::to_string(columns) + ",1)"
                                 : "(1," + std::to_string(rows) + ")");
    SCOPED_TRACE("seed " + std::to_string(kSeed + 1) + ": " + text);
    Index sizes{rows, columns};
    LayoutMap map = *import(Notation::CuTe, text, sizes).value;
    Result<std::string> again = write(Notation::CuTe, map, sizes);
    ASSERT_TRUE(again.value) << again.fault << " " << map.str();
    LayoutMap copy = *import(Notation::CuTe, *again.value, sizes).value;
    ASSERT_EQ(equalOn(map, copy, sizes), ProofResult::Proved) << *again.value;
    found += *again.value == text;
  }
  EXPECT_GT(found, 200);
}

} // namespace
