//===- ExportTest.cpp - Expressible layouts, and errors for the others ----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace layout_test;

namespace {

constexpr uint64_t kSeed = 20240705;
constexpr Notation kNotations[] = {Notation::Xla, Notation::OneDnn,
                                   Notation::CuTe, Notation::Triton};

/// Writes, reads and compares at every point. Returns true if there was a text.
bool survives(Notation notation, const NumberLayout &layout) {
  LayoutMap map = layout.build();
  Result<std::string> text = write(notation, map, layout.sizes);
  if (!text.value)
    return false;
  Result<LayoutMap> again = import(notation, *text.value, layout.sizes);
  EXPECT_TRUE(again.value) << *text.value << ": " << again.fault;
  if (again.value) {
    SCOPED_TRACE(map.str() + " is " + *text.value);
    layout.expectEqual(*again.value);
    EXPECT_EQ(equalOn(map, *again.value, layout.sizes), ProofResult::Proved);
    EXPECT_EQ(write(notation, *again.value, layout.sizes).value, text.value);
  }
  return true;
}

std::string trace(const NumberLayout &layout, uint64_t seed) {
  return "seed " + std::to_string(seed) + ": " + layout.build().str() + " on " +
         testing::PrintToString(layout.sizes);
}

TEST(Export, XlaSaysEveryDenseLayoutPaddedOrNot) {
  Random random(kSeed);
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    NumberLayout layout = NumberLayout::random(
        random, random.below(4), 2, random.below(2), random.below(3));
    SCOPED_TRACE(trace(layout, kSeed));
    ASSERT_TRUE(survives(Notation::Xla, layout));
  }
}

TEST(Export, CuTeSaysEveryLayoutWhoseDigitsDivide) {
  Random random(kSeed + 1);
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    NumberLayout layout =
        NumberLayout::random(random, 1 + random.below(3), 2, false, 3);
    // The storage ends with the last element.
    Index last = layout.sizes;
    for (int64_t &size : last)
      --size;
    layout.extent = layout.offset(last) + 1;
    SCOPED_TRACE(trace(layout, kSeed + 1));
    ASSERT_TRUE(survives(Notation::CuTe, layout));
  }
}

TEST(Export, TritonSaysEveryDenseLayoutOfPowersOfTwo) {
  Random random(kSeed + 2);
  int written = 0;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    NumberLayout layout =
        NumberLayout::random(random, random.below(4), 2, false, 0);
    bool isPower = true;
    for (const NumberDigit &digit : layout.digits)
      isPower &= (digit.divisor & (digit.divisor - 1)) == 0;
    for (int64_t size : layout.sizes)
      isPower &= (size & (size - 1)) == 0;
    SCOPED_TRACE(trace(layout, kSeed + 2));
    bool isWritten = survives(Notation::Triton, layout);
    ASSERT_TRUE(isWritten || !isPower);
    written += isWritten;
  }
  EXPECT_GT(written, 100);
}

TEST(Export, OneDnnSaysBlocksBehindDimsOfAnyStride) {
  Random random(kSeed + 3);
  int descriptors = 0;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    NumberLayout layout;
    unsigned rank = 1 + random.below(4);
    std::vector<NumberDigit> outer, blocks;
    for (unsigned d = 0; d < rank; ++d) {
      layout.sizes.push_back(1 + random.below(9));
      outer.push_back({d, 1, 0});
    }
    for (int64_t n = random.below(3); n > 0; --n) {
      // A new block of a dim is inner to its earlier ones.
      unsigned d = random.below(rank);
      int64_t factor = 2 + random.below(3);
      outer[d].divisor *= factor;
      for (NumberDigit &block : blocks)
        if (block.dim == d)
          block.divisor *= factor;
      blocks.push_back({d, 1, factor});
    }
    random.shuffle(outer);
    layout.digits = outer;
    layout.digits.insert(layout.digits.end(), blocks.begin(), blocks.end());
    bool isOdd = random.below(2);
    for (auto it = layout.digits.rbegin(); it != layout.digits.rend(); ++it) {
      it->stride = layout.extent;
      int64_t extent =
          it->modulus ? it->modulus
                      : (layout.sizes[it->dim] + it->divisor - 1) / it->divisor;
      layout.extent *= extent;
      if (isOdd && !it->modulus)
        layout.extent += random.below(4);
    }
    SCOPED_TRACE(trace(layout, kSeed + 3));
    ASSERT_TRUE(survives(Notation::OneDnn, layout));
    descriptors +=
        llvm::StringRef(
            *write(Notation::OneDnn, layout.build(), layout.sizes).value)
            .starts_with("strides");
  }
  EXPECT_GT(descriptors, 300);
}

