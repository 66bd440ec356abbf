//===- Svg.h - Pictures of layouts ------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout on a small shape as an SVG picture, from one of two sides:
//
//   storage  every position of storage as a cell that holds the logical index
//            found there, or is hatched where it is padding;
//   logical  every logical index as a cell that holds its storage point.
//
// Cells are arranged by the structure of the map. Linear memory is cut along
// its stored axes: the fastest make the columns, the next ones the rows, those
// above panels. An image is a grid of pixels, four lanes in each. The last
// coordinate of any other space is linear memory, once for each value of the
// coordinates before it: one panel for each core of an NPU.
//
//     drawSvg(map, {1, 17, 2, 3}, options, os, error)      // NCHW16c
//       2 panels  d1 floordiv 16
//       6 rows    d2, d3          margins say where in storage a row starts
//       16 columns  d1 mod 16     102 cells with an index, 90 hatched
//
// What a cell holds is what `forward` says, nothing else. Laws:
//  * a cell is drawn for every position of the box that is pictured, once;
//  * the same arguments give the same bytes;
//  * the output is well-formed XML whatever the texts in the options.
//
// A cell is one <rect> with a <title>, `(0, 16, 1, 2) at offset 176` or
// `padding at offset 177`; hatched ones have the class `pad`.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_VISUALIZATION_SVG_H
#define LAYOUT_VISUALIZATION_SVG_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/Refusal.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir {
namespace layout {

struct PictureOptions {
  enum class View { Storage, Logical };
  /// Tuples of numbers, or one row-major number for them; of an index on a
  /// mesh, the numbers of the devices that hold it, of which the first is what
  /// the color of its cell shows unless a dim is colored.
  enum class Label { Tuple, Number, Device };

  View view = View::Storage;
  Label label = Label::Tuple;
  /// The first line; empty: the canonical text of the map.
  std::string title;
  /// What stands after the shape, such as the element type.
  std::string element;
  /// The names of the logical dims; empty: d0, d1, ..
  llvm::SmallVector<std::string> dimNames;
  /// The dim whose index a cell's color shows. Not set: the second dim of
  /// three or more, otherwise the first one, if it has more than one index; the
  /// logical view shows the order of storage instead.
  std::optional<unsigned> colorDim;
  /// Cut linear memory every so many positions; 0: where its axes end.
  int64_t columns = 0;
  /// A picture with more cells is an error.
  int64_t maxCells = 4096;
};

/// Draws `map` on static `sizes`. Where that cannot be done, says why and what
/// to do instead through `error`, writes nothing and fails.
llvm::LogicalResult drawSvg(const LayoutMap &map, Sizes sizes,
                            const PictureOptions &options,
                            llvm::raw_ostream &os, Refusal error);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_VISUALIZATION_SVG_H
