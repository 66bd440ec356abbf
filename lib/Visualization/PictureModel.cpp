//===- PictureModel.cpp - The content of a picture ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PictureModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using namespace mlir::layout::picture;
using llvm::ArrayRef;

namespace {
class PictureModelBuilder {
public:
  PictureModelBuilder(const LayoutMap &map, const Contents &contents,
                      const PictureOptions &options)
      : map(map), contents(contents), options(options), names(options.dimNames),
        isStorage(options.view == PictureOptions::View::Storage) {
    for (unsigned d = names.size(); d < map.getRank(); ++d)
      names.push_back("d" + std::to_string(d));
    cells = readCells(map, contents, names, options);
    for (size_t r = 0; r < map.getReplicas().size(); ++r)
      names.push_back("r" + std::to_string(r));
  }

  PictureModel make();

private:
  void arrange();
  void breakLines(unsigned numLines);
  void addPanels();
  AxisLabels getAxisLabels(ArrayRef<Axis> axes,
                           llvm::function_ref<Point(int64_t)> getStart,
                           llvm::function_ref<bool(unsigned)> isCounted,
                           bool isTerse) const;
  std::string getValue(unsigned direction, int64_t value) const;
  std::string getPanelTitle(int64_t panel) const;
  std::string describeAxes() const;
  void addFacts();
  void addKinds(std::string name, int64_t size);
  void addKey();

  const LayoutMap &map;
  const Contents &contents;
  const PictureOptions &options;
  llvm::SmallVector<std::string> names; // of the dims, then the replicas
  bool isStorage;
  Cells cells;
  PanelGrid grid;
  PictureModel model;
};
} // namespace

/// Creates the cells of the model. Distributes the numbers of a label over up
/// to `numLines` lines, those of outer dims first.
void PictureModelBuilder::breakLines(unsigned numLines) {
  model.cells.clear();
  model.numChars = model.numLines = 1;
  for (const Cell &cell : cells.cells) {
    PlacedCell placed{{}, {}, cell.title, cell.fill};
    ArrayRef<std::string> rest = cell.label;
    for (unsigned line = 0; line < numLines && !rest.empty(); ++line) {
      size_t taken = llvm::divideCeil(rest.size(), numLines - line);
      placed.lines.push_back(llvm::join(rest.take_front(taken), ","));
      rest = rest.drop_front(taken);
      model.numChars =
          std::max<int64_t>(model.numChars, placed.lines.back().size());
    }
    model.numLines = std::max<int64_t>(model.numLines, placed.lines.size());
    model.cells.push_back(std::move(placed));
  }
}

/// Chooses the arrangement and the lines of labels. Labels have two lines if
/// the columns of a panel do not fit the picture with one, or if two lines make
/// all panels with long labels fit side by side. If columns do not fit with two
/// lines, arranges fewer.
void PictureModelBuilder::arrange() {
  constexpr int64_t kMaxColumns = 32;
  auto arrangeFor = [&](int64_t maxColumns) {
    return isStorage ? arrangeStorage(map, contents, names, maxColumns,
                                      options.columns)
                     : arrangeLogical(contents.sizes, names, maxColumns,
                                      options.columns);
  };
  grid = arrangeFor(kMaxColumns);
  auto fit = [&](int64_t panels) {
    int64_t width = count(grid.columns) * getCellWidth(model.numChars);
    return panels * (width + kPanelMargin) <= kPictureWidth;
  };
  bool longLabels = llvm::any_of(
      cells.cells, [](const Cell &cell) { return cell.label.size() >= 4; });
  int64_t panels = count(grid.panels);
  breakLines(1);
  bool onOneLine = fit(1);
  if (onOneLine && (fit(panels) || !longLabels))
    return;
  breakLines(2);
  if (fit(panels) || (!onOneLine && fit(1)))
    return;
  if (onOneLine) {
    breakLines(1);
    return;
  }
  int64_t fitting =
      (kPictureWidth - kPanelMargin) / getCellWidth(model.numChars);
  grid = arrangeFor(std::clamp<int64_t>(fitting, 4, kMaxColumns));
}

std::string PictureModelBuilder::getValue(unsigned direction,
                                          int64_t value) const {
  return isStorage ? getValueText(map, direction, value)
                   : std::to_string(value);
}

