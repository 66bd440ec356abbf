//===- SvgWriter.cpp - Write a picture as SVG -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PictureModel.h"
#include "layout/Support/EmittedText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace mlir::layout;
using namespace mlir::layout::picture;
using llvm::ArrayRef;
using llvm::raw_ostream;

// Measures in pixels. All coordinates are integers, so that the output does not
// depend on the rounding of the machine.
constexpr int64_t kBorder = 24;
constexpr int64_t kFont = 11;
constexpr int64_t kTitleFont = 14;
constexpr int64_t kLine = 18;     // text around the panels
constexpr int64_t kCellLine = 13; // text in a cell
constexpr int64_t kGap = 6;       // between groups of rows or columns
constexpr int64_t kPanelGap = 24;
constexpr int64_t kAxisLabelLine = 15;
constexpr int64_t kLegendBox = 14;

/// Light colors under dark text: hues that color-blind readers can distinguish,
/// and shades of one hue for an order.
static const char *const kKinds[kNumColors] = {"#cfe5f7", "#fde2b0", "#c8ecd6",
                                               "#f5d0e0", "#fbf4ae", "#d5d0f2",
                                               "#f9cdbb", "#c9eef0"};
static const char *const kOrder[kNumColors] = {"#f4f9fe", "#e3effa", "#d1e4f5",
                                               "#bed9f0", "#aacdea", "#95c0e3",
                                               "#80b2dc", "#6ba4d4"};

/// Returns the width in pixels of a text in a monospaced font of `font` pixels,
/// slightly above 0.6 of the font size per character.
static int64_t getTextWidth(int64_t numChars, int64_t font = kFont) {
  return (numChars * font * 61 + 99) / 100;
}

int64_t picture::getCellWidth(int64_t numChars) {
  return std::max<int64_t>(getTextWidth(numChars) + 6, 26);
}

static bool startsCharacter(char c) { return (c & 0xC0) != 0x80; }

static int64_t countChars(llvm::StringRef text) {
  return llvm::count_if(text, startsCharacter);
}

/// Breaks text into lines of at most `width` characters, at spaces if possible.
static std::vector<std::string> wrap(llvm::StringRef raw, int64_t width) {
  std::string fixed = llvm::json::fixUTF8(raw);
  llvm::StringRef text = fixed;
  std::vector<std::string> lines;
  while (countChars(text) > width) {
    size_t end = 0, space = 0;
    for (int64_t chars = 0; end < text.size(); ++end) {
      if (startsCharacter(text[end]) && ++chars > width)
        break;
      if (text[end] == ' ')
        space = end;
    }
    size_t cut = space ? space : end;
    lines.push_back(text.take_front(cut).str());
    text = text.drop_front(cut).ltrim(' ');
  }
  lines.push_back(text.str());
  return lines;
}

namespace {
class SvgWriter {
public:
  SvgWriter(const PictureModel &model, raw_ostream &os)
      : model(model), os(os) {}
  void write();

private:
  void measure();
  void writeHead();
  void writeHeading();
  void writePanel(int64_t number);
  void writeCell(const PlacedCell &cell);

  void text(int64_t x, int64_t y, llvm::StringRef content,
            llvm::StringRef cls = "");

  int64_t getColumnX(int64_t column) const {
    return column * cellWidth + model.columnGaps[column] * kGap;
  }
  int64_t getRowY(int64_t row) const {
    return row * cellHeight + model.rowGaps[row] * kGap;
  }
  /// Returns x and y, in pixels, of the upper left corner of the first cell of
  /// a panel.
  std::pair<int64_t, int64_t> getOrigin(int64_t panel) const {
    return {kBorder + panel % across * (panelWidth + kPanelGap) + marginWidth,
            panelsY + panel / across * (panelHeight + kPanelGap) +
                headerHeight};
  }

  const PictureModel &model;
  raw_ostream &os;
  std::vector<std::string> titleLines, factLines;
  llvm::SmallVector<int64_t> axisLabelWidths; // of the rows
  int64_t cellWidth = 0, cellHeight = 0, gridWidth = 0, gridHeight = 0;
  int64_t marginWidth = 0, headerHeight = 0, panelWidth = 0, panelHeight = 0;
  int64_t across = 1, keyY = 0, panelsY = 0, width = 0, height = 0;
  bool hasTitles = false;
};
} // namespace

static int64_t getKeyWidth(const LegendEntry &entry) {
  return kLegendBox + (entry.text.empty()
                           ? 0
                           : 5 + getTextWidth(countChars(entry.text)) + 11);
}

/// Returns the number of characters in the longest text of a label.
static int64_t countChars(const AxisLabel &axisLabel) {
  int64_t chars = countChars(axisLabel.title);
  for (const Band &band : axisLabel.bands)
    chars = std::max(chars, countChars(band.text));
  return chars;
}

