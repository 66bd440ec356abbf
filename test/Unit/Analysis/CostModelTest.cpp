//===- CostModelTest.cpp - Prices against their definition ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The expected numbers follow by hand from the prologue of CostModel.h and the
// parameters of the target: a line of 64 bytes, 200 % for single bytes and
// along windows, 8 scalar operations on all lanes per byte moved, 1600 %
// without lanes.
//
//===----------------------------------------------------------------------===//

#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

using Prices = layout_test::PriceTest;

constexpr const char *kTurned = "(d0, d1) -> buffer(d1, d0)";

/// Segments of a line cost their bytes, shorter ones up to twice as much.
TEST_F(Prices, ConversionsByTheirRuns) {
  CostModel costs = getCosts();
  LayoutId plain = costs.getRowMajor(2), turned = costs.intern(getMap(kTurned));
  RankedTensorType type = getType({16, 16});
  EXPECT_EQ(costs.getConversionCost(type, plain, plain), 0);
  // Segments of 4 bytes of 64: 100 + 100 * 60 / 63 % of 2048 bytes.
  EXPECT_EQ(costs.getConversionCost(type, plain, turned), 3998);
  // Identical storage costs 1, so that fewer views are preferred.
  EXPECT_EQ(costs.getConversionCost(getType({16, 1}), plain, turned), 1);
  // Segments of a line and longer ones cost their bytes.
  LayoutId plain3 = costs.getRowMajor(3),
           turned3 = costs.intern(getMap("(d0, d1, d2) -> buffer(d1, d0, d2)"));
  EXPECT_EQ(costs.getConversionCost(getType({4, 4, 16}), plain3, turned3),
            2 * 1024);
  EXPECT_EQ(costs.getConversionCost(getType({4, 4, 64}), plain3, turned3),
            2 * 4096);
  // Half a line: 100 + 100 * 32 / 63 % of 1024.
  EXPECT_EQ(costs.getConversionCost(getType({4, 4, 8}), plain3, turned3), 1544);
}

TEST_F(Prices, ConversionsByTheirBytes) {
  CostModel costs = getCosts("", Objective::bytes);
  LayoutId plain = costs.getRowMajor(2), turned = costs.intern(getMap(kTurned));
  EXPECT_EQ(costs.getConversionCost(getType({16, 16}), plain, turned), 2048);
  EXPECT_EQ(costs.getConversionCost(getType({16, 1}), plain, turned), 0);
}

/// 6 rows are read; 6 are written, or 8 if padding is stated.
TEST_F(Prices, PaddingIsWrittenAndNotRead) {
  CostModel costs = getCosts("", Objective::bytes);
  RankedTensorType type = getType({6, 16});
  LayoutId plain = costs.getRowMajor(2);
  LayoutId open = costs.intern(getMap("(d0, d1) -> buffer([d0] align 8, d1)"));
  LayoutId zero = costs.withPadding(open, getZero());
  EXPECT_EQ(costs.getConversionCost(type, plain, open), 384 + 384);
  EXPECT_EQ(costs.getConversionCost(type, plain, zero), 384 + 512);
  EXPECT_EQ(costs.getPlan(type, plain, zero).bytesRead, 384);
  EXPECT_EQ(costs.getPlan(type, plain, zero).bytesWritten, 512);
  // If the source has no other uses, only the padding is written.
  EXPECT_EQ(costs.getConversionCost(type, open, zero, /*mayOverwrite=*/true),
            128);
  EXPECT_EQ(costs.getPlan(type, open, zero, true).bytesRead, 0);
  // Contiguous rows are copied completely, and padded in the same pass.
  EXPECT_EQ(costs.getConversionCost(type, open, zero), 512 + 512);
  // Existing padding is not rewritten, and stated padding may be dropped.
  EXPECT_EQ(costs.getConversionCost(type, zero, open), 0);
}

/// A gather reads single elements and writes all positions: 5 elements, in 2 x
/// 3 positions and in 4 x 2.
TEST_F(Prices, GatheredStorageIsWrittenInWhole) {
  CostModel costs = getCosts("", Objective::bytes);
  LayoutId twos =
      costs.intern(getMap("(d0) -> buffer(d0 mod 2, d0 floordiv 2)"));
  LayoutId fours =
      costs.intern(getMap("(d0) -> buffer(d0 mod 3, [d0 floordiv 3] align 4)"));
  EXPECT_EQ(costs.getConversionCost(getType({5}), twos, fours),
            5 * 4 + 3 * 4 * 4);
}

