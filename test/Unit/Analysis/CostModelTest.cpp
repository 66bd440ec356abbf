//===- CostModelTest.cpp - Prices against their definition ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expected prices follow from the prologue of CostModel.h and from the
// target parameters of Prices.h. Tensors have f32 elements.
//
//===----------------------------------------------------------------------===//

#include "Prices.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

using CostModelTest = layout_test::PriceTest;
using layout_test::kFlopsPerByte;
using layout_test::kLanes;
using layout_test::kLineBytes;
using layout_test::kScalarFactor;
using layout_test::kStridedFactor;

constexpr int64_t kElementBytes = 4;

/// Returns the price of moving f32 elements that fill cache lines.
constexpr Cost moving(int64_t elements) { return kElementBytes * elements; }

/// Returns the price of scalar operations that use all lanes.
constexpr Cost computing(int64_t operations) {
  return operations / kFlopsPerByte;
}

/// Returns the price of moving f32 elements in short segments. A segment of one
/// byte costs twice its bytes, a segment of one cache line costs its bytes.
constexpr Cost movingSegments(int64_t elements, int64_t segmentElements) {
  int64_t missing = kLineBytes - kElementBytes * segmentElements;
  return moving(elements) + moving(elements) * missing / (kLineBytes - 1);
}

/// The steps that combine the partial sums of all lanes to one sum.
constexpr int64_t kCombineSteps = 2;
static_assert(kLanes == 1 << kCombineSteps);

constexpr const char *kTransposed = "(d0, d1) -> buffer(d1, d0)";

TEST_F(CostModelTest, ChargesShortSegmentsUpToTwice) {
  CostModel costs = getCosts();
  LayoutId rowMajor = costs.getRowMajor(2);
  LayoutId transposed = costs.intern(getMap(kTransposed));
  RankedTensorType type = getType({16, 16});
  EXPECT_EQ(costs.getConversionCost(type, rowMajor, rowMajor), 0);
  // Reads and writes every element alone.
  EXPECT_EQ(costs.getConversionCost(type, rowMajor, transposed),
            movingSegments(2 * 16 * 16, /*segmentElements=*/1));
  // Identical storage costs 1, so that fewer views are preferred.
  EXPECT_EQ(costs.getConversionCost(getType({16, 1}), rowMajor, transposed), 1);
}

TEST_F(CostModelTest, ChargesBytesOfSegmentsOfWholeLines) {
  CostModel costs = getCosts();
  LayoutId rowMajor = costs.getRowMajor(3);
  LayoutId swapped = costs.intern(getMap("(d0, d1, d2) -> buffer(d1, d0, d2)"));
  constexpr int64_t rows = 4, columns = 4;
  constexpr int64_t lineElements = kLineBytes / kElementBytes;
  for (int64_t segment : {lineElements / 2, lineElements, 4 * lineElements}) {
    SCOPED_TRACE(segment);
    EXPECT_EQ(costs.getConversionCost(getType({rows, columns, segment}),
                                      rowMajor, swapped),
              movingSegments(2 * rows * columns * segment,
                             std::min(segment, lineElements)));
  }
}

TEST_F(CostModelTest, CountsBytesOfConversionsForBytesObjective) {
  CostModel costs = getCosts("", Objective::bytes);
  LayoutId rowMajor = costs.getRowMajor(2);
  LayoutId transposed = costs.intern(getMap(kTransposed));
  EXPECT_EQ(costs.getConversionCost(getType({16, 16}), rowMajor, transposed),
            moving(2 * 16 * 16));
  EXPECT_EQ(costs.getConversionCost(getType({16, 1}), rowMajor, transposed), 0);
}

