//===- SvgTest.cpp - Contents of pictures of random layouts ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pictures are parsed as text. The evaluator of RandomMaps.h, which shares no
// code with the library, computes the position of each index.
//
//===----------------------------------------------------------------------===//

#include "layout/Visualization/Svg.h"
#include "../Algebra/RandomMaps.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <map>
#include <regex>
#include <set>

using namespace layout_test;
using namespace mlir::layout;
using View = PictureOptions::View;

namespace {

constexpr uint64_t kSeed = 20250307;

struct DrawnCell {
  std::string fill, title;
  int64_t x, y, width, height;
  std::string text; // its lines, joined by commas
};

struct DrawnLabel {
  int64_t x, y;
  std::string style, text;
};

struct Drawn {
  bool ok = false;
  std::string error, svg;
  std::vector<DrawnCell> cells;
  std::vector<DrawnLabel> labels; // around the cells
  std::set<std::string> texts;
};

Drawn draw(const LayoutMap &map, const Index &sizes,
           const PictureOptions &options = {}) {
  Drawn result;
  llvm::raw_string_ostream os(result.svg);
  result.ok = succeeded(
      drawSvg(map, sizes, options, os, [&](const llvm::Twine &message) {
        EXPECT_TRUE(result.error.empty())
            << "a second error: " << message.str();
        result.error = message.str();
      }));
  EXPECT_EQ(result.ok, result.error.empty());
  EXPECT_EQ(result.ok, !result.svg.empty());

  static const std::regex cellLine(
      "<rect class=\"(\\w+)\" x=\"(\\d+)\" y=\"(\\d+)\" width=\"(\\d+)\" "
      "height=\"(\\d+)\"><title>(.*)</title></rect>");
  static const std::regex textLine("<text x=\"(\\d+)\" y=\"(\\d+)\"(?: "
                                   "class=\"([^\"]*)\")?>(.*)</text>");
  std::istringstream stream(result.svg);
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_match(line, match, cellLine)) {
      result.cells.push_back({match[1], match[6], std::stoll(match[2]),
                              std::stoll(match[3]), std::stoll(match[4]),
                              std::stoll(match[5]), ""});
    } else if (std::regex_match(line, match, textLine)) {
      result.texts.insert(match[4]);
      if (result.cells.empty()) {
        result.labels.push_back(
            {std::stoll(match[1]), std::stoll(match[2]), match[3], match[4]});
      } else {
        std::string &text = result.cells.back().text;
        text += (text.empty() ? "" : ",") + match[4].str();
      }
    }
  }
  return result;
}

std::string toText(const Index &index) {
  std::string text = "(";
  for (size_t i = 0; i < index.size(); ++i)
    text += (i ? ", " : "") + std::to_string(index[i]);
  return text + ")";
}

/// A map whose coordinates are groups of the digits of one random expression.
struct RandomPicture {
  LayoutMap map;
  std::vector<std::string> names;
  std::vector<Expr> coordinates;
  Index sizes;

  int64_t numPositions() const {
    int64_t product = 1;
    for (const Expr &coordinate : coordinates)
      product *= coordinate.extent(sizes);
    return product;
  }
  /// Returns e.g. "x 3, y 0, lane 2".
  std::string pointText(const Index &index) const {
    std::string text;
    for (size_t c = 0; c < names.size(); ++c)
      text += (c ? ", " : "") + names[c] + " " +
              std::to_string(coordinates[c].value(index, sizes));
    return text;
  }
};

