//===- Cells.h - What the cells of a picture say ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cells of a picture before they have a place: one for each position of
// storage, or for each index in the logical view.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_PICTURE_CELLS_H
#define LIB_PICTURE_CELLS_H

#include "Contents.h"

namespace mlir {
namespace layout {
namespace picture {

constexpr unsigned kNumColors = 8;

/// One of the colors of a palette, or hatching.
struct Fill {
  enum Kind { Padding, Kinds, Order } kind = Padding;
  unsigned number = 0; // below kNumColors
};

struct Cell {
  Point point; // of the box that is pictured
  llvm::SmallVector<std::string, 4> label;
  std::string title;
  Fill fill;
};

struct Cells {
  std::vector<Cell> cells;
  /// The dim that colors show; not set where they show the order of storage,
  /// or nothing.
  std::optional<unsigned> colorDim;
  /// What the labels are, for the key.
  std::string labelText;
};

Cells readCells(const LayoutMap &map, const Contents &contents,
                llvm::ArrayRef<std::string> dimNames,
                const PictureOptions &options);

/// A value of a storage coordinate as people say it: NPU 2, lane G.
std::string getValueText(const LayoutMap &map, unsigned coordinate,
                         int64_t value);

} // namespace picture
} // namespace layout
} // namespace mlir

#endif // LIB_PICTURE_CELLS_H