void SvgWriter::measure() {
  cellWidth = getCellWidth(model.numChars);
  for (const AxisLabel &axisLabel : model.columns)
    for (const Band &band : axisLabel.bands)
      cellWidth = std::max<int64_t>(
          cellWidth, llvm::divideCeil(getTextWidth(countChars(band.text)) + 4,
                                      band.count));
  cellHeight = model.numLines * kCellLine + 8;
  if (!model.panels.empty()) {
    gridWidth = getColumnX(model.columnGaps.size() - 1) + cellWidth;
    gridHeight = getRowY(model.rowGaps.size() - 1) + cellHeight;
    axisLabelWidths.assign(model.panels.front().rows.size(), 0);
  }
  for (const Panel &panel : model.panels) {
    hasTitles |= !panel.title.empty();
    panelWidth =
        std::max(panelWidth, getTextWidth(countChars(panel.title), 12));
    for (auto [width, axisLabel] : llvm::zip_equal(axisLabelWidths, panel.rows))
      width = std::max(width, getTextWidth(countChars(axisLabel)) + 9);
  }
  marginWidth =
      std::accumulate(axisLabelWidths.begin(), axisLabelWidths.end(), 0);
  // The header has the title of a panel and the labels of the columns. Titles
  // of these labels are in the margin at the left. Only the last one is above
  // its texts, because the titles of row labels are in the margin at its
  // height.
  headerHeight = hasTitles ? kLine : 0;
  for (const AxisLabel &axisLabel : model.columns) {
    bool isLast = &axisLabel == &model.columns.back();
    headerHeight +=
        kAxisLabelLine * (isLast && !axisLabel.title.empty() ? 2 : 1);
    if (!isLast)
      marginWidth =
          std::max(marginWidth, getTextWidth(countChars(axisLabel.title)) + 9);
  }
  panelWidth = std::max(panelWidth, marginWidth + gridWidth);
  // If columns have no labels, add a line for the titles of row labels.
  if (model.columns.empty() && marginWidth)
    headerHeight += kAxisLabelLine;
  panelHeight = headerHeight + gridHeight;

  int64_t numPanels = model.panels.size();
  int64_t fitting = std::max<int64_t>(1, (kPictureWidth + kPanelGap) /
                                             (panelWidth + kPanelGap));
  for (int64_t group : model.panelGroups) {
    if (group <= fitting) {
      across = group;
      continue;
    }
    // If the innermost panels do not fit one line, use lines of equal length.
    if (across == 1)
      across = llvm::divideCeil(group, llvm::divideCeil(group, fitting));
    break;
  }
  int64_t down = numPanels ? llvm::divideCeil(numPanels, across) : 0;
  int64_t content =
      numPanels ? across * panelWidth + (across - 1) * kPanelGap : 0;
  int64_t textWidth = std::clamp<int64_t>(content, 760, kPictureWidth);
  titleLines = wrap(model.title, textWidth * 100 / (kTitleFont * 61));
  for (llvm::StringRef fact : model.facts)
    for (std::string &line : wrap(fact, textWidth * 100 / (kFont * 61)))
      factLines.push_back(std::move(line));
  int64_t keyWidth = 0;
  for (const LegendEntry &entry : model.key)
    keyWidth += getKeyWidth(entry);
  int64_t inner = std::max(content, keyWidth);
  for (llvm::StringRef line : titleLines)
    inner = std::max(inner, getTextWidth(countChars(line), kTitleFont));
  for (llvm::StringRef line : factLines)
    inner = std::max(inner, getTextWidth(countChars(line)));
  width = inner + 2 * kBorder;
  keyY =
      kBorder + titleLines.size() * (kLine + 2) + factLines.size() * kLine + 4;
  panelsY = keyY + (model.key.empty() ? 0 : kLegendBox + 14);
  height = panelsY + down * panelHeight +
           std::max<int64_t>(down - 1, 0) * kPanelGap + kBorder;
}

void SvgWriter::text(int64_t x, int64_t y, llvm::StringRef content,
                     llvm::StringRef cls) {
  os << "<text x=\"" << x << "\" y=\"" << y << '"';
  if (!cls.empty())
    os << " class=\"" << cls << '"';
  os << '>' << escapeXml(content) << "</text>\n";
}

static std::string getClass(Fill fill) {
  switch (fill.kind) {
  case Fill::Padding:
    return "pad";
  case Fill::Kinds:
    return "k" + std::to_string(fill.number);
  case Fill::Order:
    return "o" + std::to_string(fill.number);
  }
  llvm_unreachable("a kind of fill that is not listed");
}

