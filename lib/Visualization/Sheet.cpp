//===- Sheet.cpp - The content of a picture -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sheet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using namespace mlir::layout::picture;
using llvm::ArrayRef;

namespace {
class SheetMaker {
public:
  SheetMaker(const LayoutMap &map, const Contents &contents,
             const PictureOptions &options)
      : map(map), contents(contents), options(options), names(options.dimNames),
        isStorage(options.view == PictureOptions::View::Storage) {
    for (unsigned d = names.size(); d < map.getRank(); ++d)
      names.push_back("d" + std::to_string(d));
    cells = readCells(map, contents, names, options);
    for (size_t r = 0; r < map.getReplicas().size(); ++r)
      names.push_back("r" + std::to_string(r));
  }

  Sheet make();

private:
  void arrange();
  void breakLines(unsigned numLines);
  void addPanels();
  Rulers getRulers(ArrayRef<Axis> axes,
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
  Arrangement arrangement;
  Sheet sheet;
};
} // namespace

/// Distributes the labels over up to `numLines` lines, outer numbers first.
void SheetMaker::breakLines(unsigned numLines) {
  sheet.cells.clear();
  sheet.numChars = sheet.numLines = 1;
  for (const Cell &cell : cells.cells) {
    PlacedCell placed{{}, {}, cell.title, cell.fill};
    ArrayRef<std::string> rest = cell.label;
    for (unsigned line = 0; line < numLines && !rest.empty(); ++line) {
      size_t taken = llvm::divideCeil(rest.size(), numLines - line);
      placed.lines.push_back(llvm::join(rest.take_front(taken), ","));
      rest = rest.drop_front(taken);
      sheet.numChars =
          std::max<int64_t>(sheet.numChars, placed.lines.back().size());
    }
    sheet.numLines = std::max<int64_t>(sheet.numLines, placed.lines.size());
    sheet.cells.push_back(std::move(placed));
  }
}

/// Labels have one line, unless two lines make columns fit together or all
/// panels fit side by side.
void SheetMaker::arrange() {
  constexpr int64_t kMaxColumns = 32;
  auto arrangeFor = [&](int64_t maxColumns) {
    return isStorage ? arrangeStorage(map, contents, names, maxColumns,
                                      options.columns)
                     : arrangeLogical(contents.sizes, names, maxColumns,
                                      options.columns);
  };
  arrangement = arrangeFor(kMaxColumns);
  auto fit = [&](int64_t panels) {
    int64_t width = count(arrangement.columns) * getCellWidth(sheet.numChars);
    return panels * (width + kPanelMargin) <= kSheetWidth;
  };
  bool longLabels = llvm::any_of(
      cells.cells, [](const Cell &cell) { return cell.label.size() >= 4; });
  int64_t panels = count(arrangement.panels);
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
  int64_t fitting = (kSheetWidth - kPanelMargin) / getCellWidth(sheet.numChars);
  arrangement = arrangeFor(std::clamp<int64_t>(fitting, 4, kMaxColumns));
}

std::string SheetMaker::getValue(unsigned direction, int64_t value) const {
  return isStorage ? getValueText(map, direction, value)
                   : std::to_string(value);
}

/// Returns the directions of some axes, in that order.
static llvm::SmallVector<unsigned> getDirections(ArrayRef<Axis> axes) {
  llvm::SmallVector<unsigned> directions;
  for (const Axis &axis : axes)
    if (!llvm::is_contained(directions, axis.coordinate))
      directions.push_back(axis.coordinate);
  return directions;
}

/// Returns one ruler for each direction of `axes`. The n-th row or column
/// starts at getStart(n). Counted directions show increments to a value that is
/// shown elsewhere. Terse rulers have no title if their texts include it.
Rulers SheetMaker::getRulers(ArrayRef<Axis> axes,
                             llvm::function_ref<Point(int64_t)> getStart,
                             llvm::function_ref<bool(unsigned)> isCounted,
                             bool isTerse) const {
  Rulers rulers;
  llvm::SmallVector<unsigned> directions = getDirections(axes);
  for (auto [r, d] : llvm::enumerate(directions)) {
    Ruler &ruler = rulers.emplace_back();
    if (!isTerse || (!isCounted(d) && getValue(d, 0) == "0"))
      ruler.title = arrangement.directions[d].name;
    auto outwards = ArrayRef<unsigned>(directions).take_front(r + 1);
    Point last;
    for (int64_t n = 0, end = count(axes); n < end; ++n) {
      Point start = getStart(n);
      // A new band starts if this direction or an outer one advances.
      bool same = !last.empty() && llvm::all_of(outwards, [&](unsigned other) {
        return start[other] == last[other];
      });
      if (same)
        ++ruler.bands.back().count;
      else
        ruler.bands.push_back({n, 1,
                               isCounted(d) ? "+" + std::to_string(start[d])
                                            : getValue(d, start[d])});
      last = std::move(start);
    }
  }
  return rulers;
}

std::string SheetMaker::getPanelTitle(int64_t panel) const {
  Point point = arrangement.getRowStart(panel, 0);
  llvm::SmallVector<std::string> parts;
  for (const Axis &axis : arrangement.panels) {
    if (axis.extent == 1)
      continue;
    const Direction &direction = arrangement.directions[axis.coordinate];
    int64_t digit = point[axis.coordinate] / axis.stride % axis.extent;
    // The value of a storage coordinate other than linear memory is printed.
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

/// Returns the number of group boundaries of the inner axes before each
/// position. If `separate`, every position is a group.
static std::vector<int64_t> findGaps(ArrayRef<Axis> axes, bool separate) {
  std::vector<int64_t> gaps(count(axes), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    // No gap at a cut, which only reflects the width of the sheet.
    bool isGroup = i + 1 < axes.size() ? !axes[i + 1].text.empty() : separate;
    if (!isGroup)
      continue;
    int64_t group = count(axes.drop_front(i + 1));
    for (auto [position, gap] : llvm::enumerate(gaps))
      gap += position / group;
  }
  return gaps;
}

void SheetMaker::addPanels() {
  for (auto [placed, cell] : llvm::zip_equal(sheet.cells, cells.cells))
    placed.place = arrangement.getPlace(cell.point);
  sheet.rowGaps = findGaps(arrangement.rows, false);
  sheet.columnGaps = findGaps(arrangement.columns, arrangement.separateColumns);
  int64_t numPanels = count(arrangement.panels);
  for (const Axis &axis : llvm::reverse(arrangement.panels))
    sheet.panelGroups.push_back(axis.extent * (sheet.panelGroups.empty()
                                                   ? 1
                                                   : sheet.panelGroups.back()));

  Axes elsewhere = arrangement.rows;
  llvm::append_range(elsewhere, arrangement.panels);
  sheet.columns = getRulers(
      arrangement.columns, [&](int64_t n) { return arrangement.getColumn(n); },
      [&](unsigned d) {
        return llvm::is_contained(getDirections(elsewhere), d);
      },
      /*isTerse=*/true);
  for (int64_t panel = 0; panel < numPanels; ++panel)
    sheet.panels.push_back(
        {getPanelTitle(panel),
         getRulers(
             arrangement.rows,
             [&](int64_t n) { return arrangement.getRowStart(panel, n); },
             [](unsigned) { return false; }, /*isTerse=*/false)});
}

/// Describes the axes of the panels, the rows and the columns.
std::string SheetMaker::describeAxes() const {
  llvm::SmallVector<std::string> parts;
  auto describe = [&](llvm::StringRef name, ArrayRef<Axis> axes) {
    llvm::SmallVector<std::string> texts;
    for (const Axis &axis : axes)
      if (!axis.text.empty())
        texts.push_back(axis.text);
    if (!texts.empty())
      parts.push_back((name + " " + llvm::join(texts, ", ")).str());
  };
  describe("panels", arrangement.panels);
  describe("rows", arrangement.rows);
  describe("columns", arrangement.columns);
  return llvm::join(parts, "; ");
}

void SheetMaker::addFacts() {
  sheet.title = options.title.empty() ? map.str() : options.title;
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
  sheet.facts.push_back(text);
  if (cells.cells.empty()) {
    sheet.facts.push_back("nothing is stored");
    return;
  }
  if (std::string axes = describeAxes(); !axes.empty())
    sheet.facts.push_back(axes);
  if (!cells.labelText.empty())
    sheet.facts.push_back("cells hold " + cells.labelText);
}

/// Adds a swatch for each number below `size` whose color occurs in a cell.
void SheetMaker::addKinds(std::string name, int64_t size) {
  if (size > kNumColors)
    name += " mod " + std::to_string(kNumColors);
  for (unsigned i = 0; i < std::min<int64_t>(size, kNumColors); ++i)
    if (llvm::any_of(cells.cells, [&](const Cell &cell) {
          return cell.fill.kind == Fill::Kinds && cell.fill.number == i;
        }))
      sheet.key.push_back(
          {{Fill::Kinds, i},
           (sheet.key.empty() ? name + " = " : "") + std::to_string(i)});
}

void SheetMaker::addKey() {
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
      sheet.key.push_back({{Fill::Order, i}, ""});
    sheet.key.back().text = "first to last in storage";
  }
  if (isStorage && contents.numPadding)
    sheet.key.push_back({{}, "padding"});
}

Sheet SheetMaker::make() {
  if (!cells.cells.empty()) {
    arrange();
    addPanels();
  }
  addFacts();
  addKey();
  return std::move(sheet);
}

Sheet picture::makeSheet(const LayoutMap &map, const Contents &contents,
                         const PictureOptions &options) {
  return SheetMaker(map, contents, options).make();
}
