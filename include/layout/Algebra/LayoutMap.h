//===- LayoutMap.h - The canonical map of a layout --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `LayoutMap` maps a logical index to one point of a storage space with named
// coordinates (docs/spec.md, section 1). It is an immutable value that is cheap
// to copy, and the only definition of the position of an element: every family
// resolves to it, and every lowering reads it.
//
//     NCHW16c of 1x17x7x7:  space buffer, one coordinate
//       offset = (c mod 16) + 16 w + 16 W h + 16 W H (c floordiv 16) + ..
//       extent = 16 * N * ceil(C, 16) * H * W                     // 1568
//
// Laws (L1..L7 of docs/spec.md):
//  * L5: maps with nested digits are equal as values iff they denote the same
//    map for every shape, independent of names and order of writing;
//  * specialize(sizes) is the normal form on a shape (L6): digits of extent 1
//    are removed, adjacent digits are merged;
//  * backward(forward(i)) == i, and backward reports padding (L3).
//
// Replicas: a map may store each element several times. `replicas` are the
// extents of extra dims, numbered after the logical ones. An index has one
// point per replica, some of which may coincide. `sizes` arguments always cover
// the logical dims only.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_LAYOUTMAP_H
#define LAYOUT_ALGEBRA_LAYOUTMAP_H

#include "layout/Algebra/BoundedIndex.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::layout {

/// One named coordinate of a storage space, such as `x` of an image: 0 <= value
/// < extent on every valid shape.
struct Coordinate {
  std::string name;
  IndexExpr value;
  SizeExpr extent; // padding included
};

/// One dim of the physical tensor. The value of a coordinate is the row-major
/// index over the values of its axes, whose sizes are their extents.
struct StoredAxis {
  IndexExpr value;
  SizeExpr extent; // padding included
};

class LayoutMap;
llvm::hash_code hash_value(const LayoutMap &map);

class LayoutMap {
public:
  LayoutMap() = default;

  static LayoutMap get(unsigned rank, llvm::StringRef space,
                       std::vector<Coordinate> coordinates,
                       llvm::ArrayRef<int64_t> replicas = {});

  /// Returns row-major linear memory without padding, the layout of a tensor
  /// without an encoding.
  static LayoutMap rowMajor(unsigned rank);

  explicit operator bool() const { return static_cast<bool>(data); }
  unsigned getRank() const;
  llvm::StringRef getSpace() const;
  llvm::ArrayRef<Coordinate> getCoordinates() const;

  /// Returns the extents of the replica dims, each at least 2.
  llvm::ArrayRef<int64_t> getReplicas() const;
  /// Returns the number of logical and replica dims.
  unsigned getNumDims() const { return getRank() + getReplicas().size(); }
  /// Returns the sizes of all dims: `sizes`, those of the logical dims, and
  /// then the extents of the replicas.
  llvm::SmallVector<int64_t> getBox(Sizes sizes) const;

  /// Splits each coordinate into the axes of which it is the row-major index:
  /// first the axes of the first coordinate, slowest first, then those of the
  /// second, .. NCHW16c has n, c floordiv 16, h, w and c mod 16. A coordinate
  /// that is no such index is one axis.
  llvm::ArrayRef<StoredAxis> getStoredAxes() const;
  llvm::ArrayRef<StoredAxis> getStoredAxes(unsigned coordinate) const;

  /// Returns the default dims of the array that holds the storage: the stored
  /// axes if the map is in linear memory, or else its coordinates.
  llvm::SmallVector<BoundedIndex> getStoredDims() const;

  bool operator==(const LayoutMap &other) const;
  bool operator!=(const LayoutMap &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const LayoutMap &map);

  /// Returns true if arithmetic on extents or strides overflowed int64.
  bool hasOverflow() const;

  /// Returns the map with dims[d] in place of dim d, and sizeOf[d] in place of
  /// its size. Both are functions of `newRank` new dims, whose known sizes are
  /// `sizes`. This is the layout of a view in the same storage.
  LayoutMap substitute(unsigned newRank, llvm::ArrayRef<IndexExpr> dims,
                       llvm::ArrayRef<SizeExpr> sizeOf, Sizes sizes = {}) const;

  /// Returns the normal form of the map on a shape (kUnknownSize if dynamic):
  /// static sizes are inserted, digits of extent 1 dropped and adjacent digits
  /// merged (L6).
  LayoutMap specialize(Sizes sizes) const;

  /// Computes the storage point of a logical index, one number per coordinate,
  /// or std::nullopt on overflow or if it depends on a dynamic size. `index`
  /// must be inside the shape. It may continue with a number for each replica;
  /// otherwise the point is that of replica 0.
  std::optional<llvm::SmallVector<int64_t>>
  forward(llvm::ArrayRef<int64_t> index, Sizes sizes) const;

  /// Returns the number of positions along each coordinate, padding included,
  /// or std::nullopt if it overflows int64 or depends on a dynamic size.
  std::optional<llvm::SmallVector<int64_t>> storageExtent(Sizes sizes) const;

  /// Returns the logical index stored at `point`, or std::nullopt if `point` is
  /// padding or outside the storage. `sizes` are static and the map is
  /// injective on them.
  ///
  /// The index is a formula of the stored axes if one is found. Otherwise
  /// (overlapping digits, or swizzles whose equations are not solvable) the
  /// index is searched: boxes of at most 2^20 indices are enumerated, and
  /// larger ones are left to a bounded proof with integer sets. If the search
  /// ends without an answer, the result is std::nullopt and `*isKnown` is
  /// false; in all other cases it is true.
  std::optional<llvm::SmallVector<int64_t>>
  backward(llvm::ArrayRef<int64_t> point, Sizes sizes,
           bool *isKnown = nullptr) const;

  /// Prints the canonical text, e.g. `(d0, d1) -> buffer(d1, d0)`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  struct Data;

  /// Creates a map from coordinates that are already in canonical form.
  static LayoutMap make(unsigned rank, llvm::StringRef space,
                        std::vector<Coordinate> coordinates,
                        llvm::ArrayRef<int64_t> replicas);

  std::shared_ptr<const Data> data;
};

/// Explicit dims of the array that holds linear memory, if the notation states
/// them: `NC4c` stores c in two dims, but its map has one axis for c. The
/// offset of the map is the row-major index over them. The list is empty if the
/// array has the default dims, one per stored axis of the map.
struct StoredDims {
  std::vector<BoundedIndex> dims; // slowest first

  StoredDims() = default;
  /// Returns `dims`, or an empty list if these are the default stored dims of
  /// `map`.
  static StoredDims get(const LayoutMap &map,
                        llvm::ArrayRef<BoundedIndex> dims);

  /// Returns true if `map` is in linear memory and its offset is the row-major
  /// index over these dims.
  bool fit(const LayoutMap &map) const;

  bool operator==(const StoredDims &other) const;
  bool operator!=(const StoredDims &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const StoredDims &stored);

  /// Prints ` stored(d0, d1 floordiv 4, d1 mod 4)`, but an empty list not at
  /// all.
  void print(const LayoutMap &map, llvm::raw_ostream &os) const;
};

/// Splits a coordinate into axes, slowest first, of which it is the row-major
/// index. Returns the whole coordinate as one axis if it is no such index, and
/// no axis for 0 with extent 1.
std::vector<StoredAxis> findStoredAxes(const IndexExpr &value,
                                       const SizeExpr &extent);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_LAYOUTMAP_H