RandomPicture makePicture(RandomMaps &random) {
  static const std::pair<const char *, std::vector<std::string>> spaces[] = {
      {"buffer", {"offset"}},
      {"image2d", {"x", "y", "lane"}},
      {"npu", {"npu", "offset"}},
      {"mesh", {"row", "column", "bank", "offset"}}};
  RandomPicture result;
  unsigned rank = 1 + random.below(4);
  const auto &[space, names] = spaces[random.below(4)];
  result.names = names;
  result.sizes = random.sizes(rank, 6);
  result.coordinates.assign(names.size(), Expr{Expr::Group, 0, 0, {}});
  for (const Expr &digit : random.nested(rank).args)
    result.coordinates[random.below(names.size())].args.push_back(digit);
  std::vector<Coordinate> coordinates;
  for (size_t c = 0; c < names.size(); ++c) {
    BoundedIndex sized = result.coordinates[c].build();
    coordinates.push_back({names[c], sized.value, sized.extent});
  }
  result.map = LayoutMap::get(rank, space, std::move(coordinates));
  return result;
}

template <typename Check> void forRandomPictures(uint64_t seed, Check check) {
  RandomMaps random(seed);
  int drawn = 0;
  while (drawn < 150 && !testing::Test::HasFailure()) {
    RandomPicture picture = makePicture(random);
    if (picture.numPositions() > 4096)
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", picture " +
                 std::to_string(drawn++) + ": " + picture.map.str() + " on " +
                 testing::PrintToString(picture.sizes));
    check(picture, random);
  }
}

/// Draws options that cover all combinations.
PictureOptions makeOptions(RandomMaps &random, View view) {
  PictureOptions options;
  options.view = view;
  options.columns = random.below(3) ? 0 : 1 + random.below(40);
  return options;
}

TEST(Svg, StorageShowsEachIndexOnceWhereItIsStoredAndHatchesTheRest) {
  forRandomPictures(kSeed, [](const RandomPicture &picture,
                              RandomMaps &random) {
    Drawn drawn =
        draw(picture.map, picture.sizes, makeOptions(random, View::Storage));
    ASSERT_TRUE(drawn.ok) << drawn.error;
    std::map<std::string, int> titles;
    int64_t padding = 0;
    for (const DrawnCell &cell : drawn.cells) {
      ++titles[cell.title];
      bool isPadding = cell.title.rfind("padding at ", 0) == 0;
      ASSERT_EQ(cell.fill == "pad", isPadding) << cell.title;
      ASSERT_EQ(cell.text.empty(), isPadding) << cell.title;
      padding += isPadding;
    }
    int64_t elements = 0;
    forEachIndex(picture.sizes, [&](const Index &index) {
      ++elements;
      std::string title = toText(index) + " at " + picture.pointText(index);
      ASSERT_EQ(titles[title], 1) << title;
    });
    ASSERT_EQ(int64_t(drawn.cells.size()), picture.numPositions());
    ASSERT_EQ(padding, picture.numPositions() - elements);
    ASSERT_EQ(titles.size(), drawn.cells.size()) << "a position twice";
  });
}

TEST(Svg, LogicalShowsEachIndexOnceWithItsPoint) {
  forRandomPictures(kSeed + 1, [](const RandomPicture &picture,
                                  RandomMaps &random) {
    Drawn drawn =
        draw(picture.map, picture.sizes, makeOptions(random, View::Logical));
    ASSERT_TRUE(drawn.ok) << drawn.error;
    std::map<std::string, const DrawnCell *> cells;
    for (const DrawnCell &cell : drawn.cells)
      ASSERT_TRUE(cells.insert({cell.title, &cell}).second) << cell.title;
    int64_t elements = 0;
    forEachIndex(picture.sizes, [&](const Index &index) {
      ++elements;
      std::string title = toText(index) + " at " + picture.pointText(index);
      ASSERT_TRUE(cells.count(title)) << title;
      std::string text;
      for (size_t c = 0; c < picture.names.size(); ++c) {
        int64_t x = picture.coordinates[c].value(index, picture.sizes);
        bool isLane = picture.names[c] == "lane" && x < 4;
        text += (c ? "," : "") +
                (isLane ? std::string(1, "RGBA"[x]) : std::to_string(x));
      }
      ASSERT_EQ(cells[title]->text, text);
    });
    ASSERT_EQ(int64_t(drawn.cells.size()), elements);
  });
}

