//===- TextTest.cpp - Errors in texts and their columns -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

using namespace layout_test;

namespace {

struct Case {
  const char *text;
  const char *fault; // "column: message", or a prefix of it
};

void expectFaults(Notation notation, llvm::ArrayRef<Case> cases) {
  for (const Case &c : cases) {
    Result<ImportedLayout> result = parse(notation, c.text);
    EXPECT_FALSE(result.value) << c.text;
    EXPECT_THAT(result.fault, testing::StartsWith(c.fault)) << c.text;
  }
}

TEST(Text, FaultsOfXla) {
  expectFaults(
      Notation::Xla,
      {{"", "0: expected '{' before minor_to_major"},
       {"1,0", "0: expected '{' before minor_to_major"},
       {"{1,0", "4: expected ',' or '}' after a dim"},
       {"{1,0} x", "6: unexpected 'x' at the end"},
       {"{1 0}", "3: expected ',' or '}' after a dim"},
       {"{1,a}", "3: expected a dim of minor_to_major"},
       {"{1,}", "3: expected a dim of minor_to_major"},
       {"{2,0}", "1: dim 2 of 2: minor_to_major must name 0 to 1"},
       {"{-1,0}", "1: dim -1 of 2"},
       {"{1,0,1}", "5: dim 1 is repeated"},
       {"{99999999999999999999}", "1: 99999999999999999999 does not fit"},
       {"{1,0:}", "5: expected tiles after ':'"},
       {"{1,0:T}", "6: expected '(' before the factors"},
       {"{1,0:T()}", "6: a tile is empty"},
       {"{1,0:T(2,2}", "10: expected ',' or ')'"},
       {"{1,0:T(2,2)", "11: expected '}' at the end"},
       {"{1,0:T(0,2)}", "7: factor 0: it must be at least 1"},
       {"{1,0:T(2,-2)}", "9: factor -2"},
       {"{1,0:T(2,*)}", "9: '*' at the end of a tile"},
       {"{1,0:T(2,x)}", "9: expected a factor of the tile or '*'"},
       {"{1,0:T(8,128)S(1)}", "13: 'S' states a memory space"},
       {"{1,0:T(8,128)E(4)}", "13: 'E' states the bits of an element"},
       {"{1,0:D(D,C)}", "5: 'D' states sparse or compressed dims"},
       {"{1,0:L(16)}", "5: 'L' states an alignment"},
       {"{1,0:T(2)SC(0:1)}", "9: 'S' states a split over memories"},
       {"{1,0:#(u32)}", "5: '#' states a type of indices"},
       {"{1,0:*(u32)}", "5: '*' states a type of pointers"},
       {"{1,0:P(f32[2])}", "5: 'P' states a physical shape"},
       {"{1,0:M(1)}", "5: 'M' states a prefix"}});
}

TEST(Text, FaultsOfOneDnn) {
  expectFaults(
      Notation::OneDnn,
      {{"", "0: the tag is empty"},
       {"a-b", "1: unexpected '-'"},
       {"aBc0b", "3: a block must be at least 1"},
       {"aBc16", "5: expected the lower-case letter of a dim after the block"},
       {"aBc16B", "5: expected the lower-case letter"},
       {"aBc16bd", "6: expected a number: after the first block"},
       {"abca", "3: dim 'a' is repeated"},
       {"aBc", "1: dim 'b' in upper case without a block"},
       {"abc16b", "1: dim 'b' in lower case has blocks: write 'B'"},
       {"aBc16b4e", "6: block 4e of a dim 'e' that the tag lacks"},
       {"acd", "0: the letters of the dims are neither"},
       {"nchx", "0: the letters of the dims are neither"},
       {"abcdefghijklm", "0: the letters of the dims are neither"},
       {"aBc99999999999999999999b", "3: 99999999999999999999 does not fit"},
       {"aBc4611686018427387904b4b", "23: the blocks of 'b' do not fit"},
       {"gIOhw2i8o16i2o", "0: oneDNN reads gIOhw2i8o16i2o as aBCde2c8b16c2b"},
       {"strides=", "8: expected '[' before the numbers of strides"},
       {"strides=[] blks=[] idxs=[] padded=[]", "9: no strides"},
       {"strides=[1,2] padded=[3,4]", "14: expected 'blks' of the descriptor"},
       {"strides=[4,1] blks=[] idxs=[] padded=[3]", "39: 1 padded dims and 2"},
       {"strides=[4,1] blks=[2] idxs=[] padded=[3,4]", "29: 0 idxs and 1 blks"},
       {"strides=[4,1] blks=[2] idxs=[2] padded=[3,4]", "29: dim 2 of a"},
       {"strides=[4,1] blks=[0] idxs=[1] padded=[3,4]",
        "20: a block must be at least 1"},
       {"strides=[4,1] blks=[2] idxs=[1] padded=[3,5]",
        "42: padded size 5 is not a multiple of the blocks of the dim, 2"},
       {"strides=[-4,1] blks=[] idxs=[] padded=[3,4]", "9: -4 in strides"},
       {"strides=[9223372036854775807,1] blks=[] idxs=[] padded=[3,4]",
        "30: the storage of these strides and padded dims does not fit"},
       {"strides=[4,1] blks=[9223372036854775807,2] idxs=[1,1] padded=[3,4]",
        "40: the blocks of dim 1 do not fit 64 bits"},
       {"strides=[4,1] blks=[] idxs=[] padded=[3,4] size=",
        "48: expected a nu"},
       {"strides=[4,1] blks=[] idxs=[] padded=[3,4] size=-1",
        "48: the size is"},
       {"strides=[4,1] blks=[] idxs=[] padded=[3,4] x", "43: unexpected 'x'"}});
}

TEST(Text, FaultsOfCuTe) {
  std::string deep(100, '(');
  expectFaults(
      Notation::CuTe,
      {{"", "0: expected a number or a tuple"},
       {"4", "1: expected ':' between extents and strides"},
       {"():()", "0: a tuple is empty"},
       {"(4,()):(1,2)", "3: a tuple is empty"},
       {"(4,4:(1,4)", "4: expected ',' or ')'"},
       {"(4,4)):(1,4)", "5: expected ':'"},
       {"(4,4):(1,4", "10: expected ',' or ')'"},
       {"(4,4):(1,4) 5", "12: unexpected '5'"},
       {"(4,0):(1,4)", "3: extent 0: it must be at least 1"},
       {"(4,-2):(1,4)", "3: extent -2"},
       {"(4,4):1", "6: one stride for a tuple of extents"},
       {"4:(1,2)", "2: a tuple of strides for one extent"},
       {"(4,(2,2)):(1,4)", "13: one stride for a tuple"},
       {"(4,4):(1,4,5)", "6: 3 strides for 2 extents"},
       {"((4,4)):((1,4,5))", "9: 3 strides for 2 extents"},
       {"(4,99999999999999999999):(1,4)", "3: 99999999999999999999 does not"},
       {"((4611686018427387904,4)):((1,1))", "1: the extents of this mode"},
       {"T<2,0,2> o 4:1", "0: expected a swizzle S<B,M,S> or a shape"},
       {"S 4:1", "2: expected '<' before the numbers"},
       {"S<2,0> o 4:1", "1: 2 numbers in a swizzle: it needs B, M and S"},
       {"S<2,0,1> o 4:1", "1: a swizzle of 2 bits must move them by at least"},
       {"S<-1,0,1> o 4:1",
        "1: the bits and the base of a swizzle must not be negative"},
       {"S<30,30,30> o 4:1", "1: the bits of the swizzle exceed"},
       {"S<1,0,-9223372036854775808> o 4:1", "1: the bits of the swizzle"},
       {"S<1,9223372036854775807,1> o 4:1", "1: the bits of the swizzle"},
       {"S<2,0,2> 4:1", "9: expected 'o' after the swizzle"},
       {"Sw<2,0,2> o -1 o 4:1", "15: expected ':'"},
       {deep.c_str(), "64: tuples nest deeper than 64 levels"}});
}

TEST(Text, FaultsOfTriton) {
  std::string many = "register=[[0]";
  for (int i = 0; i < 70; ++i)
    many += ",[0]";
  many += "] : [1]";
  expectFaults(
      Notation::Triton,
      {{"", "0: expected register, lane, warp, block or offset"},
       {"lanes=[] : []", "0: expected register, lane, warp, block or offset"},
       {"lane=[] lane=[] : []", "8: 'lane' is repeated"},
       {"lane=[] offset=[] : []", "8: 'offset' beside 'lane'"},
       {"offset=[] lane=[] : []", "10: 'lane' beside 'offset'"},
       {"lane [] : []", "5: expected '=' after lane"},
       {"lane=[1] : [2]", "6: expected '[' before the index of a basis"},
       {"lane=[[1] : [2]", "10: expected ',' or ']'"},
       {"lane=[[1]] [2]", "11: expected register, lane, warp"},
       {"lane=[[1]] : 2", "13: expected '[' before the shape"},
       {"lane=[[1]] : [2", "15: expected ',' or ']'"},
       {"lane=[[1]] : [2] x", "17: unexpected 'x'"},
       {"lane=[[1]] : [3]", "14: size 3: bits need powers of two"},
       {"lane=[[1]] : [0]", "14: size 0"},
       {"lane=[[1]] : [4611686018427387904,2]", "34: the elements of this"},
       {"lane=[[1,0]] : [2]",
        "6: a basis of 2 numbers for a shape of 1 dims: it needs one for each"},
       {"lane=[[2]] : [2]", "6: the basis leaves the shape: 2 in a dim of"},
       {"lane=[[-1]] : [2]", "6: the basis leaves the shape: -1"},
       {"lane=[[1,0],[1,1]] : [2,4]", "21: the bases do not span the shape: "
                                      "no sum of them is 2 of dim 1"},
       {"lane=[] : [2]", "10: the bases do not span the shape"},
       {many.c_str(), "258: more than 62 bases"}});
}

TEST(Text, SpacesAndSpellingsThatMeanTheSame) {
  auto same = [](Notation notation, const char *a, const char *b,
                 const Index &shape) {
    Result<LayoutMap> x = import(notation, a, shape),
                      y = import(notation, b, shape);
    ASSERT_TRUE(x.value && y.value) << x.fault << y.fault;
    EXPECT_EQ(*x.value, *y.value) << a << " and " << b;
  };
  same(Notation::Xla, " { 1 , 0 : T ( 2 , 2 ) } ", "{1,0:T(2,2)}", {3, 5});
  same(Notation::OneDnn, "OIhw4i16o4i", "ABcd4b16a4b", {60, 20, 3, 3});
  same(Notation::OneDnn, "nhwc", "acdb", {1, 2, 3, 4});
  same(Notation::CuTe, "(_4,_4):(_4,_1)", "(4,4):(4,1)", {4, 4});
  same(Notation::CuTe, "(4):(1)", "4:1", {4});
  same(Notation::CuTe, "S<2,0,2> o (4,4):(4,1)", "Sw<2,0,2> o 0 o (4,4):(4,1)",
       {4, 4});
  same(Notation::Triton, "lane=[[1]] : [2]",
       "register=[] lane=[[1]] warp=[] block=[] : [2]", {2});
  same(Notation::Triton, "warp=[[1,0]] register=[[0,1]] : [2,2]",
       "register=[[0,1]] lane=[] warp=[[1,0]] block=[] : [2,2]", {2, 2});
}

TEST(Text, WhatDoesNotApplyToAShapeSaysWhy) {
  auto expectFault = [](Notation notation, const char *text, const Index &shape,
                        const char *fault) {
    EXPECT_THAT(import(notation, text, shape).fault, testing::StartsWith(fault))
        << text;
  };
  for (auto [notation, text] : {std::pair(Notation::Xla, "{1,0}"),
                                {Notation::OneDnn, "ab"},
                                {Notation::CuTe, "(2,2):(1,2)"},
                                {Notation::Triton, "offset=[[0,1]] : [1,2]"}})
    expectFault(notation, text, {2},
                "the notation has 2 dims, the tensor has "
                "rank 1 (L1)");
  const char *descriptor = "strides=[8,8] blks=[4] idxs=[1] padded=[2,8]";
  expectFault(Notation::OneDnn, descriptor, {2, 9},
              "dim 1 is of size 9, its padded size 8 is less (L1): it must be "
              "at least 12");
  expectFault(Notation::OneDnn, descriptor, {kUnknownSize, 8},
              "dim 0 is of dynamic size: a descriptor has constants");
  expectFault(Notation::CuTe, "(2,(2,3)):(1,(2,4))", {2, 5},
              "mode 1 has 6 indices, the tensor has 5 there (L1)");
  expectFault(Notation::CuTe, "4:1", {kUnknownSize},
              "mode 0 has 4 indices, the tensor has an unknown size");
  expectFault(Notation::Triton, "offset=[[1]] : [2]", {4},
              "dim 0 has the size 2, the tensor has 4 there (L1)");
  expectFault(Notation::Triton, "offset=[[1]] : [2]", {kUnknownSize},
              "dim 0 has the size 2, the tensor has an unknown size");
}

TEST(Text, HugeNumbersOverflowAndDoNotWrap) {
  // For any text, the map evaluates or reports an int64 overflow.
  struct {
    Notation notation;
    const char *text;
    Index shape;
  } cases[] = {
      {Notation::Xla, "{0:T(9223372036854775807)(2)}", {3}},
      {Notation::Xla, "{1,0:T(4611686018427387904,4)}", {3, 5}},
      {Notation::OneDnn, "AB4611686018427387904a4611686018427387904b", {3, 5}},
      {Notation::CuTe,
       "(2,2):(9223372036854775807,9223372036854775807)",
       {2, 2}},
  };
  for (const auto &c : cases) {
    Result<LayoutMap> map = import(c.notation, c.text, c.shape);
    ASSERT_TRUE(map.value) << map.fault;
    EXPECT_TRUE(map.value->specialize(c.shape).hasOverflow() ||
                !map.value->storageExtent(c.shape))
        << c.text << ": " << map.value->str();
    for (Notation to :
         {Notation::Xla, Notation::OneDnn, Notation::CuTe, Notation::Triton})
      write(to, *map.value, c.shape);
  }
}

} // namespace