constexpr const char *kAdd = "%0 = arith.addf %x, %y : tensor<16x16xf32>";
constexpr const char *kAddArguments =
    "%x: tensor<16x16xf32>, %y: tensor<16x16xf32>";

TEST_F(Prices, ElementwiseOps) {
  CostModel costs = getCosts();
  // Three tensors, and 256 additions on lanes.
  EXPECT_EQ(price(costs, kAddArguments, kAdd), 3 * 1024 + 256 / 8);
  EXPECT_EQ(price(costs, kAddArguments, kAdd, {kTurned, kTurned, kTurned}),
            3 * 1024 + 256 / 8);
  // Rows of 6 are one segment of 18, which needs five vectors of 4.
  EXPECT_EQ(price(costs, "%x: tensor<3x6xf32>",
                  "%0 = arith.negf %x : tensor<3x6xf32>"),
            2 * 72 + 20 / 8);
  // One tensor is transposed: no lanes, and bytes per element.
  for (StringRef other : {"0", "1", "2"}) {
    SmallVector<StringRef> layouts(3);
    layouts[other[0] - '0'] = kTurned;
    EXPECT_EQ(price(costs, kAddArguments, kAdd, layouts),
              2 * 3 * 1024 + 16 * 256 / 8);
  }
}

/// Dims that are contiguous in every tensor share vectors.
TEST_F(Prices, RunsOfSeveralDims) {
  CostModel costs = getCosts();
  auto add = [&](StringRef map, StringRef shape, StringRef layout = "") {
    std::string type = "tensor<" + shape.str() + "xf32>";
    return price(
        costs, "%x: tensor<16x6xf32>, %y: " + type + ", %z: tensor<16x6xf32>",
        "%0 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, "
        "affine_map<(r, c) -> (" +
            map.str() +
            ")>, affine_map<(r, c) -> (r, c)>], iterator_types = "
            "[\"parallel\", \"parallel\"]} ins(%x, %y : tensor<16x6xf32>, " +
            type +
            ") outs(%z : tensor<16x6xf32>) {\n"
            "^bb0(%a: f32, %b: f32, %c: f32):\n"
            "%s = arith.addf %a, %b : f32\nlinalg.yield %s : f32\n"
            "} -> tensor<16x6xf32>",
        {"", layout});
  };
  EXPECT_EQ(add("r, c", "16x6"), 3 * 384 + 16 * 6 / 8);
  // Every row of 6 reads the same numbers, or has one number.
  EXPECT_EQ(add("c", "6"), 2 * 384 + 24 + 16 * 8 / 8);
  EXPECT_EQ(add("r", "16"), 2 * 384 + 64 + 16 * 8 / 8);
  // Rows of 6 in storage of 8.
  EXPECT_EQ(
      add("r, c", "16x6", "(d0, d1) -> buffer(d0, d1 floordiv 8, d1 mod 8)"),
      2 * 384 + 512 + 16 * 8 / 8);
}

/// Vectors have the width of the processor, up to the lanes of a tile.
TEST_F(Prices, VectorsOfTheProcessor) {
  StringRef arguments = "%x: tensor<3x8xf32>";
  StringRef neg = "%0 = arith.negf %x : tensor<3x8xf32>";
  StringRef tiled = "(d0, d1) -> buffer(d1, d0)";
  for (auto [bits, elements] :
       {std::pair(0, 8), {256, 8}, {512, 16}, {2048, 16}}) {
    CostModel costs = getCostsOf(
        "#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 100, "
        "scalar_percent = 400, vector_bits = " +
        std::to_string(bits) + ">");
    EXPECT_EQ(price(costs, arguments, neg), 2 * 96 + (elements == 8 ? 24 : 32));
    EXPECT_EQ(price(costs, arguments, neg, {tiled}),
              2 * 96 + 24 * 4 * std::max(bits, 256) / 256);
  }
}