/// Returns the numbers of the coordinates that `axes` are parts of, in this
/// order and without repeats.
static llvm::SmallVector<unsigned> getDirections(ArrayRef<Axis> axes) {
  llvm::SmallVector<unsigned> directions;
  for (const Axis &axis : axes)
    if (!llvm::is_contained(directions, axis.coordinate))
      directions.push_back(axis.coordinate);
  return directions;
}

/// Returns the labels along one edge of a panel, one for each coordinate of
/// `axes`. The n-th row or column starts at point getStart(n). If isCounted(d),
/// because other axes of coordinate d are at another edge, its values are
/// printed as increments, such as +16. If `isTerse`, labels of increments or of
/// texts such as `NPU 2` have no title.
AxisLabels PictureModelBuilder::getAxisLabels(
    ArrayRef<Axis> axes, llvm::function_ref<Point(int64_t)> getStart,
    llvm::function_ref<bool(unsigned)> isCounted, bool isTerse) const {
  AxisLabels axisLabels;
  llvm::SmallVector<unsigned> directions = getDirections(axes);
  for (auto [r, d] : llvm::enumerate(directions)) {
    AxisLabel &axisLabel = axisLabels.emplace_back();
    if (!isTerse || (!isCounted(d) && getValue(d, 0) == "0"))
      axisLabel.title = grid.directions[d].name;
    auto outwards = ArrayRef<unsigned>(directions).take_front(r + 1);
    Point last;
    for (int64_t n = 0, end = count(axes); n < end; ++n) {
      Point start = getStart(n);
      // A text covers all rows, or columns, for which this coordinate and those
      // further out have equal values.
      bool same = !last.empty() && llvm::all_of(outwards, [&](unsigned other) {
        return start[other] == last[other];
      });
      if (same)
        ++axisLabel.bands.back().count;
      else
        axisLabel.bands.push_back({n, 1,
                                   isCounted(d) ? "+" + std::to_string(start[d])
                                                : getValue(d, start[d])});
      last = std::move(start);
    }
  }
  return axisLabels;
}

std::string PictureModelBuilder::getPanelTitle(int64_t panel) const {
  Point point = grid.getRowStart(panel, 0);
  llvm::SmallVector<std::string> parts;
  for (const Axis &axis : grid.panels) {
    if (axis.extent == 1)
      continue;
    const Direction &direction = grid.directions[axis.coordinate];
    int64_t digit = point[axis.coordinate] / axis.stride % axis.extent;
    // Print the value of a whole coordinate, e.g. of a core. Axes of linear
    // memory are printed as digits.
    bool isUnit = isStorage && axis.coordinate + 1 < point.size() &&
                  direction.axes.size() == 1;
    std::string text = getValue(axis.coordinate, digit);
    if (isUnit && text != std::to_string(digit))
      parts.push_back(text);
    else if (isUnit || axis.text.empty())
      parts.push_back(direction.name + " " + text);
    else
      parts.push_back(axis.text + " = " + std::to_string(digit));
  }
  return llvm::join(parts, ", ");
}

/// Returns, for each position, the number of gaps between the first position
/// and it. Each axis before the last one adds a gap when it advances, unless
/// the next axis is the inner part of a cut. If `separate`, the last axis does
/// so, too.
static std::vector<int64_t> findGaps(ArrayRef<Axis> axes, bool separate) {
  std::vector<int64_t> gaps(count(axes), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    // No gap at a cut, which only reflects the width of the picture.
    bool isGroup = i + 1 < axes.size() ? !axes[i + 1].text.empty() : separate;
    if (!isGroup)
      continue;
    int64_t group = count(axes.drop_front(i + 1));
    for (auto [position, gap] : llvm::enumerate(gaps))
      gap += position / group;
  }
  return gaps;
}

void PictureModelBuilder::addPanels() {
  for (auto [placed, cell] : llvm::zip_equal(model.cells, cells.cells))
    placed.place = grid.getPlace(cell.point);
  model.rowGaps = findGaps(grid.rows, false);
  model.columnGaps = findGaps(grid.columns, grid.separateColumns);
  int64_t numPanels = count(grid.panels);
  for (const Axis &axis : llvm::reverse(grid.panels))
    model.panelGroups.push_back(axis.extent * (model.panelGroups.empty()
                                                   ? 1
                                                   : model.panelGroups.back()));

  Axes elsewhere = grid.rows;
  llvm::append_range(elsewhere, grid.panels);
  model.columns = getAxisLabels(
      grid.columns, [&](int64_t n) { return grid.getColumn(n); },
      [&](unsigned d) {
        return llvm::is_contained(getDirections(elsewhere), d);
      },
      /*isTerse=*/true);
  for (int64_t panel = 0; panel < numPanels; ++panel)
    model.panels.push_back(
        {getPanelTitle(panel),
         getAxisLabels(
             grid.rows, [&](int64_t n) { return grid.getRowStart(panel, n); },
             [](unsigned) { return false; }, /*isTerse=*/false)});
}

