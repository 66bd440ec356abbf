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

/// A color of one of the palettes, or hatching.
struct Fill {
  enum Kind { Padding, Kinds, Order } kind = Padding;
  unsigned number = 0; // below kNumColors
};

struct Cell {
  Point point; // in the box of the view
  llvm::SmallVector<std::string, 4> label;
  std::string title;
  Fill fill;
};

struct Cells {
  std::vector<Cell> cells;
  /// The dim that colors show, or std::nullopt if they show the order of
  /// storage or nothing.
  std::optional<unsigned> colorDim;
  /// The meaning of the labels, for the key.
  std::string labelText;
};

Cells readCells(const LayoutMap &map, const Contents &contents,
                llvm::ArrayRef<std::string> dimNames,
                const PictureOptions &options);

/// Returns the text for a value of a storage coordinate: NPU 2, lane G.
std::string getValueText(const LayoutMap &map, unsigned coordinate,
                         int64_t value);

} // namespace mlir::layout::picture

#endif // LAYOUT_LIB_VISUALIZATION_CELLS_H