/// Partial tiles are processed completely.
TEST_F(Prices, TilesOfPadding) {
  CostModel costs = getCosts();
  StringRef tiled = "(d0, d1) -> buffer(d1 floordiv 8, d0, d1 mod 8)";
  EXPECT_EQ(price(costs, "%x: tensor<100x6xf32>",
                  "%0 = arith.negf %x : tensor<100x6xf32>", {tiled, tiled}),
            2 * 3200 + 800 / 8);
}

/// C is read and written; columns are vectorized.
TEST_F(Prices, Products) {
  CostModel costs = getCosts();
  StringRef arguments = "%a: tensor<8x16xf32>, %b: tensor<16x32xf32>, "
                        "%c: tensor<8x32xf32>";
  StringRef matmul = "%0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, "
                     "tensor<16x32xf32>) outs(%c : tensor<8x32xf32>) -> "
                     "tensor<8x32xf32>";
  EXPECT_EQ(price(costs, arguments, matmul),
            512 + 2048 + 2 * 1024 + 2 * 8 * 16 * 32 / 8);
  // Four lanes hold partial sums, which two more additions combine.
  EXPECT_EQ(price(costs, arguments, matmul, {"", kTurned}),
            512 + 2048 + 2 * 1024 + 2 * (2 * 8 * 32 * (16 + 4 * 2)) / 8);
  // A is read once for all lanes, in any layout.
  EXPECT_EQ(price(costs, arguments, matmul, {kTurned}),
            price(costs, arguments, matmul));
}

/// Partial sums in lanes are combined once per result, not per segment.
TEST_F(Prices, SumsOfSeveralRuns) {
  CostModel costs = getCosts();
  EXPECT_EQ(price(costs, "%x: tensor<8x4x16xf32>, %y: tensor<8xf32>",
                  R"(%0 = linalg.reduce { arith.addf }
    ins(%x : tensor<8x4x16xf32>) outs(%y : tensor<8xf32>) dimensions = [1, 2])"),
            8 * 4 * 16 * 4 + 2 * 32 + 2 * (8 * (4 * 16 + 4 * 2)) / 8);
}

/// Rows that fill all 16 vectors of 4 are summed in pieces, for any number of
/// stored digits; columns of tiles are one segment.
TEST_F(Prices, RowsSummedInPieces) {
  CostModel costs = getCosts();
  auto product = [&](int64_t columns, StringRef layout) {
    std::string n = std::to_string(columns);
    return price(
        costs,
        "%a: tensor<1x16xf32>, %b: tensor<16x" + n + "xf32>, %c: tensor<1x" +
            n + "xf32>",
        "%0 = linalg.matmul ins(%a, %b : tensor<1x16xf32>, tensor<16x" + n +
            "xf32>) outs(%c : tensor<1x" + n + "xf32>) -> tensor<1x" + n +
            "xf32>",
        {"", layout});
  };
  Cost rest = 64 + 2 * 256 + 2 * 16 * 64 / 8;
  EXPECT_EQ(product(64, ""), 2 * 4096 + rest);
  EXPECT_EQ(product(64, "(d0, d1) -> buffer(d0 floordiv 4, d1 floordiv 4, d0 "
                        "mod 4, d1 mod 4)"),
            2 * 4096 + rest);
  EXPECT_EQ(product(64, "(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)"),
            4096 + rest);
  EXPECT_EQ(product(60, ""), 3840 + 64 + 2 * 240 + 2 * 16 * 60 / 8);
}

/// An init that the body does not use is not read.
TEST_F(Prices, InitsThatAreNotRead) {
  CostModel costs = getCosts();
  EXPECT_EQ(price(costs, "%x: tensor<16x16xf32>, %y: tensor<16x16xf32>", R"(
    %0 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<16x16xf32>) outs(%y : tensor<16x16xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<16x16xf32>)"),
            2 * 1024);
}

constexpr const char *kSumArguments =
    "%x: tensor<100x6xf32>, %y: tensor<100xf32>";
constexpr const char *kSum = R"(%0 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<100x6xf32>) outs(%y : tensor<100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<100xf32>)";

/// A masked sum excludes the padding at the end of its dim, at a price.
TEST_F(Prices, MaskedSums) {
  CostModel costs = getCosts(", mask_percent = 150");
  StringRef tiled = "(d0, d1) -> buffer(d1 floordiv 8, d0, d1 mod 8)";
  EXPECT_EQ(price(costs, kSumArguments, kSum, {tiled}),
            3200 + 2 * 400 + 2 * (600 * (6 + 4 * 2) / 6) * 3 / 2 / 8);
  EXPECT_EQ(price(costs, kSumArguments, kSum),
            2400 + 2 * 400 + 2 * (100 * (8 + 4 * 2)) / 8);
}