TEST_F(CostModelTest, WritesStatedPaddingAndDoesNotReadIt) {
  CostModel costs = getCosts("", Objective::bytes);
  constexpr int64_t rows = 6, paddedRows = 8, columns = 16;
  constexpr Cost elements = moving(rows * columns);
  constexpr Cost storage = moving(paddedRows * columns);
  RankedTensorType type = getType({rows, columns});
  LayoutId rowMajor = costs.getRowMajor(2);
  LayoutId unspecified =
      costs.intern(getMap("(d0, d1) -> buffer([d0] align 8, d1)"));
  LayoutId zero = costs.withPadding(unspecified, getZero());
  EXPECT_EQ(costs.getConversionCost(type, rowMajor, unspecified),
            elements + elements);
  EXPECT_EQ(costs.getConversionCost(type, rowMajor, zero), elements + storage);
  EXPECT_EQ(costs.getPlan(type, rowMajor, zero).bytesRead, elements);
  EXPECT_EQ(costs.getPlan(type, rowMajor, zero).bytesWritten, storage);
  // If the source has no other uses, only the padding is written.
  EXPECT_EQ(
      costs.getConversionCost(type, unspecified, zero, /*mayOverwrite=*/true),
      storage - elements);
  EXPECT_EQ(costs.getPlan(type, unspecified, zero, true).bytesRead, 0);
  // Contiguous rows are copied completely, and padded in the same pass.
  EXPECT_EQ(costs.getConversionCost(type, unspecified, zero),
            storage + storage);
  // Existing padding is not rewritten, and stated padding may be dropped.
  EXPECT_EQ(costs.getConversionCost(type, zero, unspecified), 0);
}

/// A gather reads single elements and writes all positions of the result.
TEST_F(CostModelTest, ChargesWholeStorageOfGatheringConversions) {
  CostModel costs = getCosts("", Objective::bytes);
  constexpr int64_t elements = 5, positions = 3 * 4;
  LayoutId pairs =
      costs.intern(getMap("(d0) -> buffer(d0 mod 2, d0 floordiv 2)"));
  LayoutId aligned =
      costs.intern(getMap("(d0) -> buffer(d0 mod 3, [d0 floordiv 3] align 4)"));
  EXPECT_EQ(costs.getConversionCost(getType({elements}), pairs, aligned),
            moving(elements + positions));
}

constexpr const char *kAdd = "%0 = arith.addf %x, %y : tensor<16x16xf32>";
constexpr const char *kAddArguments =
    "%x: tensor<16x16xf32>, %y: tensor<16x16xf32>";

TEST_F(CostModelTest, ChargesScalarOpsIfLayoutsDiffer) {
  CostModel costs = getCosts();
  constexpr int64_t elements = 16 * 16;
  // Three tensors, and one addition per element on lanes.
  constexpr Cost vectorized = moving(3 * elements) + computing(elements);
  EXPECT_EQ(price(costs, kAddArguments, kAdd), vectorized);
  EXPECT_EQ(price(costs, kAddArguments, kAdd,
                  {kTransposed, kTransposed, kTransposed}),
            vectorized);
  // One tensor is transposed: no lanes, and bytes per element.
  for (unsigned other : {0, 1, 2}) {
    SCOPED_TRACE(other);
    SmallVector<StringRef> layouts(3);
    layouts[other] = kTransposed;
    EXPECT_EQ(price(costs, kAddArguments, kAdd, layouts),
              kStridedFactor * moving(3 * elements) +
                  kScalarFactor * computing(elements));
  }
}

/// Rows of 6 form one contiguous segment of 18, which needs 5 vectors.
TEST_F(CostModelTest, ChargesWholeVectorsPerSegment) {
  CostModel costs = getCosts();
  constexpr int64_t elements = 3 * 6, vectors = 5;
  EXPECT_EQ(price(costs, "%x: tensor<3x6xf32>",
                  "%0 = arith.negf %x : tensor<3x6xf32>"),
            moving(2 * elements) + computing(vectors * kLanes));
}