TEST(Svg, LabelsAreTheIndexWithoutDimsOfOneIndex) {
  forRandomPictures(
      kSeed + 2, [](const RandomPicture &picture, RandomMaps &random) {
        PictureOptions numbers = makeOptions(random, View::Storage);
        numbers.label = PictureOptions::Label::Number;
        std::map<std::string, std::string> tuple, number;
        for (const DrawnCell &cell : draw(picture.map, picture.sizes).cells)
          tuple[cell.title] = cell.text;
        for (const DrawnCell &cell :
             draw(picture.map, picture.sizes, numbers).cells)
          number[cell.title] = cell.text;
        int64_t next = 0;
        forEachIndex(picture.sizes, [&](const Index &index) {
          std::string title = toText(index) + " at " + picture.pointText(index);
          std::string text;
          for (size_t d = 0; d < index.size(); ++d)
            if (picture.sizes[d] != 1)
              text += (text.empty() ? "" : ",") + std::to_string(index[d]);
          ASSERT_EQ(tuple[title], text.empty() ? "0" : text);
          ASSERT_EQ(number[title], std::to_string(next++));
        });
      });
}

TEST(Svg, CellsLieInsideAndDoNotOverlap) {
  for (View view : {View::Storage, View::Logical})
    forRandomPictures(kSeed + 3, [&](const RandomPicture &picture,
                                     RandomMaps &random) {
      Drawn drawn = draw(picture.map, picture.sizes, makeOptions(random, view));
      std::smatch size;
      ASSERT_TRUE(std::regex_search(
          drawn.svg, size, std::regex(" width=\"(\\d+)\" height=\"(\\d+)\"")));
      std::set<std::pair<int64_t, int64_t>> corners;
      int64_t width = drawn.cells.front().width;
      int64_t height = drawn.cells.front().height;
      for (const DrawnCell &cell : drawn.cells) {
        ASSERT_EQ(cell.width, width);
        ASSERT_EQ(cell.height, height);
        ASSERT_GT(cell.x, 0);
        ASSERT_GT(cell.y, 0);
        ASSERT_LT(cell.x + width, std::stoll(size[1]));
        ASSERT_LT(cell.y + height, std::stoll(size[2]));
        corners.insert({cell.x, cell.y});
      }
      ASSERT_EQ(corners.size(), drawn.cells.size());
      // For cells of equal size, it is enough to compare each corner with its
      // neighbors in a grid of that size.
      std::map<std::pair<int64_t, int64_t>,
               std::vector<std::pair<int64_t, int64_t>>>
          grid;
      for (auto [x, y] : corners)
        grid[{x / width, y / height}].push_back({x, y});
      for (auto [x, y] : corners)
        for (int64_t i = x / width - 1; i <= x / width + 1; ++i)
          for (int64_t j = y / height - 1; j <= y / height + 1; ++j)
            for (auto [u, v] : grid[{i, j}]) {
              bool apart = (u == x && v == y) || std::abs(u - x) >= width ||
                           std::abs(v - y) >= height;
              ASSERT_TRUE(apart);
            }
    });
}

TEST(Svg, LabelsOfRowAndColumnAddUpToTheOffset) {
  forRandomPictures(kSeed + 5, [](const RandomPicture &picture,
                                  RandomMaps &random) {
    if (picture.names.size() != 1)
      return;
    Drawn drawn =
        draw(picture.map, picture.sizes, makeOptions(random, View::Storage));
    for (const DrawnCell &cell : drawn.cells) {
      // The closest number to the left, and the closest above.
      const DrawnLabel *row = nullptr, *column = nullptr;
      for (const DrawnLabel &label : drawn.labels) {
        if (label.style == "m" && label.y == cell.y + cell.height / 2 + 4 &&
            label.x < cell.x && (!row || label.x > row->x))
          row = &label;
        if (label.style == "c" && label.x == cell.x + cell.width / 2 &&
            label.y < cell.y && (!column || label.y > column->y))
          column = &label;
      }
      int64_t offset = row ? std::stoll(row->text) : 0;
      if (column) {
        ASSERT_EQ(column->text[0] == '+', row != nullptr) << cell.title;
        offset += std::stoll(column->text);
      }
      std::string suffix = " at offset " + std::to_string(offset);
      ASSERT_EQ(cell.title.substr(cell.title.size() - suffix.size()), suffix)
          << cell.title;
    }
  });
}