/// Sums change zero padding, which must be rewritten: 2 of 8 positions of 100
/// rows, as single elements at 100 + 100 * 60 / 63 %.
TEST_F(Prices, PaddingThatOpsDoNotMake) {
  CostModel costs = getCosts();
  StringRef zero = "#layout.padded<#layout.map<(d0, d1) -> "
                   "buffer(d1 floordiv 8, d0, d1 mod 8)>, zero>";
  auto generic = [&](StringRef body) {
    return price(costs, "%x: tensor<100x6xf32>, %y: tensor<100x6xf32>", R"(
    %0 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<100x6xf32>) outs(%y : tensor<100x6xf32>) {
    ^bb0(%a: f32, %b: f32):
      %one = arith.constant 1.0 : f32
      %r = )" + body.str() + R"( : f32
      linalg.yield %r : f32
    } -> tensor<100x6xf32>)",
                 {zero, zero, zero});
  };
  Cost loops = 2 * 3200 + 800 / 8;
  EXPECT_EQ(generic("arith.addf %a, %a"), loops);
  EXPECT_EQ(generic("arith.addf %a, %one"), loops + 1561);
}

/// A window with stride 1 slides along a contiguous segment, and one vector of
/// four crosses into another line, which costs reads and latency. With stride
/// 2, a vector is assembled from two loads.
TEST_F(Prices, WindowsOnLanes) {
  CostModel costs = getCosts();
  auto conv = [&](int64_t stride) {
    std::string x = "tensor<" + std::to_string(15 * stride + 3) + "xf32>";
    return price(
        costs, "%x: " + x + ", %w: tensor<3xf32>, %y: tensor<16xf32>",
        "%0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i * " +
            std::to_string(stride) +
            " + k)>, affine_map<(i, k) -> (k)>, "
            "affine_map<(i, k) -> (i)>], iterator_types = [\"parallel\", "
            "\"reduction\"]} ins(%x, %w : " +
            x +
            ", tensor<3xf32>) "
            "outs(%y : tensor<16xf32>) {\n^bb0(%a: f32, %b: f32, %c: f32):\n"
            "%p = arith.mulf %a, %b : f32\n%s = arith.addf %p, %c : f32\n"
            "linalg.yield %s : f32\n} -> tensor<16xf32>");
  };
  EXPECT_EQ(conv(1),
            18 * 4 * 5 / 4 + (3 + 16 + 16) * 4 + 16 * 3 * 2 * 5 / 4 / 8);
  EXPECT_EQ(conv(2),
            33 * 4 * 5 / 4 + (3 + 16 + 16) * 4 + 2 * (16 * 3 * 2 * 5 / 4) / 8);
}

/// If vectors are as long as a line, each crosses into another one. Filters
/// share the reads, and half of the latency.
TEST_F(Prices, WindowsThatFiltersShare) {
  auto conv = [&](int64_t bits, int64_t filters) {
    CostModel costs = getCostsOf(
        "#layout.cpu<lanes = 16, flops_per_byte = 1, vector_bits = " +
        std::to_string(bits) + ">");
    std::string f = std::to_string(filters);
    return price(
        costs,
        "%x: tensor<18xf32>, %w: tensor<" + f + "x3xf32>, %y: tensor<" + f +
            "x16xf32>",
        "%0 = linalg.generic {indexing_maps = [affine_map<(f, i, k) -> (i + "
        "k)>, affine_map<(f, i, k) -> (f, k)>, affine_map<(f, i, k) -> (f, "
        "i)>], iterator_types = [\"parallel\", \"parallel\", "
        "\"reduction\"]} ins(%x, %w : tensor<18xf32>, tensor<" +
            f + "x3xf32>) outs(%y : tensor<" + f +
            "x16xf32>) {\n^bb0(%a: f32, %b: f32, %c: f32):\n"
            "%p = arith.mulf %a, %b : f32\n%s = arith.addf %p, %c : f32\n"
            "linalg.yield %s : f32\n} -> tensor<" +
            f + "x16xf32>");
  };
  EXPECT_EQ(conv(512, 1), 18 * 4 * 2 + (3 + 2 * 16) * 4 + 16 * 3 * 2 * 2);
  EXPECT_EQ(conv(512, 4),
            18 * 4 * 3 / 2 + 4 * (3 + 2 * 16) * 4 + 4 * 16 * 3 * 2 * 3 / 2);
  EXPECT_EQ(conv(128, 4),
            18 * 4 * 5 / 4 + 4 * (3 + 2 * 16) * 4 + 4 * 16 * 3 * 2 * 5 / 4);
}

