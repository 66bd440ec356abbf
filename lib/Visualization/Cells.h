//===- Cells.h - The cells of a picture -------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cells of a picture before they are arranged: one for each position of
// storage, or in the logical view for each index.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_VISUALIZATION_CELLS_H
#define LAYOUT_LIB_VISUALIZATION_CELLS_H

#include "Contents.h"

namespace mlir::layout::picture {

constexpr unsigned kNumColors = 8;

/// The filling of a cell: hatched for padding, or color `number` of one of two
/// palettes. Colors of Kinds are easy to distinguish, e.g. for the indices of a
/// dim; colors of Order are shades from the first to the last position of the
/// storage.
struct Fill {
  enum Kind { Padding, Kinds, Order } kind = Padding;
  unsigned number = 0; // below kNumColors
};

struct Cell {
  Point point; // in storage, or the index in the logical view
  llvm::SmallVector<std::string, 4> label;
  std::string title;
  Fill fill;
};

struct Cells {
  std::vector<Cell> cells;
  /// The dim whose indices the colors show, or std::nullopt if they show the
  /// order of storage, devices, or nothing.
  std::optional<unsigned> colorDim;
  /// The text that says what the labels of cells are, e.g. "d1, d3".
  std::string labelText;
};

Cells readCells(const LayoutMap &map, const Contents &contents,
                llvm::ArrayRef<std::string> dimNames,
                const PictureOptions &options);

/// Returns the text that is drawn for a value of a storage coordinate: `NPU 2`
/// for a core, `G` for lane 1 of an image, or else the number.
std::string getValueText(const LayoutMap &map, unsigned coordinate,
                         int64_t value);

} // namespace mlir::layout::picture

#endif // LAYOUT_LIB_VISUALIZATION_CELLS_H
