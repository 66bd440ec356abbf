//===- PictureModel.h - The content of a picture ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model describes a picture without pixel coordinates: panels with equal
// numbers of rows and columns, the cells in them, and the texts around them.
// `makePictureModel` decides the arrangement, and `writeSvg` draws it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_VISUALIZATION_PICTUREMODEL_H
#define LAYOUT_LIB_VISUALIZATION_PICTUREMODEL_H

#include "Cells.h"
#include "PanelGrid.h"

namespace mlir::layout::picture {

/// A text at an edge of a panel: beside `count` rows, or above `count` columns,
/// from number `first` on.
struct Band {
  int64_t first = 0, count = 1;
  std::string text;
};

/// The texts along one edge of a panel that show the values of one coordinate.
struct AxisLabel {
  std::string title;
  std::vector<Band> bands;
};
/// The labels along one edge of a panel, the outermost one first.
using AxisLabels = llvm::SmallVector<AxisLabel>;

struct Panel {
  std::string title;
  AxisLabels rows;
};

struct PlacedCell {
  Place place;
  llvm::SmallVector<std::string, 2> lines;
  std::string title;
  Fill fill;
};

struct LegendEntry {
  Fill fill;
  std::string text;
};

struct PictureModel {
  std::string title;
  std::vector<std::string> facts; // one line each
  std::vector<LegendEntry> key;

  /// For each row and column of a panel, the number of gaps between the first
  /// one and it.
  std::vector<int64_t> rowGaps, columnGaps;
  AxisLabels columns; // shared by all panels
  std::vector<Panel> panels;
  /// The preferred numbers of panels side by side, ascending: the positions of
  /// the fastest axis of the panels, those of the two fastest axes, ..
  llvm::SmallVector<int64_t> panelGroups;

  std::vector<PlacedCell> cells;
  /// The maximal number of characters in a line, and of lines, of all cells.
  int64_t numChars = 1, numLines = 1;
};

PictureModel makePictureModel(const LayoutMap &map, const Contents &contents,
                              const PictureOptions &options);

void writeSvg(const PictureModel &model, llvm::raw_ostream &os);

// Measures in pixels that the arrangement depends on.
/// The preferred maximal width, in pixels, of panels that are side by side.
constexpr int64_t kPictureWidth = 1150;
/// The approximate width, in pixels, of margins and row labels of a panel.
constexpr int64_t kPanelMargin = 70;
int64_t getCellWidth(int64_t numChars);

} // namespace mlir::layout::picture

#endif // LAYOUT_LIB_VISUALIZATION_PICTUREMODEL_H