TEST(Svg, TheSameArgumentsGiveTheSameBytes) {
  forRandomPictures(kSeed + 4, [](const RandomPicture &picture, RandomMaps &) {
    ASSERT_EQ(draw(picture.map, picture.sizes).svg,
              draw(picture.map, picture.sizes).svg);
  });
}

TEST(Svg, ReplicasAreShownEach) {
  // Two copies, the second one after all elements of the first.
  BoundedIndex replica = mod(BoundedIndex::dim(1), 2);
  BoundedIndex offset = group({replica, BoundedIndex::dim(0)});
  LayoutMap map =
      LayoutMap::get(1, "buffer", {{"offset", offset.value, offset.extent}}, 2);
  Drawn storage = draw(map, {3});
  ASSERT_TRUE(storage.ok) << storage.error;
  ASSERT_EQ(storage.cells.size(), 6u);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(storage.cells[i].title,
              "(" + std::to_string(i % 3) + ") at offset " + std::to_string(i));
  PictureOptions options;
  options.view = View::Logical;
  Drawn logical = draw(map, {3}, options);
  ASSERT_EQ(logical.cells.size(), 3u);
  EXPECT_EQ(logical.cells[1].title, "(1) at offset 1 and offset 4");
  EXPECT_EQ(logical.cells[1].text, "1+");
}

TEST(Svg, AShapeThatDoesNotFitIsRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  EXPECT_EQ(draw(map, {2}).error,
            "the layout has 2 dims, the shape has 1 (L1): give one size for "
            "each dim");
  EXPECT_EQ(
      draw(map, {2, kUnknownSize}).error,
      "dim 1 has a dynamic size: a picture shows one shape; state the size");
  EXPECT_EQ(draw(map, {int64_t(1) << 40, int64_t(1) << 40}).error,
            "the storage of 1099511627776x1099511627776 does not fit 64 bits "
            "(L1): draw a smaller shape");
  EXPECT_EQ(draw(map, {1000, 1000}).error,
            "a picture of 1000x1000 needs 1000000 cells, the limit is 4096: "
            "draw a smaller shape of the same structure, such as 63x63, or "
            "raise the limit");
}

TEST(Svg, TheLimitCountsWhatIsDrawn) {
  // Two elements, far apart.
  BoundedIndex offset = place({{BoundedIndex::dim(0), SizeExpr(5000)}});
  LayoutMap map =
      LayoutMap::get(1, "buffer", {{"offset", offset.value, offset.extent}});
  PictureOptions options;
  EXPECT_EQ(draw(map, {2}, options).error,
            "a picture of 2 needs 5001 cells, the limit is 4096: draw a "
            "smaller shape of the same structure, such as 1, or raise the "
            "limit");
  options.view = View::Logical;
  EXPECT_EQ(draw(map, {2}, options).cells.size(), 2u);
  options.maxCells = 1;
  EXPECT_FALSE(draw(map, {2}, options).ok);
  options.view = View::Storage;
  options.maxCells = 5001;
  EXPECT_EQ(draw(map, {2}, options).cells.size(), 5001u);
}