TEST_F(CostModelTest, MergesDimsThatAreContiguousInEveryTensor) {
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
  constexpr int64_t rows = 16, columns = 6, wholeVectors = 2 * kLanes;
  constexpr int64_t elements = rows * columns;
  EXPECT_EQ(add("r, c", "16x6"), moving(3 * elements) + computing(elements));
  // Every row reads the same values, or one value: rows are not merged.
  constexpr Cost rowByRow = computing(rows * wholeVectors);
  EXPECT_EQ(add("c", "6"), moving(2 * elements + columns) + rowByRow);
  EXPECT_EQ(add("r", "16"), moving(2 * elements + rows) + rowByRow);
  // Rows of 6 in storage of 8.
  EXPECT_EQ(
      add("r, c", "16x6", "(d0, d1) -> buffer(d0, d1 floordiv 8, d1 mod 8)"),
      moving(2 * elements + rows * 8) + rowByRow);
}

TEST_F(CostModelTest, UsesVectorsUpToTheLanesOfTheTarget) {
  StringRef arguments = "%x: tensor<3x8xf32>";
  StringRef neg = "%0 = arith.negf %x : tensor<3x8xf32>";
  constexpr int64_t elements = 3 * 8, scalarFactor = 4;
  struct Case {
    int64_t vectorBits, vectorized, lostLanes;
  };
  // Three vectors of 8 elements, or two of 16. Scalar operations lose more if
  // vectors are wider than 256 bits.
  for (auto [vectorBits, vectorized, lostLanes] :
       {Case{256, 3 * 8, 1}, {512, 2 * 16, 2}, {2048, 2 * 16, 8}}) {
    SCOPED_TRACE(vectorBits);
    CostModel costs = getCostsOf(
        "#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent = 100, "
        "scalar_percent = 400, vector_bits = " +
        std::to_string(vectorBits) + ">");
    EXPECT_EQ(price(costs, arguments, neg), moving(2 * elements) + vectorized);
    EXPECT_EQ(price(costs, arguments, neg, {kTransposed}),
              moving(2 * elements) + elements * scalarFactor * lostLanes);
  }
  // Without vectors, layouts that allow none are not slower.
  CostModel costs =
      getCostsOf("#layout.cpu<lanes = 16, flops_per_byte = 1, strided_percent "
                 "= 100, scalar_percent = 400, vector_bits = 0>");
  for (StringRef layout : {"", kTransposed})
    EXPECT_EQ(price(costs, arguments, neg, {layout}),
              moving(2 * elements) + elements);
}

TEST_F(CostModelTest, ChargesPartialTilesAsWholeTiles) {
  CostModel costs = getCosts();
  constexpr int64_t rows = 100, tile = 8;
  StringRef tiled = "(d0, d1) -> buffer(d1 floordiv 8, d0, d1 mod 8)";
  EXPECT_EQ(price(costs, "%x: tensor<100x6xf32>",
                  "%0 = arith.negf %x : tensor<100x6xf32>", {tiled, tiled}),
            moving(2 * rows * tile) + computing(rows * tile));
}

TEST_F(CostModelTest, ChargesMatmulByTheDimOnLanes) {
  CostModel costs = getCosts();
  StringRef arguments = "%a: tensor<8x16xf32>, %b: tensor<16x32xf32>, "
                        "%c: tensor<8x32xf32>";
  StringRef matmul = "%0 = linalg.matmul ins(%a, %b : tensor<8x16xf32>, "
                     "tensor<16x32xf32>) outs(%c : tensor<8x32xf32>) -> "
                     "tensor<8x32xf32>";
  constexpr int64_t m = 8, k = 16, n = 32;
  // C is read and written.
  constexpr Cost moved = moving(m * k + k * n + 2 * m * n);
  EXPECT_EQ(price(costs, arguments, matmul), moved + computing(2 * m * k * n));
  // Lanes hold partial sums of k if B is transposed, and are combined at last.
  EXPECT_EQ(price(costs, arguments, matmul, {"", kTransposed}),
            moved + computing(kStridedFactor * 2 * m * n *
                              (k + kLanes * kCombineSteps)));
  // A is read once for all lanes, in any layout.
  EXPECT_EQ(price(costs, arguments, matmul, {kTransposed}),
            price(costs, arguments, matmul));
}

