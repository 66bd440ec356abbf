//===- NpuScatterTest.cpp - Channels over the cores of an NPU -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vectors and the table of docs/spec.md, section 3.4, and random layouts
// against a numeric evaluator of its formula.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir;
using namespace mlir::layout;

namespace {

using Index = std::vector<int64_t>;
using Point = std::pair<int64_t, int64_t>; // unit, byte

/// Calls fn for every index of the box.
template <typename Fn> void forEachIndex(const Index &shape, Fn fn) {
  if (llvm::is_contained(shape, 0))
    return;
  Index index(shape.size(), 0);
  while (true) {
    fn(index);
    int d = int(shape.size()) - 1;
    while (d >= 0 && ++index[d] == shape[d])
      index[d--] = 0;
    if (d < 0)
      return;
  }
}

Index toInts(const llvm::json::Value &value) {
  Index result;
  for (const llvm::json::Value &item : *value.getAsArray())
    result.push_back(*item.getAsInteger());
  return result;
}

class NpuScatterTest : public testing::Test {
protected:
  NpuScatterTest() {
    context.loadDialect<LayoutDialect, npu::NPUDialect, arith::ArithDialect>();
    context.getDiagEngine().registerHandler(
        [&](Diagnostic &diag) { lastError = diag.str(); });
  }

  Attribute parse(const std::string &text) {
    Attribute attr = parseAttribute(text, &context);
    EXPECT_TRUE(attr) << text << ": " << lastError;
    return attr;
  }
  npu::ChipAttr getTarget(int64_t npus, int64_t bytes, int64_t euBytes) {
    return npu::ChipAttr::get(&context, npus, bytes, euBytes);
  }
  NpuScatterAttr getLayout(const std::string &text, npu::ChipAttr target) {
    auto attr = cast<NpuScatterAttr>(parse(text));
    return cast<NpuScatterAttr>(attr.withTarget(target));
  }
  Type getElement(int64_t bytes) {
    return IntegerType::get(&context, bytes * 8);
  }
  /// Returns the type, or null if the layout is invalid for it.
  RankedTensorType getType(const Index &shape, int64_t bytes,
                           Attribute layout) {
    return RankedTensorType::getChecked(
        [&] { return emitError(UnknownLoc::get(&context)); }, shape,
        getElement(bytes), layout);
  }
  LayoutMap getMap(const Index &shape, int64_t bytes, Attribute layout) {
    FailureOr<LayoutMap> map = cast<LayoutAttrInterface>(layout).resolve(
        shape, getElement(bytes),
        [&] { return emitError(UnknownLoc::get(&context)); });
    EXPECT_TRUE(succeeded(map)) << lastError;
    return succeeded(map) ? *map : LayoutMap();
  }
  NpuStorage getStorage(const Index &shape, int64_t bytes,
                        NpuScatterAttr layout) {
    ChipParams params = layout.getTarget().getParams();
    return *getNpuStorage(
        layout.getScatter(), params, bytes, shape,
        [](const Twine &message) { FAIL() << message.str(); });
  }

  static Point forward(const LayoutMap &map, const Index &index,
                       const Index &shape, int64_t bytes) {
    SmallVector<int64_t> point = *map.forward(index, shape);
    return {point[0], point[1] * bytes};
  }