TEST(Svg, AMapThatIsNoLayoutIsRefused) {
  BoundedIndex sum = place({{BoundedIndex::dim(0), SizeExpr(1)},
                            {BoundedIndex::dim(1), SizeExpr(1)}});
  EXPECT_EQ(
      draw(LayoutMap::get(2, "buffer", {{"offset", sum.value, sum.extent}}),
           {2, 2})
          .error,
      "indices (0, 1) and (1, 0) have the same storage point (L1): a "
      "layout is injective");
  EXPECT_EQ(draw(LayoutMap::get(1, "buffer",
                                {{"offset", IndexExpr::dim(0), SizeExpr(2)}}),
                 {3})
                .error,
            "index (2) is stored at (2), outside of the storage (2) (L1)");
}

TEST(Svg, OptionsThatDoNotFitTheMapAreRefused) {
  LayoutMap map = LayoutMap::rowMajor(2);
  PictureOptions options;
  options.colorDim = 2;
  EXPECT_EQ(draw(map, {2, 2}, options).error,
            "there is no dim 2 to color by: the layout has 2 dims");
  options = {};
  options.dimNames = {"i"};
  EXPECT_EQ(draw(map, {2, 2}, options).error,
            "1 names for the dims of a layout that has 2: give one for each");
  options = {};
  options.columns = -1;
  EXPECT_FALSE(draw(map, {2, 2}, options).ok);
}

TEST(Svg, ColumnsBeyondTheStorageAreNotDrawn) {
  PictureOptions options;
  options.columns = std::numeric_limits<int64_t>::max();
  for (View view : {View::Storage, View::Logical}) {
    options.view = view;
    EXPECT_EQ(draw(LayoutMap::rowMajor(2), {2, 3}, options).cells.size(), 6u);
  }
}

TEST(Svg, SpacesWithUnusualCoordinatesAreDrawn) {
  BoundedIndex i = BoundedIndex::dim(0);
  for (const char *space : {"image2d", "npu", "buffer"}) {
    EXPECT_EQ(draw(LayoutMap::get(1, space, {{"x", i.value, i.extent}}), {3})
                  .cells.size(),
              3u);
    EXPECT_EQ(draw(LayoutMap::get(1, space,
                                  {{"a", IndexExpr(), SizeExpr(2)},
                                   {"b", i.value, i.extent}}),
                   {3})
                  .cells.size(),
              6u);
  }
  // A single point.
  EXPECT_EQ(draw(LayoutMap::get(0, "cell", {}), {}).cells.size(), 1u);
}

TEST(Svg, NothingStoredIsAPictureOfTheTexts) {
  Drawn drawn = draw(LayoutMap::rowMajor(2), {0, 3});
  EXPECT_TRUE(drawn.ok) << drawn.error;
  EXPECT_TRUE(drawn.cells.empty());
  EXPECT_TRUE(drawn.texts.count("nothing is stored"));
  // Storage of a tensor without elements may have positions.
  BoundedIndex padded = pad(BoundedIndex::dim(0), 1, 2);
  drawn = draw(
      LayoutMap::get(1, "buffer", {{"offset", padded.value, padded.extent}}),
      {0});
  EXPECT_TRUE(drawn.ok) << drawn.error;
  EXPECT_EQ(drawn.cells.size(), 3u);
  for (const DrawnCell &cell : drawn.cells)
    EXPECT_EQ(cell.fill, "pad");
}

TEST(Svg, TextsAreEscaped) {
  PictureOptions options;
  options.title = std::string("<&>\x01\xff") + '\0';
  options.element = "]]>";
  options.dimNames = {"<b>"};
  Drawn drawn = draw(LayoutMap::rowMajor(1), {2}, options);
  EXPECT_TRUE(drawn.texts.count("&lt;&amp;&gt;?\xEF\xBF\xBD?"));
  EXPECT_TRUE(drawn.texts.count("cells hold &lt;b&gt;"));
  EXPECT_EQ(drawn.svg.find("<b>"), std::string::npos);
  EXPECT_EQ(drawn.svg.find("]]>"), std::string::npos);
}

} // namespace
