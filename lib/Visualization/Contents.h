//===- Contents.h - The content of storage ----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The content of a picture: the points of all indices on one shape, read once
// from the map, and the index that each position of storage holds.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_VISUALIZATION_CONTENTS_H
#define LAYOUT_LIB_VISUALIZATION_CONTENTS_H

#include "layout/Visualization/Svg.h"

namespace mlir::layout::picture {

/// Returns the text of an index, e.g. "(1, 0, 3)".
std::string describeIndex(llvm::ArrayRef<int64_t> index);

using Point = llvm::SmallVector<int64_t>;
struct Contents {
  Point sizes;   // of the logical box
  Point extents; // of the storage box
  int64_t numIndices = 0;
  int64_t numPositions = 0;
  int64_t numPadding = 0;
  /// One list per logical index, in row-major order of the indices: the
  /// distinct storage points of its replicas.
  std::vector<llvm::SmallVector<Point, 1>> points;
  /// For a map over a mesh, one list per logical index, in row-major order of
  /// the indices: the sorted numbers of the devices that store it. Empty for
  /// other maps.
  std::vector<llvm::SmallVector<int64_t, 1>> devices;
};

/// Computes the storage points of all indices of a shape. Fails if the shape
/// does not fit the map or is dynamic, if the map is not proven to be injective
/// on it, or if a point is outside of the storage. Also fails if there are more
/// than `maxCells` indices times replicas or, if `needStorage`, positions.
std::optional<Contents> readContents(const LayoutMap &map, Sizes sizes,
                                     int64_t maxCells, bool needStorage,
                                     FailureReason error);

/// Returns for each position of storage, in row-major order, the row-major
/// number of the logical index whose element it holds, or -1 for padding.
std::vector<int64_t> findOccupants(const Contents &contents);

/// Returns the row-major number of a point among all points below `extents`.
int64_t linearize(llvm::ArrayRef<int64_t> point,
                  llvm::ArrayRef<int64_t> extents);

} // namespace mlir::layout::picture

#endif // LAYOUT_LIB_VISUALIZATION_CONTENTS_H