TEST_F(CostModelTest, CombinesPartialSumsOncePerResult) {
  CostModel costs = getCosts();
  constexpr int64_t results = 8, segments = 4, segment = 16;
  EXPECT_EQ(price(costs, "%x: tensor<8x4x16xf32>, %y: tensor<8xf32>",
                  R"(%0 = linalg.reduce { arith.addf }
    ins(%x : tensor<8x4x16xf32>) outs(%y : tensor<8xf32>) dimensions = [1, 2])"),
            moving(results * segments * segment + 2 * results) +
                computing(kStridedFactor * results *
                          (segments * segment + kLanes * kCombineSteps)));
}

/// Rows that fill all 16 vector registers are read in pieces, for any number of
/// stored digits. Columns of tiles are one contiguous segment.
TEST_F(CostModelTest, ChargesStridedReadsOfRowsThatFillAllRegisters) {
  CostModel costs = getCosts();
  constexpr int64_t k = 16;
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
  auto rest = [](int64_t columns) {
    return moving(k + 2 * columns) + computing(2 * k * columns);
  };
  constexpr int64_t full = 16 * kLanes, less = 15 * kLanes;
  Cost strided = kStridedFactor * moving(k * full) + rest(full);
  EXPECT_EQ(product(full, ""), strided);
  EXPECT_EQ(product(full, "(d0, d1) -> buffer(d0 floordiv 4, d1 floordiv 4, d0 "
                          "mod 4, d1 mod 4)"),
            strided);
  EXPECT_EQ(product(full, "(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)"),
            moving(k * full) + rest(full));
  EXPECT_EQ(product(less, ""), moving(k * less) + rest(less));
}