  MLIRContext context;
  std::string lastError;
};

//===----------------------------------------------------------------------===//
// Vectors and probes
//===----------------------------------------------------------------------===//

TEST_F(NpuScatterTest, VectorsForwardAndBackwardWithStridesAndBytes) {
  auto buffer =
      llvm::MemoryBuffer::getFile(LAYOUT_TEST_VECTORS "/npu_scatter.json");
  ASSERT_TRUE(buffer) << buffer.getError().message();
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse((*buffer)->getBuffer());
  ASSERT_TRUE(static_cast<bool>(json));
  const llvm::json::Array *cases = json->getAsObject()->getArray("cases");
  ASSERT_TRUE(cases && !cases->empty());
  for (const llvm::json::Value &item : *cases) {
    const llvm::json::Object &object = *item.getAsObject();
    const llvm::json::Object &params = *object.getObject("target");
    int64_t bytes = *object.getInteger("element_bytes");
    Index shape = toInts(*object.get("shape"));
    std::string text = object.getString("layout")->str();
    SCOPED_TRACE(text + " on " + testing::PrintToString(shape));
    NpuScatterAttr layout =
        getLayout(text, getTarget(*params.getInteger("npus"), 1 << 19,
                                  *params.getInteger("eu_bytes")));
    ASSERT_TRUE(getType(shape, bytes, layout)) << lastError;
    LayoutMap map = getMap(shape, bytes, layout);

    EXPECT_EQ((*map.storageExtent(shape))[0], *params.getInteger("npus"));
    EXPECT_EQ((*map.storageExtent(shape))[1] * bytes,
              *object.getInteger("bytes_per_npu"));
    NpuStorage storage = getStorage(shape, bytes, layout);
    Index strides;
    for (const SizeExpr &stride :
         {storage.sN, storage.sC, storage.sH, storage.sW})
      strides.push_back(*stride.evaluate(shape));
    EXPECT_EQ(strides, toInts(*object.get("strides")));
    for (const llvm::json::Value &point : *object.getArray("points")) {
      Index index = toInts((*point.getAsArray())[0]);
      Index address = toInts((*point.getAsArray())[1]);
      EXPECT_EQ(forward(map, index, shape, bytes),
                Point(address[0], address[1]));
      auto back = map.backward({address[0], address[1] / bytes}, shape);
      ASSERT_TRUE(back.has_value());
      EXPECT_EQ(Index(back->begin(), back->end()), index);
    }
  }
}

TEST_F(NpuScatterTest, TableOfTheSpec) {
  struct Probe {
    Index index;
    Point point;
  };
  struct Row {
    std::string layout;
    Index shape;
    int64_t bytes, bytesPerCore;
    std::vector<Probe> probes;
  };
  std::vector<Row> rows = {
      {"strided [120, 56, 16, 2], start = 0",
       {2, 5, 3, 4},
       4,
       960,
       {{{0, 4, 0, 0}, {0, 224}},
        {{1, 0, 0, 0}, {0, 480}},
        {{1, 4, 2, 3}, {0, 856}}}},
      // The strides of H and C have no effect here.
      {"strided [120, 0, 7, 2], start = 1",
       {2, 3, 1, 10},
       4,
       960,
       {{{0, 2, 0, 0}, {3, 0}}, {{1, 2, 0, 9}, {3, 552}}}},
      {"aligned, start = 0", {2, 3, 4, 5}, 4, 256, {{{1, 2, 3, 4}, {2, 204}}}},
      {"aligned, start = 2",
       {2, 3, 4, 5},
       4,
       512,
       {{{0, 2, 0, 0}, {0, 128}}, {{1, 0, 0, 0}, {2, 256}}}},
      {"compact, start = 0", {2, 3, 4, 5}, 4, 160, {{{1, 2, 3, 4}, {2, 156}}}},
      {"compact, start = 2", {2, 3, 4, 5}, 4, 320, {{{1, 2, 3, 4}, {0, 316}}}},
      {"matrix 40, start = 0", {2, 40}, 4, 512, {{{1, 0}, {0, 256}}}},
      {"matrix 20, start = 0", {2, 40}, 4, 256, {{{1, 0}, {0, 128}}}},
      {"matrix 15, start = 0", {2, 40}, 4, 256, {{{0, 39}, {2, 36}}}},
      {"matrix 10, start = 0", {2, 40}, 4, 256, {{{1, 0}, {0, 128}}}},
      {"matrix 8, start = 0", {2, 40}, 4, 512, {{{0, 32}, {0, 128}}}},
      {"matrix 6, start = 0", {2, 40}, 4, 512, {{{0, 32}, {1, 136}}}},
      {"aligned, start = 0, pack = n4",
       {6, 5, 4, 5},
       1,
       512,
       {{{3, 0, 0, 0}, {0, 3}},
        {{4, 0, 0, 0}, {0, 256}},
        {{5, 4, 3, 4}, {0, 461}}}},
      {"aligned, start = 0, pack = n2",
       {3, 5, 4, 5},
       2,
       512,
       {{{2, 0, 0, 0}, {0, 256}}, {{2, 4, 3, 4}, {0, 460}}}},
      {"compact, start = 0, pack = ic2",
       {3, 5, 3, 3},
       4,
       288,
       {{{1, 0, 0, 0}, {0, 4}}, {{2, 4, 2, 2}, {0, 280}}}},
  };
  for (const Row &row : rows) {
    SCOPED_TRACE(row.layout);
    NpuScatterAttr layout = getLayout("#layout.npu_scatter<" + row.layout + ">",
                                      getTarget(4, 1024, 128));
    ASSERT_TRUE(getType(row.shape, row.bytes, layout)) << lastError;
    LayoutMap map = getMap(row.shape, row.bytes, layout);
    EXPECT_EQ((*map.storageExtent(row.shape))[1] * row.bytes, row.bytesPerCore);
    for (const Probe &probe : row.probes)
      EXPECT_EQ(forward(map, probe.index, row.shape, row.bytes), probe.point);
  }
}

TEST_F(NpuScatterTest, MovingTheStartUnitCanDoubleTheMemory) {
  npu::ChipAttr bm1684 = getTarget(64, 524288, 128);
  Index shape{1, 64, 56, 56};
  for (auto [start, expected] : {std::pair(0, 12544), std::pair(1, 25088)}) {
    NpuScatterAttr layout = getLayout(
        "#layout.npu_scatter<aligned, start = " + std::to_string(start) + ">",
        bm1684);
    EXPECT_EQ((*getMap(shape, 4, layout).storageExtent(shape))[1] * 4,
              expected);
  }
}

//===----------------------------------------------------------------------===//
// Random layouts
//===----------------------------------------------------------------------===//

/// The parameters of a layout, and the formula of section 3.4 on them.
struct Numbers {
  std::string mode, pack;
  int64_t X, S, EU, Q, R, P, e, width;
  Index given; // the strides of a strided layout
  Index shape; // as written: 2 sizes for a matrix

