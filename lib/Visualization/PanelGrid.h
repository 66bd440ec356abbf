//===- PanelGrid.h - Arrange points in panels -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A picture shows a box of points. Coordinates are split into axes: position x
// of a coordinate has the digit (x / stride) mod extent along each of them. An
// arrangement assigns every axis to the columns, the rows or the panels of a
// picture, so that every point has one place. Each list has its slowest axis
// first.
//
//     offset of 2 x 6 x 16:  panels {2}, rows {6}, columns {16}
//       offset 100 = 1 * 96 + 0 * 16 + 4:  panel 1, row 0, column 4
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_VISUALIZATION_PANELGRID_H
#define LAYOUT_LIB_VISUALIZATION_PANELGRID_H

#include "Contents.h"

namespace mlir::layout::picture {

struct Axis {
  unsigned coordinate = 0;
  int64_t stride = 1;
  int64_t extent = 1;
  /// The label: the digits of the map that the axis has, or empty for the inner
  /// part of an axis that was cut to the width of the picture.
  std::string text;
  /// A number of positions whose divisors are good lengths of rows: if the axis
  /// is cut into rows of such a length, equal digits are above each other. 12,
  /// for example, permits rows of 6 positions, but not of 24. 0 if no such
  /// number is known.
  int64_t grain = 0;
};
using Axes = llvm::SmallVector<Axis>;

/// A coordinate of storage or, in the logical view, a dim: its name, its
/// extent, and the axes of the picture into which it is split.
struct Direction {
  std::string name;
  int64_t extent = 1;
  Axes axes; // those with more than one position
};

struct Place {
  int64_t panel = 0, row = 0, column = 0;
};

struct PanelGrid {
  llvm::SmallVector<Direction> directions;
  Axes columns, rows, panels;
  /// True if a gap separates each column from the next, e.g. for the pixels of
  /// an image.
  bool separateColumns = false;

  Place getPlace(llvm::ArrayRef<int64_t> point) const;
  /// Returns the storage point, or index, of the first cell of a row.
  Point getRowStart(int64_t panel, int64_t row) const;
  /// Returns the difference of the points of a cell in this column and of the
  /// first cell of its row.
  Point getColumn(int64_t column) const;
};

/// Returns the number of positions along `axes`, the product of their extents.
int64_t count(llvm::ArrayRef<Axis> axes);

/// Arranges the storage of `map`. Linear memory is cut into rows of at most
/// `maxColumns` positions, or exactly `columns` if that is not 0. `dimNames`
/// are the names of the dims and then of the replicas for the texts of the
/// axes.
PanelGrid arrangeStorage(const LayoutMap &map, const Contents &contents,
                         llvm::ArrayRef<std::string> dimNames,
                         int64_t maxColumns, int64_t columns);

/// Arranges the indices of a shape, whose dims of size 1 are left out: the last
/// dim in the columns, the one before it in the rows, and a panel for each
/// index of the others. A last dim of more than `maxColumns`, or of `columns`
/// if not 0, is cut, and continues in the next row.
PanelGrid arrangeLogical(Sizes sizes, llvm::ArrayRef<std::string> dimNames,
                         int64_t maxColumns, int64_t columns);

} // namespace mlir::layout::picture

#endif // LAYOUT_LIB_VISUALIZATION_PANELGRID_H