/// The vectorized loop may also come last in the sum.
TEST_F(Prices, WindowsThatComeBeforeThePosition) {
  CostModel costs = getCosts();
  auto conv = [&](int64_t stride, int64_t size) {
    std::string x = "tensor<" + std::to_string(size) + "xf32>";
    return price(
        costs, "%x: " + x + ", %w: tensor<3xf32>, %y: tensor<16xf32>",
        "%0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (k + i * " +
            std::to_string(stride) +
            ")>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], "
            "iterator_types = [\"parallel\", \"reduction\"]} ins(%x, %w : " +
            x +
            ", tensor<3xf32>) outs(%y : tensor<16xf32>) {\n"
            "^bb0(%a: f32, %b: f32, %c: f32):\n"
            "%s = arith.addf %a, %c : f32\nlinalg.yield %s : f32\n"
            "} -> tensor<16xf32>");
  };
  EXPECT_EQ(conv(1, 18), 18 * 4 * 5 / 4 + (16 + 16) * 4 + 16 * 3 * 5 / 4 / 8);
  EXPECT_EQ(conv(3, 48), 2 * (48 + 16 + 16) * 4 + 16 * 16 * 3 / 8);
}

/// A window that starts anywhere in a tile is not contiguous within it.
TEST_F(Prices, WindowsOverTiles) {
  CostModel costs = getCosts();
  StringRef conv =
      R"(%0 = linalg.conv_1d ins(%x, %w : tensor<18xf32>, tensor<3xf32>)
    outs(%y : tensor<16xf32>) -> tensor<16xf32>)";
  StringRef arguments =
      "%x: tensor<18xf32>, %w: tensor<3xf32>, %y: tensor<16xf32>";
  Cost plain = price(costs, arguments, conv);
  EXPECT_EQ(plain, 18 * 4 * 5 / 4 + (3 + 16 + 16) * 4 + 16 * 3 * 2 * 5 / 4 / 8);
  // Stores these bytes in pieces of 9 that are not contiguous.
  EXPECT_EQ(price(costs, arguments, conv,
                  {"(d0) -> buffer(d0 mod 9, d0 floordiv 9)"}),
            2 * (18 + 3 + 16 + 16) * 4 + 16 * 16 * 3 * 2 / 8);
  // Columns in tiles of 4; windows begin at any column.
  StringRef rows = R"(%0 = linalg.generic {
    indexing_maps = [affine_map<(h, i, k) -> (h, i + k)>,
                     affine_map<(h, i, k) -> (k)>,
                     affine_map<(h, i, k) -> (h, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<2x20xf32>, tensor<5xf32>) outs(%y : tensor<2x16xf32>) {
  ^bb0(%a: f32, %v: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x16xf32>)";
  StringRef tiles = "(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)";
  StringRef of =
      "%x: tensor<2x20xf32>, %w: tensor<5xf32>, %y: tensor<2x16xf32>";
  EXPECT_EQ(price(costs, of, rows),
            40 * 4 * 5 / 4 + 2 * 32 * 4 + 2 * 16 * 5 * 5 / 4 / 8);
  EXPECT_EQ(price(costs, of, rows, {tiles, "", tiles, tiles}),
            2 * (40 + 2 * 32) * 4 + 16 * 2 * 16 * 5 / 8);
}

/// A window of one value does not slide: the position stays vectorized.
TEST_F(Prices, WindowsOfOneValue) {
  CostModel costs = getCosts();
  EXPECT_EQ(
      price(costs, "%x: tensor<16xf32>, %w: tensor<1xf32>, %y: tensor<16xf32>",
            R"(%0 = linalg.conv_1d ins(%x, %w : tensor<16xf32>, tensor<1xf32>)
    outs(%y : tensor<16xf32>) -> tensor<16xf32>)"),
      (16 + 1 + 16 + 16) * 4 + 16 * 2 / 8);
}

/// Rows of 16 are segments of 4 if an operand has tiles of 4.
TEST_F(Prices, TilesThatAreShorterThanTheResults) {
  CostModel costs = getCosts();
  auto neg = [&](StringRef operand, StringRef result) {
    return price(costs, "%x: tensor<2x16xf32>",
                 "%0 = arith.negf %x : tensor<2x16xf32>", {operand, result});
  };
  StringRef fours = "(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)";
  StringRef eights = "(d0, d1) -> buffer(d1 floordiv 8, d0, d1 mod 8)";
  EXPECT_EQ(neg(fours, ""), 2 * 128 + 32 / 8);
  EXPECT_EQ(neg(fours, eights), 2 * 128 + 32 / 8);
  EXPECT_EQ(neg(eights, fours), 2 * 128 + 32 / 8);
  StringRef twos = "(d0, d1) -> buffer(d1 floordiv 2, d0, d1 mod 2)";
  EXPECT_EQ(neg(twos, ""), 2 * 128 + 2 * 32 / 8);
}

/// Slices cost the part, whatever the size of the whole.
TEST_F(Prices, Slices) {
  CostModel costs = getCosts();
  EXPECT_EQ(price(costs, "%x: tensor<64x4xf32>",
                  "%0 = tensor.extract_slice %x[8, 0][24, 4][1, 1] : "
                  "tensor<64x4xf32> to tensor<24x4xf32>"),
            24 * 4 * 4);
  auto insert = [&](StringRef rows) {
    std::string whole = "tensor<" + rows.str() + "x4xf32>";
    return price(costs, "%x: tensor<16x4xf32>, %y: " + whole,
                 "%0 = tensor.insert_slice %x into %y[8, 0][16, 4][1, 1] : "
                 "tensor<16x4xf32> into " +
                     whole);
  };
  EXPECT_EQ(insert("64"), 16 * 4 * 4);
  EXPECT_EQ(insert("6400"), insert("64"));
  // A concatenation reads and writes everything.
  EXPECT_EQ(price(costs, "%x: tensor<2x4xf32>, %y: tensor<3x4xf32>",
                  "%0 = tensor.concat dim(0) %x, %y : (tensor<2x4xf32>, "
                  "tensor<3x4xf32>) -> tensor<5x4xf32>"),
            2 * 5 * 16);
}

/// A view is free if storage stays, and a conversion otherwise.
TEST_F(Prices, Views) {
  CostModel costs = getCosts();
  EXPECT_EQ(price(costs, "%x: tensor<6x8xf32>",
                  "%0 = tensor.expand_shape %x [[0], [1, 2]] output_shape "
                  "[6, 2, 4] : tensor<6x8xf32> into tensor<6x2x4xf32>"),
            0);
  StringRef arguments = "%x: tensor<16x64xf32>, %y: tensor<16x4x16xf32>";
  StringRef pack =
      "%0 = linalg.pack %x inner_dims_pos = [1] inner_tiles = [16] "
      "into %y : tensor<16x64xf32> -> tensor<16x4x16xf32>";
  EXPECT_EQ(price(costs, arguments, pack), 0);
  StringRef turned = "(d0, d1, d2) -> buffer(d1, d0, d2)";
  EXPECT_EQ(price(costs, arguments, pack, {"", turned, turned}), 2 * 4096);
}

/// Dynamic sizes count as the target assumes.
TEST_F(Prices, DynamicSizes) {
  CostModel costs = getCosts(", assumed_size = 10");
  EXPECT_EQ(price(costs, "%x: tensor<?x16xf32>",
                  "%0 = arith.negf %x : tensor<?x16xf32>"),
            2 * 640 + 160 / 8);
}

TEST_F(Prices, BytesOfElements) {
  Builder builder(&context);
  EXPECT_EQ(getElementBytes(builder.getI1Type()), 1);
  EXPECT_EQ(getElementBytes(builder.getIntegerType(12)), 2);
  EXPECT_EQ(getElementBytes(builder.getBF16Type()), 2);
  EXPECT_EQ(getElementBytes(builder.getIndexType()), 8);
  EXPECT_EQ(getElementBytes(ComplexType::get(builder.getF32Type())), 8);
}

} // namespace
