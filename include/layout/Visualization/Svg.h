//===- Svg.h - Pictures of layouts ------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws a layout on a small shape as an SVG picture, in one of two views:
//
//  storage  every position of storage as a cell that shows the logical index
//           stored there, or is hatched if it is padding;
//  logical  every logical index as a cell that shows its storage point.
//
// Cells are arranged by the structure of the map. Linear memory is split into
// its stored axes: the fastest ones are the columns, the next ones the rows,
// and those above panels. An image is a grid of pixels with four lanes each. In
// any other space, the last coordinate is linear memory, with one panel for
// each value of the coordinates before it, e.g. for each core of an NPU.
//
//     drawSvg(map, {1, 17, 2, 3}, options, os, error)      // NCHW16c
//       2 panels  d1 floordiv 16
//       6 rows    d2, d3          margins show the storage offset of a row
//       16 columns  d1 mod 16     102 cells with an index, 90 hatched
//
// The content of a cell is the result of `forward`. Laws:
//  * every position of the box has exactly one cell;
//  * the output is a deterministic function of the arguments;
//  * the output is well-formed XML for any texts in the options.
//
// A cell is one <rect> with a <title>, `(0, 16, 1, 2) at offset 176` or
// `padding at offset 177`. Hatched cells have the class `pad`.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_VISUALIZATION_SVG_H
#define LAYOUT_VISUALIZATION_SVG_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/FailureReason.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir::layout {

struct PictureOptions {
  enum class View { Storage, Logical };
  /// The labels of cells: tuples, or their row-major numbers, or for an index
  /// on a mesh the numbers of the devices that store it. In the last case the
  /// first device determines the color of the cell, unless a dim is colored.
  enum class Label { Tuple, Number, Device };

  View view = View::Storage;
  Label label = Label::Tuple;
  /// The title of the picture; if empty, the canonical text of the map.
  std::string title;
  /// The text printed after the shape of the tensor, e.g. the element type.
  std::string element;
  /// The names of the logical dims; if empty, d0, d1, ..
  llvm::SmallVector<std::string> dimNames;
  /// The dim whose index determines the color of a cell. If std::nullopt, the
  /// storage view takes the second of three or more dims if that has more than
  /// one index, else the first dim that has. The logical view then shows the
  /// order of storage, or devices with Label::Device.
  std::optional<unsigned> colorDim;
  /// The number of positions per row of linear memory or, in the logical view,
  /// of indices of the last dim. 0 lets the stored axes, or the dims, determine
  /// the rows.
  int64_t columns = 0;
  /// The maximal number of cells; a picture with more is an error.
  int64_t maxCells = 4096;
};

/// Draws `map` on static `sizes`. If that is not possible, reports the reason
/// and a remedy to `error`, writes nothing and fails.
llvm::LogicalResult drawSvg(const LayoutMap &map, Sizes sizes,
                            const PictureOptions &options,
                            llvm::raw_ostream &os, FailureReason error);

} // namespace mlir::layout

#endif // LAYOUT_VISUALIZATION_SVG_H