TEST(Export, WhateverIsWrittenMeansTheSame) {
  Random random(kSeed + 4);
  int written[std::size(kNotations)] = {};
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    NumberLayout layout = NumberLayout::random(
        random, random.below(4), 2, random.below(2), random.below(2));
    // Sometimes an invalid layout: elements share positions.
    if (!layout.digits.empty() && random.below(4) == 0)
      layout.digits[random.below(layout.digits.size())].stride =
          random.below(layout.extent + 1);
    // Sometimes a layout with trailing space.
    layout.extent += random.below(2) * random.below(5);
    SCOPED_TRACE(trace(layout, kSeed + 4));
    for (Notation notation : kNotations)
      written[int(notation)] += survives(notation, layout);
  }
  for (int count : written)
    EXPECT_GT(count, 30);
}

TEST(Export, CanonicalTextsComeBackAsTheyWere) {
  struct Case {
    Notation notation;
    const char *text;
    Index sizes;
  } cases[] = {
      {Notation::Xla, "{}", {}},
      {Notation::Xla, "{:T(256)}", {}},
      {Notation::Xla, "{1,0}", {3, 5}},
      {Notation::Xla, "{0,1}", {3, 5}},
      {Notation::Xla, "{1,0:T(2,2)}", {3, 5}},
      {Notation::Xla, "{1,0:T(8,128)(2,1)}", {60, 200}},
      {Notation::Xla, "{1,0:T(8,128)(2,1)}", {kUnknownSize, kUnknownSize}},
      {Notation::Xla, "{3,2,1,0:T(8,128)}", {1, 64, 56, 56}},
      {Notation::Xla, "{4,3,2,1,0:T(*,*,2,*,3)}", {2, 7, 8, 11, 10}},
      {Notation::Xla, "{0:T(1)(3)}", {5}},
      {Notation::OneDnn, "a", {3}},
      {Notation::OneDnn, "aBcd16b", {1, 17, 5, 4}},
      {Notation::OneDnn, "acdb", {1, 17, 5, 4}},
      {Notation::OneDnn, "ABcd4b16a4b", {60, 20, 3, 3}},
      {Notation::OneDnn, "ABcd4b16a4b", {kUnknownSize, 20, kUnknownSize, 3}},
      {Notation::OneDnn,
       "strides=[40,1] blks=[] idxs=[] padded=[3,33]",
       {3, 33}},
      {Notation::OneDnn,
       "strides=[40,1] blks=[] idxs=[] padded=[3,33] size=113",
       {3, 33}},
      {Notation::OneDnn,
       "strides=[100,10] blks=[8] idxs=[1] padded=[2,80]",
       {2, 75}},
      {Notation::CuTe, "7:1", {7}},
      {Notation::CuTe, "((2,2)):((1,8))", {4}},
      {Notation::CuTe, "((2,2),4):((1,8),2)", {4, 4}},
      {Notation::CuTe, "(1,3):(0,5)", {1, 3}},
      {Notation::CuTe, "Sw<2,0,2> o 0 o (4,4):(4,1)", {4, 4}},
      {Notation::CuTe, "Sw<3,3,3> o 0 o (8,64):(64,1)", {8, 64}},
      {Notation::Triton, "register=[] lane=[] warp=[] block=[] : []", {}},
      {Notation::Triton, "offset=[[1,1],[0,1],[2,0]] : [4,2]", {4, 2}},
      {Notation::Triton,
       "register=[[0,1],[0,2]] lane=[[0,4],[1,0],[2,0]] warp=[[0,0]] "
       "block=[[2,5]] : [4,8]",
       {4, 8}},
  };
  for (const Case &c : cases) {
    Result<LayoutMap> map = import(c.notation, c.text, c.sizes);
    ASSERT_TRUE(map.value) << c.text << ": " << map.fault;
    Result<std::string> text = write(c.notation, *map.value, c.sizes);
    EXPECT_EQ(text.value, std::optional<std::string>(c.text))
        << text.fault << " " << map.value->str();
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

LayoutMap buffer(unsigned rank, const BoundedIndex &offset) {
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}});
}