  Index as4D() const {
    if (mode != "matrix")
      return shape;
    return {shape[0], (shape[1] + width - 1) / width, 1, width};
  }
  int64_t rows() const { return (Q + as4D()[1] + X - 1) / X; }
  Index strides() const {
    if (mode == "strided")
      return given;
    Index s = as4D();
    int64_t U = P * e, A = mode == "compact" ? 4 : EU;
    int64_t sC = s[2] * s[3];
    if (A > U)
      sC = (sC * U + A - 1) / A * A / U;
    return {sC * rows(), sC, s[3], 1};
  }
  Point address(const Index &index) const {
    int64_t n = index[0], c = index[1], h = 0, w = 0;
    if (mode == "matrix") {
      c = index[1] / width;
      w = index[1] % width;
    } else {
      h = index[2];
      w = index[3];
    }
    Index s = strides();
    int64_t row = (Q + c) / X;
    return {(Q + c) % X,
            R + P * e * (n / P * s[0] + row * s[1] + h * s[2] + w * s[3]) +
                e * (n % P)};
  }
  int64_t reserved() const {
    return R + P * e * ((shape[0] + P - 1) / P) * strides()[0];
  }
  std::string text() const {
    std::string result = "#layout.npu_scatter<" + mode;
    if (mode == "matrix")
      result += " " + std::to_string(width);
    if (mode == "strided")
      for (size_t i = 0; i < 4; ++i)
        result +=
            (i ? ", " : " [") + std::to_string(given[i]) + (i == 3 ? "]" : "");
    result += ", start = " + std::to_string(Q);
    if (!pack.empty())
      result += ", pack = " + pack;
    return result + ", offset = " + std::to_string(R) + ">";
  }
};

class RandomNpuScatterTest : public NpuScatterTest {
protected:
  int64_t below(int64_t n) { return random() % n; }