void SvgWriter::writeHead() {
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width
     << "\" height=\"" << height << "\" viewBox=\"0 0 " << width << ' '
     << height
     << "\" role=\"img\" class=\"layout\" font-family=\"monospace\" "
        "font-size=\""
     << kFont << "\">\n<title>" << escapeXml(model.title) << "</title>\n<desc>"
     << escapeXml(llvm::join(model.facts, ". ")) << "</desc>\n";
  os << "<defs><pattern id=\"layout-hatch\" width=\"6\" height=\"6\" "
        "patternUnits=\"userSpaceOnUse\">"
        "<path d=\"M0,0 h6 v6 h-6 z\" fill=\"#f7f7f8\"/>"
        "<path d=\"M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2\" stroke=\"#a9adb3\" "
        "stroke-width=\"1\"/></pattern></defs>\n<style>\n"
        ".layout rect { stroke: #5f6368; stroke-width: 1 }\n"
        ".layout text { fill: #202124; text-anchor: middle; "
        "pointer-events: none }\n"
        ".layout .t { font-size: "
     << kTitleFont << "px; font-weight: bold; text-anchor: start }\n"
     << ".layout .h { font-size: 12px; font-weight: bold; "
        "text-anchor: start }\n"
        ".layout .s { text-anchor: start }\n"
        ".layout .c { fill: #5f6368 }\n"
        ".layout .m { fill: #5f6368; text-anchor: end }\n"
        ".layout .n { fill: #5f6368; font-style: italic }\n"
        ".layout .card { fill: #ffffff; stroke: #dadce0 }\n"
        ".layout .pad { fill: url(#layout-hatch); stroke: #bdc1c6 }\n";
  for (unsigned i = 0; i < kNumColors; ++i)
    os << ".layout .k" << i << " { fill: " << kKinds[i] << " }\n";
  for (unsigned i = 0; i < kNumColors; ++i)
    os << ".layout .o" << i << " { fill: " << kOrder[i] << " }\n";
  os << "</style>\n<rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\""
     << width - 1 << "\" height=\"" << height - 1 << "\" rx=\"8\"/>\n";
}

void SvgWriter::writeHeading() {
  int64_t y = kBorder + kTitleFont - 2;
  for (llvm::StringRef line : titleLines) {
    text(kBorder, y, line, "t");
    y += kLine + 2;
  }
  for (llvm::StringRef line : factLines) {
    text(kBorder, y, line, "s");
    y += kLine;
  }
  int64_t x = kBorder;
  for (const LegendEntry &entry : model.key) {
    os << "<rect class=\"" << getClass(entry.fill) << "\" x=\"" << x
       << "\" y=\"" << keyY << "\" width=\"" << kLegendBox << "\" height=\""
       << kLegendBox << "\"/>\n";
    if (!entry.text.empty())
      text(x + kLegendBox + 5, keyY + kLegendBox - 3, entry.text, "s");
    x += getKeyWidth(entry);
  }
}

void SvgWriter::writePanel(int64_t number) {
  const Panel &panel = model.panels[number];
  auto [x0, y0] = getOrigin(number);
  int64_t left = x0 - marginWidth;
  if (hasTitles)
    text(left, y0 - headerHeight + 12, panel.title, "h");
  int64_t y = y0 - headerHeight + (hasTitles ? kLine : 0);
  for (const AxisLabel &axisLabel : model.columns) {
    bool isLast = &axisLabel == &model.columns.back();
    y += kAxisLabelLine;
    if (!axisLabel.title.empty() && isLast) {
      text(x0, y - 4, axisLabel.title, "s n");
      y += kAxisLabelLine;
    } else if (!axisLabel.title.empty()) {
      text(x0 - 6, y - 4, axisLabel.title, "m n");
    }
    for (const Band &band : axisLabel.bands) {
      int64_t from = getColumnX(band.first);
      int64_t to = getColumnX(band.first + band.count - 1) + cellWidth;
      text(x0 + (from + to) / 2, y - 4, band.text, "c");
    }
  }
  int64_t right = left;
  for (auto [width, axisLabel] : llvm::zip_equal(axisLabelWidths, panel.rows)) {
    right += width;
    if (!axisLabel.title.empty())
      text(right - 6, y0 - 4, axisLabel.title, "m n");
    for (const Band &band : axisLabel.bands) {
      int64_t from = getRowY(band.first);
      int64_t to = getRowY(band.first + band.count - 1) + cellHeight;
      text(right - 6, y0 + (from + to) / 2 + 4, band.text, "m");
    }
  }
}

void SvgWriter::writeCell(const PlacedCell &cell) {
  auto [x0, y0] = getOrigin(cell.place.panel);
  int64_t x = x0 + getColumnX(cell.place.column);
  int64_t y = y0 + getRowY(cell.place.row);
  os << "<rect class=\"" << getClass(cell.fill) << "\" x=\"" << x << "\" y=\""
     << y << "\" width=\"" << cellWidth << "\" height=\"" << cellHeight
     << "\"><title>" << escapeXml(cell.title) << "</title></rect>\n";
  int64_t lines = cell.lines.size();
  int64_t baseline = y + (cellHeight - lines * kCellLine) / 2 + kCellLine - 3;
  for (llvm::StringRef line : cell.lines) {
    text(x + cellWidth / 2, baseline, line);
    baseline += kCellLine;
  }
}

void SvgWriter::write() {
  measure();
  writeHead();
  writeHeading();
  for (size_t number = 0; number < model.panels.size(); ++number)
    writePanel(number);
  for (const PlacedCell &cell : model.cells)
    writeCell(cell);
  os << "</svg>\n";
}

void picture::writeSvg(const PictureModel &model, raw_ostream &os) {
  SvgWriter(model, os).write();
}