void expectFault(Notation notation, const LayoutMap &map, const Index &sizes,
                 const char *fault) {
  Result<std::string> text = write(notation, map, sizes);
  EXPECT_FALSE(text.value) << *text.value;
  EXPECT_THAT(text.fault, testing::HasSubstr(fault)) << map.str();
}

const BoundedIndex d0 = BoundedIndex::dim(0), d1 = BoundedIndex::dim(1);

TEST(ExportFaults, OfTheSpaceAndTheOrigin) {
  LayoutMap image =
      LayoutMap::get(1, "image2d",
                     {{"x", floorDiv(d0, 4).value, floorDiv(d0, 4).extent},
                      {"y", IndexExpr(), SizeExpr(1)},
                      {"lane", mod(d0, 4).value, SizeExpr(4)}});
  LayoutMap twice =
      LayoutMap::get(1, "buffer",
                     {{"offset", group({BoundedIndex::dim(1), d0}).value,
                       d0.extent * SizeExpr(2)}},
                     {2});
  LayoutMap shifted = buffer(1, pad(d0, 3, 0));
  for (Notation notation : {Notation::Xla, Notation::OneDnn, Notation::CuTe}) {
    expectFault(notation, image, {8}, "space 'image2d'");
    expectFault(notation, twice, {8}, "stores each element once");
    expectFault(notation, shifted, {8}, "adds 3 to every offset");
  }
  expectFault(Notation::Triton, image, {8}, "space 'image2d'");
  expectFault(Notation::Triton, shifted, {8}, "'offset' has 11 positions");
}

TEST(ExportFaults, OfXla) {
  auto placed = [](int64_t a, int64_t b) {
    return buffer(2, place({{d0, SizeExpr(a)}, {d1, SizeExpr(b)}}));
  };
  expectFault(Notation::Xla, placed(-4, 1), {4, 4}, "digit d0 has a stride");
  expectFault(Notation::Xla, placed(0, 1), {4, 4}, "no digit stores d0");
  expectFault(Notation::Xla, placed(7, 3), {2, 2}, "does not divide");
  expectFault(Notation::Xla, placed(2, 1), {4, 4}, "d1 has more values than");
  expectFault(Notation::Xla, buffer(1, group({mod(d0, 4), floorDiv(d0, 4)})),
              {kUnknownSize}, "digit d0 floordiv 4 has a dynamic size");
  expectFault(Notation::Xla, buffer(1, mod(d0, 4)), {8},
              "d0 mod 4 does not end where");
  expectFault(Notation::Xla, buffer(1, floorDiv(d0, 4)), {8},
              "no digit stores d0 mod 4");
  BoundedIndex sum = group({d0, d1});
  expectFault(Notation::Xla,
              buffer(2, group({mod(sum, 4), floorDiv(sum, 4), d0})), {6, 6},
              "d0 is part of two values that are stored");
  expectFault(Notation::Xla, buffer(2, group({d0, xorOf({d0, d1}, 8)})), {8, 8},
              "xor(d0, d1 : 8) is neither of one dim");
  expectFault(Notation::Xla, placed(0, 0), {0, 4}, "without elements");
}