/// Returns the line that names the digits of panels, rows and columns.
std::string PictureModelBuilder::describeAxes() const {
  llvm::SmallVector<std::string> parts;
  auto describe = [&](llvm::StringRef name, ArrayRef<Axis> axes) {
    llvm::SmallVector<std::string> texts;
    for (const Axis &axis : axes)
      if (!axis.text.empty())
        texts.push_back(axis.text);
    if (!texts.empty())
      parts.push_back((name + " " + llvm::join(texts, ", ")).str());
  };
  describe("panels", grid.panels);
  describe("rows", grid.rows);
  describe("columns", grid.columns);
  return llvm::join(parts, "; ");
}

void PictureModelBuilder::addFacts() {
  model.title = options.title.empty() ? map.str() : options.title;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "shape ";
  llvm::interleave(contents.sizes, os, "x");
  if (contents.sizes.empty())
    os << "of a scalar";
  if (!options.element.empty())
    os << " of " << options.element;
  os << ": " << contents.numIndices << " elements";
  int64_t points = contents.numPositions - contents.numPadding,
          replicas = contents.numIndices;
  for (int64_t extent : map.getReplicas())
    replicas *= extent;
  if (points == replicas)
    for (int64_t extent : map.getReplicas())
      os << " * " << extent << " replicas";
  else
    os << " at " << points << " points";
  os << " + " << contents.numPadding << " padding = " << contents.numPositions
     << " positions";
  for (auto [c, extent] : llvm::enumerate(contents.extents))
    os << (c ? ", " : " (") << map.getCoordinates()[c].name << ' ' << extent;
  if (!contents.extents.empty())
    os << ')';
  model.facts.push_back(text);
  if (cells.cells.empty()) {
    model.facts.push_back("nothing is stored");
    return;
  }
  if (std::string axes = describeAxes(); !axes.empty())
    model.facts.push_back(axes);
  if (!cells.labelText.empty())
    model.facts.push_back("cells hold " + cells.labelText);
}

/// Adds a legend entry for each color that occurs in cells, with the number
/// below `size` for which it stands. The first entry of the legend is
/// `name = number`, any further one only the number. If there are more numbers
/// than colors, a color stands for all numbers that are equal mod the number of
/// colors, and the name becomes `name mod` the number of colors.
void PictureModelBuilder::addKinds(std::string name, int64_t size) {
  if (size > kNumColors)
    name += " mod " + std::to_string(kNumColors);
  for (unsigned i = 0; i < std::min<int64_t>(size, kNumColors); ++i)
    if (llvm::any_of(cells.cells, [&](const Cell &cell) {
          return cell.fill.kind == Fill::Kinds && cell.fill.number == i;
        }))
      model.key.push_back(
          {{Fill::Kinds, i},
           (model.key.empty() ? name + " = " : "") + std::to_string(i)});
}

void PictureModelBuilder::addKey() {
  if (cells.colorDim && contents.numIndices) {
    addKinds(names[*cells.colorDim], contents.sizes[*cells.colorDim]);
  } else if (!cells.cells.empty() &&
             options.label == PictureOptions::Label::Device) {
    int64_t devices = 1;
    for (int64_t extent : ArrayRef<int64_t>(contents.extents).drop_back())
      devices *= extent;
    addKinds("first device", devices);
  } else if (!isStorage && !cells.cells.empty()) {
    for (unsigned i = 0; i < kNumColors; ++i)
      model.key.push_back({{Fill::Order, i}, ""});
    model.key.back().text = "first to last in storage";
  }
  if (isStorage && contents.numPadding)
    model.key.push_back({{}, "padding"});
}

PictureModel PictureModelBuilder::make() {
  if (!cells.cells.empty()) {
    arrange();
    addPanels();
  }
  addFacts();
  addKey();
  return std::move(model);
}

PictureModel picture::makePictureModel(const LayoutMap &map,
                                       const Contents &contents,
                                       const PictureOptions &options) {
  return PictureModelBuilder(map, contents, options).make();
}