  Numbers get() {
    Numbers x;
    x.mode = std::vector<std::string>{"aligned", "compact", "matrix",
                                      "strided"}[below(4)];
    x.X = 1 + below(7);
    x.S = 1 << 16;
    x.EU = 1 << below(8);
    x.Q = below(x.X);
    x.P = 1;
    x.e = 1 << below(4);
    switch (below(4)) {
    case 0:
      x.pack = "n4", x.P = 4, x.e = 1;
      break;
    case 1:
      x.pack = "n2", x.P = 2, x.e = 2;
      break;
    case 2:
      if (x.mode == "compact")
        x.pack = "ic2", x.P = 2, x.e = below(2) ? 4 : 1;
      break;
    }
    // A multiple of the alignment of the mode.
    x.R = below(3) * std::max({x.EU, x.P * x.e, int64_t(4)});
    if (x.mode == "matrix") {
      x.shape = {1 + below(6), 1 + below(40)};
      x.width = 1 + below(x.shape[1]);
    } else {
      x.shape = {1 + below(6), 1 + below(12), 1 + below(4), 1 + below(4)};
      x.width = 0;
    }
    if (x.mode == "strided") {
      // Some strides are tight, some leave gaps, some overlap.
      int64_t sW = 1 + below(2), sH = x.shape[3] * sW + below(3) - 1;
      int64_t sC = std::max<int64_t>(x.shape[2] * sH + below(3) - 1, 0);
      x.given = {sC * (x.rows() - below(2)) + below(2), sC, sH, sW};
    }
    return x;
  }

  static constexpr uint32_t kSeed = 20240817;
  std::mt19937 random{kSeed};
};

TEST_F(RandomNpuScatterTest, AgreeWithTheFormulaOnEveryIndex) {
  int accepted = 0, refused = 0, narrow = 0, scanned = 0;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    Numbers x = get();
    NpuScatterAttr layout = getLayout(x.text(), getTarget(x.X, x.S, x.EU));
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", layout " +
                 std::to_string(i) + ": " + x.text() + ", X = " +
                 std::to_string(x.X) + ", EU = " + std::to_string(x.EU) +
                 " on " + testing::PrintToString(x.shape));
    std::set<Point> image;
    bool injective = true;
    int64_t reached = 0;
    LayoutMap map = getMap(x.shape, x.e, layout);
    forEachIndex(x.shape, [&](const Index &index) {
      Point expected = x.address(index);
      ASSERT_EQ(forward(map, index, x.shape, x.e), expected);
      injective &= image.insert(expected).second;
      reached = std::max(
          reached, expected.second - expected.second % (x.P * x.e) + x.P * x.e);
    });
    EXPECT_EQ((*map.storageExtent(x.shape))[0], x.X);
    EXPECT_EQ((*map.storageExtent(x.shape))[1] * x.e,
              std::max(x.reserved(), reached));

    // The type is valid iff no two elements share a byte.
    EXPECT_EQ(static_cast<bool>(getType(x.shape, x.e, layout)), injective)
        << lastError;
    ++(injective ? accepted : refused);
    narrow += injective && x.strides()[0] < x.rows() * x.strides()[1];
    if (!injective)
      continue;
    // All points of small units, including padding.
    SmallVector<int64_t> extent = *map.storageExtent(x.shape);
    if (extent[0] * extent[1] > 100)
      continue;
    ++scanned;
    int64_t images = 0;
    for (int64_t unit = 0; unit < extent[0]; ++unit)
      for (int64_t offset = 0; offset < extent[1]; ++offset)
        if (auto index = map.backward({unit, offset}, x.shape)) {
          ++images;
          ASSERT_EQ(x.address(Index(index->begin(), index->end())),
                    Point(unit, offset * x.e));
        }
    EXPECT_EQ(images, int64_t(image.size()));
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 50);
  EXPECT_GT(narrow, 10);
  EXPECT_GT(scanned, 50);
}

TEST_F(RandomNpuScatterTest, CanonicalTextReadsBack) {
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    Numbers x = get();
    NpuScatterAttr layout = getLayout(x.text(), getTarget(x.X, x.S, x.EU));
    LayoutMap map = getMap(x.shape, x.e, layout);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + x.text() + " is " +
                 map.str());
    EXPECT_EQ(parse("#layout.map<" + map.str() + ">"),
              Attribute(MapAttr::get(&context, map)));
  }
}

TEST_F(RandomNpuScatterTest, UnknownSizesGiveTheSameMap) {
  int64_t unknown = ShapedType::kDynamic;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    Numbers x = get();
    if (x.mode == "strided")
      continue;
    NpuScatterAttr layout = getLayout(x.text(), getTarget(x.X, x.S, x.EU));
    Index shape = x.shape;
    for (int64_t &size : shape)
      size = below(2) ? unknown : size;
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + x.text() + " on " +
                 testing::PrintToString(shape));
    EXPECT_TRUE(getType(shape, x.e, layout)) << lastError;
    LayoutMap map = getMap(shape, x.e, layout);
    EXPECT_TRUE(map == getMap(x.shape, x.e, layout));
    EXPECT_EQ(parse("#layout.map<" + map.str() + ">"),
              Attribute(MapAttr::get(&context, map)));
  }
}