TEST(ExportFaults, OfOneDnn) {
  expectFault(Notation::OneDnn, LayoutMap::rowMajor(0), {}, "rank 0");
  BoundedIndex sum = group({d0, d1});
  expectFault(Notation::OneDnn,
              buffer(2, group({mod(sum, 4), floorDiv(sum, 4)})), {6, 6},
              "is part of a sum");
  // The part of 2 would be outside of that of 4.
  expectFault(
      Notation::OneDnn,
      buffer(1, group({floorDiv(d0, 8), mod(d0, 2), mod(floorDiv(d0, 2), 4)})),
      {16}, "from major to minor");
  expectFault(Notation::OneDnn,
              buffer(2, place({{floorDiv(d0, 4), SizeExpr(100)},
                               {mod(d0, 4), SizeExpr(20)},
                               {floorDiv(d1, 4), SizeExpr(5)},
                               {mod(d1, 4), SizeExpr(1)}})),
              {8, 8}, "digit d1 floordiv 4 leaves holes");
  expectFault(
      Notation::OneDnn,
      buffer(2, place({{d0, d1.extent + SizeExpr(3)}, {d1, SizeExpr(1)}})),
      {kUnknownSize, kUnknownSize}, "dims of dynamic size need a tag");
  expectFault(Notation::OneDnn, buffer(2, group({d0, xorOf({d0, d1}, 8)})),
              {8, 8}, "xor(d0, d1 : 8)");
}

TEST(ExportFaults, OfCuTe) {
  LayoutMap blocked = buffer(2, group({floorDiv(d1, 16), d0, mod(d1, 16)}));
  expectFault(Notation::CuTe, blocked, {2, 17}, "16 does not divide 17");
  expectFault(Notation::CuTe, blocked, {2, kUnknownSize}, "dynamic size");
  expectFault(Notation::CuTe, LayoutMap::rowMajor(0), {}, "rank 0");
  expectFault(Notation::CuTe, buffer(1, align(d0, 8)), {5},
              "the storage has 8 positions");
  BoundedIndex sum = group({d0, d1});
  expectFault(Notation::CuTe, buffer(2, group({mod(sum, 4), floorDiv(sum, 4)})),
              {6, 6}, "is part of a sum");
  // Two swizzles with different shifts cannot be merged.
  BoundedIndex twice = group({d0, xorOf({mod(d1, 4), d0}, 4),
                              xorOf({floorDiv(d1, 4), mod(d1, 4)}, 2)});
  expectFault(Notation::CuTe, buffer(2, twice), {4, 8},
              "is not part of one swizzle");
}

TEST(ExportFaults, OfTriton) {
  LayoutMap rows = LayoutMap::rowMajor(2);
  expectFault(Notation::Triton, rows, {4, 6}, "dim 1 is of size 6");
  expectFault(Notation::Triton, rows, {4, kUnknownSize}, "of unknown size");
  expectFault(Notation::Triton, rows, {int64_t(1) << 40, int64_t(1) << 40},
              "do not fit 64 bits");
  expectFault(Notation::Triton,
              buffer(1, align(group({mod(d0, 3), floorDiv(d0, 3)}), 16)), {8},
              "digit d0 mod 3 divides by");
  auto placed = [](int64_t a, int64_t extent) {
    return LayoutMap::get(
        2, "buffer",
        {{"offset", place({{d0, SizeExpr(a)}, {d1, SizeExpr(1)}}).value,
          SizeExpr(extent)}});
  };
  expectFault(Notation::Triton, placed(3, 16), {4, 4},
              "times 3 carries in bit 1");
  expectFault(Notation::Triton, placed(2, 16), {4, 4}, "carries in bit 1");
  expectFault(Notation::Triton, placed(8, 32), {4, 4},
              "positions without an element");
  expectFault(Notation::Triton, placed(4, 8), {4, 4},
              "elements without a position");
  expectFault(Notation::Triton, placed(0, 16), {4, 4}, "bits of the index");
  LayoutMap other =
      LayoutMap::get(1, "linear", {{"lane", d0.value, d0.extent}});
  expectFault(Notation::Triton, other, {4}, "space 'linear' is neither");
}

} // namespace
