//===- LayoutMap.h - The canonical map of a layout --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `LayoutMap` takes a logical index to one point of a storage space whose
// coordinates have names (docs/spec.md, section 1). It is an immutable value,
// cheap to copy, and the one place that says where an element lives: every
// family resolves to it, every lowering reads it.
//
//     NCHW16c of 1x17x7x7:  space buffer, one coordinate
//       offset = (c mod 16) + 16 w + 16 W h + 16 W H (c floordiv 16) + ..
//       extent = 16 * N * ceil(C, 16) * H * W                     // 1568
//
// Laws (L1..L7 of docs/spec.md):
//  * L5: maps whose digits nest are equal as values iff they denote the same
//    map for every shape; names and order of writing leave no trace;
//  * specialize(sizes) is the normal form on a shape (L6): extent-1 digits are
//    gone, adjacent digits are merged;
//  * backward(forward(i)) == i, and backward of padding says so (L3).
//
// Replicas: a map may store each element several times. `replicas` are the
// extents of extra dims, numbered after the logical ones in every value; an
// index has one point per replica, and some of them may be the same. Sizes are
// those of the logical dims alone, everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_LAYOUTMAP_H
#define LAYOUT_ALGEBRA_LAYOUTMAP_H

#include "layout/Algebra/Sized.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir {
namespace layout {

/// One named coordinate: 0 <= value < extent on every valid shape.
struct Coordinate {
  std::string name;
  IndexExpr value;
  SizeExpr extent; // padding included
};

/// One dim of the physical tensor: where a coordinate is row-major over
/// `extent`s, its value is the row-major fusion of the axes' values.
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

  /// Row-major linear memory without padding: what a tensor without a layout
  /// means.
  static LayoutMap rowMajor(unsigned rank);

  explicit operator bool() const { return static_cast<bool>(data); }
  unsigned getRank() const;
  llvm::StringRef getSpace() const;
  llvm::ArrayRef<Coordinate> getCoordinates() const;

  /// The extents of the replica dims, each at least 2.
  llvm::ArrayRef<int64_t> getReplicas() const;
  /// Logical dims and replicas together ..
  unsigned getNumDims() const { return getRank() + getReplicas().size(); }
  /// .. and the sizes of all of them.
  llvm::SmallVector<int64_t> getBox(Sizes sizes) const;

  /// The coordinates as dense groups, slowest axis first, the axes of the
  /// first coordinate before those of the second. A coordinate that is not
  /// dense is one axis.
  llvm::ArrayRef<StoredAxis> getStoredAxes() const;
  llvm::ArrayRef<StoredAxis> getStoredAxes(unsigned coordinate) const;

  /// The dims of the array that holds the storage, where no notation states
  /// others: the axes of linear memory, the coordinates of any other space.
  llvm::SmallVector<Sized> getStoredDims() const;

  bool operator==(const LayoutMap &other) const;
  bool operator!=(const LayoutMap &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const LayoutMap &map);

  /// True if arithmetic on extents or strides left int64.
  bool hasOverflow() const;

  /// The layout of the view whose dims give the dims of this one: logical dim
  /// d of this map is dims[d] with size sizeOf[d], both in terms of the new
  /// dims, of which `sizes` are known.
  LayoutMap substitute(unsigned newRank, llvm::ArrayRef<IndexExpr> dims,
                       llvm::ArrayRef<SizeExpr> sizeOf, Sizes sizes = {}) const;

  /// The normal form on the box of `sizes` (kUnknownSize where dynamic).
  LayoutMap specialize(Sizes sizes) const;

  /// The storage point of a logical index, one number per coordinate; nothing
  /// on overflow or a dynamic size. `index` lies in the box. It may go on with
  /// the numbers of the replicas; else the first replica is meant.
  std::optional<llvm::SmallVector<int64_t>>
  forward(llvm::ArrayRef<int64_t> index, Sizes sizes) const;

  /// The number of positions along each coordinate, padding included.
  std::optional<llvm::SmallVector<int64_t>> storageExtent(Sizes sizes) const;

  /// The logical index stored at `point`; nothing where `point` is padding or
  /// outside the storage. `sizes` are static and the map is injective there.
  ///
  /// Maps that `invertAxes` inverts by construction have a formula for it. For
  /// others (digits that overlap, swizzles that no equations solve) the index
  /// is searched: a box of at most kMaxPoints indices is walked, a larger one
  /// is left to integer sets with their bound. Where that ends without an
  /// answer the result is nothing, too, and `*isKnown` false.
  std::optional<llvm::SmallVector<int64_t>>
  backward(llvm::ArrayRef<int64_t> point, Sizes sizes,
           bool *isKnown = nullptr) const;

  /// The canonical text: `(d0, d1) -> buffer(d1, d0)`.
  void print(llvm::raw_ostream &os) const;
  std::string str() const;

private:
  struct Data;

  /// Of coordinates in canonical form.
  static LayoutMap make(unsigned rank, llvm::StringRef space,
                        std::vector<Coordinate> coordinates,
                        llvm::ArrayRef<int64_t> replicas);

  std::shared_ptr<const Data> data;
};

/// Other dims of the array that holds linear memory, as a notation states them
/// (`NC4c` stores c in two dims, the axes of its map are one). Row-major, they
/// are the offset of the map; none where they are LayoutMap::getStoredDims().
struct StoredDims {
  std::vector<Sized> dims; // slowest first

  StoredDims() = default;
  /// `dims` as those of `map`.
  static StoredDims get(const LayoutMap &map, llvm::ArrayRef<Sized> dims);

  /// Whether these are dims of the storage of `map`.
  bool fit(const LayoutMap &map) const;

  bool operator==(const StoredDims &other) const;
  bool operator!=(const StoredDims &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const StoredDims &stored);

  /// ` stored(d0, d1 floordiv 4, d1 mod 4)`; nothing where there are none.
  void print(const LayoutMap &map, llvm::raw_ostream &os) const;
};

/// The dense axes of one coordinate; see LayoutMap::getStoredAxes.
std::vector<StoredAxis> findStoredAxes(const IndexExpr &value,
                                       const SizeExpr &extent);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_LAYOUTMAP_H