TEST_F(CostModelTest, DoesNotChargeUnusedInits) {
  CostModel costs = getCosts();
  EXPECT_EQ(price(costs, "%x: tensor<16x16xf32>, %y: tensor<16x16xf32>", R"(
    %0 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<16x16xf32>) outs(%y : tensor<16x16xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<16x16xf32>)"),
            moving(2 * 16 * 16));
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

TEST_F(CostModelTest, ChargesMasksOfPaddedReductionDims) {
  CostModel costs = getCosts(", mask_percent = 150");
  auto masked = [](Cost cost) { return cost * 150 / 100; };
  constexpr int64_t rows = 100, columns = 6, tile = 8;
  constexpr int64_t combine = kLanes * kCombineSteps;
  StringRef tiled = "(d0, d1) -> buffer(d1 floordiv 8, d0, d1 mod 8)";
  // A kernel with a mask computes one element at a time.
  EXPECT_EQ(price(costs, kSumArguments, kSum, {tiled}),
            kStridedFactor * moving(rows * tile + 2 * rows) +
                masked(kScalarFactor * computing(rows * columns)));
  // Rows without padding need no mask, but two whole vectors each.
  EXPECT_EQ(price(costs, kSumArguments, kSum),
            moving(rows * columns + 2 * rows) +
                computing(kStridedFactor * rows * (2 * kLanes + combine)));
}

/// Adding a nonzero value changes zero padding, which must be rewritten.
TEST_F(CostModelTest, ChargesPaddingThatOpsDoNotPreserve) {
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
  constexpr int64_t rows = 100, columns = 6, tile = 8;
  constexpr Cost loops = moving(2 * rows * tile) + computing(rows * tile);
  EXPECT_EQ(generic("arith.addf %a, %a"), loops);
  EXPECT_EQ(generic("arith.addf %a, %one"),
            loops + movingSegments(rows * (tile - columns),
                                   /*segmentElements=*/1));
}

/// The size of the 1-D convolutions below.
constexpr int64_t kPositions = 16, kTaps = 3;

/// Multiplies the cost of reads and arithmetic of a window that slides along
/// the lanes: one of `kLanes` unaligned vectors crosses into another line.
constexpr Cost unaligned(Cost cost) { return cost * (kLanes + 1) / kLanes; }

/// With stride 2, a vector is assembled from two loads.
TEST_F(CostModelTest, ChargesUnalignedVectorsOfWindows) {
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
  constexpr Cost others = moving(kTaps + 2 * kPositions);
  constexpr int64_t operations = 2 * kPositions * kTaps;
  for (int64_t stride : {1, 2}) {
    SCOPED_TRACE(stride);
    int64_t inputs = (kPositions - 1) * stride + kTaps;
    EXPECT_EQ(conv(stride), unaligned(moving(inputs)) + others +
                                computing(stride * unaligned(operations)));
  }
}

/// If vectors are as long as a line, each crosses into another one. Filters
/// share the reads, and half of the latency.
TEST_F(CostModelTest, SharesUnalignedVectorsAmongFilters) {
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
  constexpr Cost input = moving(kPositions + kTaps - 1);
  constexpr Cost filter = moving(kTaps + 2 * kPositions);
  constexpr Cost operations = 2 * kPositions * kTaps;
  EXPECT_EQ(conv(512, 1), 2 * input + filter + 2 * operations);
  EXPECT_EQ(conv(512, 4), 3 * input / 2 + 4 * filter + 4 * operations * 3 / 2);
  EXPECT_EQ(conv(128, 4),
            unaligned(input) + 4 * filter + unaligned(4 * operations));
}

/// The vectorized loop may also come last in the sum.
TEST_F(CostModelTest, FindsWindowsInAnyOrderOfTerms) {
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
  // The body does not read the filter.
  constexpr int64_t operations = kPositions * kTaps;
  EXPECT_EQ(conv(1, 18), unaligned(moving(18)) + moving(2 * kPositions) +
                             computing(unaligned(operations)));
  EXPECT_EQ(conv(3, 48), kStridedFactor * moving(48 + 2 * kPositions) +
                             kScalarFactor * computing(operations));
}

/// A window that starts anywhere in a tile is not contiguous within it.
TEST_F(CostModelTest, ChargesScalarOpsForWindowsOverTiles) {
  CostModel costs = getCosts();
  StringRef conv =
      R"(%0 = linalg.conv_1d ins(%x, %w : tensor<18xf32>, tensor<3xf32>)
    outs(%y : tensor<16xf32>) -> tensor<16xf32>)";
  StringRef arguments =
      "%x: tensor<18xf32>, %w: tensor<3xf32>, %y: tensor<16xf32>";
  constexpr int64_t inputs = kPositions + kTaps - 1;
  constexpr int64_t others = kTaps + 2 * kPositions;
  constexpr int64_t operations = 2 * kPositions * kTaps;
  EXPECT_EQ(price(costs, arguments, conv),
            unaligned(moving(inputs)) + moving(others) +
                computing(unaligned(operations)));
  // Stores every second element next to each other.
  EXPECT_EQ(price(costs, arguments, conv,
                  {"(d0) -> buffer(d0 mod 9, d0 floordiv 9)"}),
            kStridedFactor * moving(inputs + others) +
                kScalarFactor * computing(operations));
}

TEST_F(CostModelTest, ChargesScalarOpsForWindowsOverTiledRows) {
  CostModel costs = getCosts();
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
  StringRef arguments =
      "%x: tensor<2x20xf32>, %w: tensor<5xf32>, %y: tensor<2x16xf32>";
  constexpr int64_t inputs = 2 * 20, results = 2 * 16, taps = 5;
  EXPECT_EQ(price(costs, arguments, rows),
            unaligned(moving(inputs)) + moving(2 * results) +
                computing(unaligned(results * taps)));
  EXPECT_EQ(price(costs, arguments, rows, {tiles, "", tiles, tiles}),
            kStridedFactor * moving(inputs + 2 * results) +
                kScalarFactor * computing(results * taps));
}

/// A window of one value does not slide: the position stays vectorized.
TEST_F(CostModelTest, ChargesAlignedVectorsForWindowsOfOneValue) {
  CostModel costs = getCosts();
  EXPECT_EQ(
      price(costs, "%x: tensor<16xf32>, %w: tensor<1xf32>, %y: tensor<16xf32>",
            R"(%0 = linalg.conv_1d ins(%x, %w : tensor<16xf32>, tensor<1xf32>)
    outs(%y : tensor<16xf32>) -> tensor<16xf32>)"),
      moving(1 + 3 * kPositions) + computing(2 * kPositions));
}

