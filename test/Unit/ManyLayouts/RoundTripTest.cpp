//===- RoundTripTest.cpp - Text of the whole grammar, parsed and printed --===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random texts of #layout.map: all primitives at any depth, explicit strides,
// sizes, stated extents, replicas, and all spaces. The parsed map is compared
// with the arithmetic of the text, and the printed map parses as the same
// attribute (L5). LAYOUT_TEST_SEED and LAYOUT_TEST_COUNT set the seed and the
// number of texts:
//
//   LAYOUT_TEST_COUNT=1000000 ManyLayoutsTests --gtest_filter='*RoundTrip*'
//
//===----------------------------------------------------------------------===//

#include "RandomMaps.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <iostream>
#include <map>
#include <regex>

using namespace layout_test;
using namespace mlir::layout;

namespace {

uint64_t getNumber(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// The number of texts per context, which keeps all attributes alive.
constexpr uint64_t kTextsPerContext = 1 << 14;

struct Written {
  unsigned rank;
  Index replicas;
  std::vector<Expr> coordinates;
  std::vector<int64_t> extents; // -1: as the text implies
  std::string text;
};

/// Draws a map in one of the spaces, or in a user-defined one.
Written write(RandomMaps &random) {
  static const std::vector<std::vector<std::string>> spaces = {
      {"buffer", "offset"},
      {"image2d", "x", "y", "lane"},
      {"npu", "npu", "offset"},
      {"mesh", "u", "v"},
      {"image3d", "x", "y", "z", "lane"}};
  Written w;
  w.rank = random.below(4);
  std::string replicas, coordinates, dims;
  for (int64_t r = random.below(5) ? 0 : 1 + random.below(2); r > 0; --r) {
    replicas += (replicas.empty() ? "" : ", ") +
                ("r" + std::to_string(w.replicas.size())) + " : ";
    w.replicas.push_back(1 + random.below(4));
    replicas += std::to_string(w.replicas.back());
  }
  if (w.rank + w.replicas.size() == 0)
    w.rank = 1;
  for (unsigned d = 0; d < w.rank; ++d)
    dims += (d ? ", d" : "d") + std::to_string(d);
  const auto &space = spaces[random.below(2) ? 0 : random.below(spaces.size())];
  unsigned numDims = w.rank + w.replicas.size();
  bool isGroup = space.size() == 2 && random.below(2);
  if (isGroup) {
    Expr group{Expr::Group, 0, 0, {}};
    for (int64_t n = 1 + random.below(4); n > 0; --n)
      group.args.push_back(random.written(w.rank, numDims, 3));
    coordinates = group.text(w.rank);
    coordinates = coordinates.substr(1, coordinates.size() - 2);
    w.coordinates.push_back(group);
    w.extents.push_back(-1);
  }
  for (size_t c = 1; c < space.size() && !isGroup; ++c) {
    w.coordinates.push_back(random.written(w.rank, numDims, 4));
    w.extents.push_back(random.below(4) ? -1 : random.below(50));
    coordinates += (c > 1 ? ", " : "") + space[c] + " = " +
                   w.coordinates.back().text(w.rank);
    if (w.extents.back() >= 0)
      coordinates += " extent " + std::to_string(w.extents.back());
  }
  w.text = "#layout.map<(" + dims + ")" +
           (replicas.empty() ? "" : " replicate(" + replicas + ")") + " -> " +
           space[0] + "(" + coordinates + ")>";
  return w;
}

std::string print(mlir::Attribute attr) {
  std::string text;
  llvm::raw_string_ostream os(text);
  attr.print(os);
  return text;
}

/// Checks that the parsed map has the numbers of the text.
void checkValues(const Written &w, const LayoutMap &map, RandomMaps &random) {
  Index sizes = random.sizes(w.rank, 9), box = sizes;
  box.insert(box.end(), w.replicas.begin(), w.replicas.end());
  auto extents = map.storageExtent(sizes);
  ASSERT_TRUE(extents.has_value());
  for (size_t c = 0; c < w.coordinates.size(); ++c) {
    int64_t extent =
        w.extents[c] < 0 ? w.coordinates[c].extent(box) : w.extents[c];
    ASSERT_EQ((*extents)[c], std::max<int64_t>(extent, 0));
  }
  LayoutMap special = map.specialize(sizes);
  Index index = box;
  for (int i = 0; i < 3; ++i) {
    for (size_t d = 0; d < box.size(); ++d)
      index[d] = d < w.rank ? random.below(box[d]) : 0;
    llvm::ArrayRef<int64_t> logical(index.data(), w.rank);
    auto point = map.forward(logical, sizes);
    auto same = special.forward(logical, sizes);
    ASSERT_TRUE(point && same);
    for (size_t c = 0; c < w.coordinates.size(); ++c) {
      ASSERT_EQ((*point)[c], w.coordinates[c].value(index, box));
      ASSERT_EQ((*same)[c], (*point)[c]);
    }
  }
}

TEST(RoundTrip, PrintedMapsReadBackAsTheSameAttribute) {
  uint64_t seed = getNumber("LAYOUT_TEST_SEED", 20261122);
  uint64_t count = getNumber("LAYOUT_TEST_COUNT", 20000), failures = 0;
  std::cout << "seed " << seed << ", " << count << " texts\n";
  RandomMaps random(seed);
  std::unique_ptr<mlir::MLIRContext> context;
  for (uint64_t i = 0; i < count && failures < 20; ++i) {
    if (i % kTextsPerContext == 0) {
      context = std::make_unique<mlir::MLIRContext>();
      context->loadDialect<LayoutDialect>();
    }
    Written w = write(random);
    mlir::Attribute read = mlir::parseAttribute(w.text, context.get());
    ASSERT_TRUE(read) << "text " << i << ": " << w.text;
    LayoutMap map = mlir::cast<MapAttr>(read).getMap();
    SCOPED_TRACE("text " + std::to_string(i) + ": " + w.text);
    checkValues(w, map, random);
    std::vector<mlir::Attribute> forms{
        read,
        MapAttr::get(context.get(), map.specialize(random.sizes(w.rank, 9)))};
    for (mlir::Attribute form : forms) {
      std::string text = print(form);
      mlir::Attribute again = mlir::parseAttribute(text, context.get());
      EXPECT_EQ(again, form) << text << "\n"
                             << (again ? print(again) : "not read");
      failures += again != form;
    }
    if (testing::Test::HasFatalFailure())
      return;
  }
}

/// The properties of a map on a box, by evaluating its text at every index.
struct Facts {
  bool isInside = true, isInjective = true;
  std::vector<std::map<int64_t, Index>> reached; // of each coordinate
  std::map<Index, Index> indexOf;

  Facts(const Written &w, const Index &box) : reached(w.coordinates.size()) {
    forEachIndex(box, [&](const Index &index) {
      Index point;
      for (size_t c = 0; c < w.coordinates.size(); ++c) {
        int64_t value = w.coordinates[c].value(index, box);
        int64_t extent =
            w.extents[c] < 0 ? w.coordinates[c].extent(box) : w.extents[c];
        isInside &= 0 <= value && value < extent;
        reached[c].emplace(value, index);
        point.push_back(value);
      }
      // Replicas of one index may share a point.
      Index logical(index.begin(), index.begin() + w.rank);
      isInjective &= indexOf.emplace(point, logical).first->second == logical;
    });
  }
};

Index readIndex(const std::string &text) {
  Index index;
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [number, more] = rest.split(',');
    index.push_back(std::stoll(number.trim().str()));
    rest = more;
  }
  return index;
}

/// Returns true if an index is at the same point for all values of a dim.
bool isUncounted(const Written &w, const Index &box, unsigned d) {
  bool isSame = true;
  forEachIndex(box, [&](const Index &index) {
    Index first = index;
    first[d] = 0;
    for (const Expr &coordinate : w.coordinates)
      isSame &= coordinate.value(index, box) == coordinate.value(first, box);
  });
  return isSame;
}

/// Checks the numbers in a refusal. Returns how many of its sentences were
/// parsed.
int checkFailureReason(const std::string &message, const Written &w,
                       const LayoutMap &map, const Index &box,
                       const Facts &facts) {
  static const std::regex below("maps an index to ([a-z]+) (-?[0-9]+), below");
  static const std::regex above(
      "they reach ([a-z]+) (-?[0-9]+), the extent is (-?[0-9]+)");
  static const std::regex shared("indices \\(([^)]*)\\) and \\(([^)]*)\\)");
  std::smatch found;
  auto find = [&](const std::string &name) {
    size_t c = 0;
    while (map.getCoordinates()[c].name != name)
      ++c;
    return c;
  };
  if (std::regex_search(message, found, below)) {
    int64_t value = std::stoll(found[2]);
    EXPECT_LT(value, 0);
    EXPECT_TRUE(facts.reached[find(found[1])].count(value)) << message;
    return 1;
  }
  if (std::regex_search(message, found, above)) {
    size_t c = find(found[1]);
    int64_t extent =
        w.extents[c] < 0 ? w.coordinates[c].extent(box) : w.extents[c];
    EXPECT_EQ(std::stoll(found[3]), extent);
    EXPECT_GE(std::stoll(found[2]), extent);
    EXPECT_TRUE(facts.reached[c].count(std::stoll(found[2]))) << message;
    return 1;
  }
  if (std::regex_search(message, found, shared)) {
    // Replicas have the numbers of the canonical form, not those of the text.
    if (!w.replicas.empty())
      return 1;
    Index a = readIndex(found[1]), b = readIndex(found[2]);
    EXPECT_NE(a, b);
    for (const Expr &coordinate : w.coordinates)
      EXPECT_EQ(coordinate.value(a, box), coordinate.value(b, box)) << message;
    return 1;
  }
  if (message.find("a replica that no coordinate uses") != std::string::npos) {
    bool isTrue = false;
    for (unsigned d = w.rank; d < box.size(); ++d)
      isTrue |= isUncounted(w, box, d);
    EXPECT_TRUE(isTrue) << message;
    return 1;
  }
  return 0;
}

TEST(RoundTrip, RefusalsStateTrueNumbers) {
  uint64_t seed = getNumber("LAYOUT_TEST_SEED", 20261123);
  uint64_t count = getNumber("LAYOUT_TEST_COUNT", 4000);
  std::cout << "seed " << seed << ", " << count << " texts\n";
  RandomMaps random(seed);
  std::unique_ptr<mlir::MLIRContext> context;
  int refused = 0, understood = 0;
  for (uint64_t i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    if (i % kTextsPerContext == 0) {
      context = std::make_unique<mlir::MLIRContext>();
      context->loadDialect<LayoutDialect>();
    }
    Written w = write(random);
    auto attr =
        mlir::cast<MapAttr>(mlir::parseAttribute(w.text, context.get()));
    Index sizes = random.sizes(w.rank, 5), box = sizes;
    box.insert(box.end(), w.replicas.begin(), w.replicas.end());
    SCOPED_TRACE("text " + std::to_string(i) + ": " + w.text + " on " +
                 testing::PrintToString(sizes));
    std::string message;
    mlir::ScopedDiagnosticHandler handler(
        context.get(), [&](mlir::Diagnostic &diag) { message = diag.str(); });
    auto loc = mlir::UnknownLoc::get(context.get());
    bool isValid = mlir::succeeded(verifyLayout(
        attr.getMap(), attr, sizes, mlir::Float32Type::get(context.get()),
        [&] { return mlir::emitError(loc); }));
    Facts facts(w, box);
    ASSERT_TRUE(!isValid || (facts.isInside && facts.isInjective)) << message;
    refused += !isValid;
    if (!isValid)
      understood += checkFailureReason(message, w, attr.getMap(), box, facts);
  }
  EXPECT_GT(refused, int(count / 4));
  EXPECT_GT(understood, refused * 9 / 10);
}

} // namespace