TEST_F(RandomNpuScatterTest, AChannelSliceIsAStridedScatter) {
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    Numbers x = get();
    // Strided layouts do not pack weights.
    if (x.mode == "matrix" || x.pack == "ic2")
      continue;
    npu::ChipAttr target = getTarget(x.X, x.S, x.EU);
    LayoutMap whole = getMap(x.shape, x.e, getLayout(x.text(), target));
    int64_t first = below(x.shape[1]);
    Numbers part = x;
    part.mode = "strided";
    part.given = x.strides();
    part.shape[1] = 1 + below(x.shape[1] - first);
    part.Q = (x.Q + first) % x.X;
    part.R = x.R + x.P * x.e * ((x.Q + first) / x.X) * x.strides()[1];
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ": " + x.text() +
                 " from channel " + std::to_string(first) + " is " +
                 part.text());
    LayoutMap slice = getMap(part.shape, x.e, getLayout(part.text(), target));
    forEachIndex(part.shape, [&](const Index &index) {
      Index inWhole = index;
      inWhole[1] += first;
      ASSERT_EQ(forward(slice, index, part.shape, x.e),
                forward(whole, inWhole, x.shape, x.e));
    });
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

TEST_F(NpuScatterTest, TheTargetIsFilledInOnce) {
  npu::ChipAttr small = getTarget(4, 1024, 128);
  npu::ChipAttr large = getTarget(64, 524288, 64);
  auto scatter = cast<LayoutAttrInterface>(
      parse("#layout.npu_scatter<aligned, start = 2>"));
  auto placed = cast<LayoutAttrInterface>(scatter.withTarget(small));
  EXPECT_EQ(cast<NpuScatterAttr>(placed).getTarget(), small);
  EXPECT_EQ(placed.withTarget(large), placed);
  // A target that is not an NPU has no such parameters.
  EXPECT_EQ(scatter.withTarget(StringAttr::get(&context, "cpu")), scatter);
  for (const char *text : {"#layout.npu_scatter<continuous>",
                           "#layout.blocked<\"AB\" to \"BA\">"}) {
    auto layout = cast<LayoutAttrInterface>(parse(text));
    EXPECT_EQ(layout.withTarget(small), layout);
  }
  auto padded = cast<LayoutAttrInterface>(
      parse("#layout.padded<#layout.npu_scatter<aligned, start = 2>, zero>"));
  EXPECT_EQ(padded.withTarget(small),
            Attribute(PaddedAttr::get(&context, placed, TypedAttr())));
}

TEST_F(NpuScatterTest, AFilledInTargetThatDoesNotFitIsAnError) {
  NpuScatterAttr layout = getLayout("#layout.npu_scatter<aligned, start = 4>",
                                    getTarget(4, 1024, 128));
  EXPECT_FALSE(getType({2, 3, 4, 5}, 4, layout));
  EXPECT_NE(lastError.find("starts at core 4 of a target with 4 cores"),
            std::string::npos)
      << lastError;
}

TEST_F(NpuScatterTest, StoredDimsAreTheUnitsAndTheirPositions) {
  npu::ChipAttr target = getTarget(4, 1024, 128);
  auto extents = [&](const std::string &text, const Index &shape,
                     int64_t bytes) {
    Index result;
    for (const BoundedIndex &dim :
         getLayout(text, target).getStoredDims(shape, getElement(bytes)))
      result.push_back(*dim.extent.evaluate(shape));
    return result;
  };
  EXPECT_EQ(extents("#layout.npu_scatter<aligned, start = 2>", {2, 3, 4, 5}, 4),
            (Index{4, 128}));
  EXPECT_EQ(extents("#layout.npu_scatter<compact, start = 0, pack = n4>",
                    {6, 5, 4, 5}, 1),
            (Index{4, 320}));
  EXPECT_EQ(extents("#layout.npu_scatter<matrix 15, start = 0>", {2, 40}, 4),
            (Index{4, 64}));
  EXPECT_EQ(extents("#layout.npu_scatter<continuous>", {2, 3, 4, 5}, 4),
            (Index{2, 3, 4, 5}));
}

} // namespace