/// Rows of 16 are segments of 4 if an operand has tiles of 4.
TEST_F(CostModelTest, ChargesHalfVectorsForTilesShorterThanVectors) {
  CostModel costs = getCosts();
  auto neg = [&](StringRef operand, StringRef result) {
    return price(costs, "%x: tensor<2x16xf32>",
                 "%0 = arith.negf %x : tensor<2x16xf32>", {operand, result});
  };
  StringRef twos = "(d0, d1) -> buffer(d1 floordiv 2, d0, d1 mod 2)";
  StringRef fours = "(d0, d1) -> buffer(d1 floordiv 4, d0, d1 mod 4)";
  StringRef eights = "(d0, d1) -> buffer(d1 floordiv 8, d0, d1 mod 8)";
  constexpr int64_t elements = 2 * 16;
  constexpr Cost wholeVectors = moving(2 * elements) + computing(elements);
  EXPECT_EQ(neg(fours, ""), wholeVectors);
  EXPECT_EQ(neg(fours, eights), wholeVectors);
  EXPECT_EQ(neg(eights, fours), wholeVectors);
  EXPECT_EQ(neg(twos, ""), moving(2 * elements) + computing(2 * elements));
}

TEST_F(CostModelTest, ChargesThePartOfSlices) {
  CostModel costs = getCosts();
  EXPECT_EQ(price(costs, "%x: tensor<64x4xf32>",
                  "%0 = tensor.extract_slice %x[8, 0][24, 4][1, 1] : "
                  "tensor<64x4xf32> to tensor<24x4xf32>"),
            moving(24 * 4));
  for (StringRef rows : {"64", "6400"}) {
    SCOPED_TRACE(rows.str());
    std::string whole = "tensor<" + rows.str() + "x4xf32>";
    EXPECT_EQ(price(costs, "%x: tensor<16x4xf32>, %y: " + whole,
                    "%0 = tensor.insert_slice %x into %y[8, 0][16, 4][1, 1] : "
                    "tensor<16x4xf32> into " +
                        whole),
              moving(16 * 4));
  }
}

TEST_F(CostModelTest, ChargesAllOperandsAndResultsOfConcatenations) {
  CostModel costs = getCosts();
  EXPECT_EQ(price(costs, "%x: tensor<2x4xf32>, %y: tensor<3x4xf32>",
                  "%0 = tensor.concat dim(0) %x, %y : (tensor<2x4xf32>, "
                  "tensor<3x4xf32>) -> tensor<5x4xf32>"),
            moving(2 * 5 * 4));
}

TEST_F(CostModelTest, ChargesConversionsOnlyForViewsThatChangeStorage) {
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
  StringRef swapped = "(d0, d1, d2) -> buffer(d1, d0, d2)";
  EXPECT_EQ(price(costs, arguments, pack, {"", swapped, swapped}),
            moving(2 * 16 * 64));
}

TEST_F(CostModelTest, AssumesTheSizeOfTheTargetForDynamicDims) {
  CostModel costs = getCosts(", assumed_size = 10");
  constexpr int64_t elements = 10 * 16;
  EXPECT_EQ(price(costs, "%x: tensor<?x16xf32>",
                  "%0 = arith.negf %x : tensor<?x16xf32>"),
            moving(2 * elements) + computing(elements));
}

TEST_F(CostModelTest, RoundsElementsUpToWholeBytes) {
  Builder builder(&context);
  EXPECT_EQ(getElementBytes(builder.getI1Type()), 1);
  EXPECT_EQ(getElementBytes(builder.getIntegerType(12)), 2);
  EXPECT_EQ(getElementBytes(builder.getBF16Type()), 2);
  EXPECT_EQ(getElementBytes(builder.getIndexType()), 8);
  EXPECT_EQ(getElementBytes(ComplexType::get(builder.getF32Type())), 8);
}

} // namespace
