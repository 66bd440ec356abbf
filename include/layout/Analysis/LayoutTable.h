//===- LayoutTable.h - Numbered layouts -------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers the layouts of an assignment, and caches what is derived from them:
// tilings, validity and equality on a type. A layout here is a map, optionally
// with the value of its padding.
//
//   table.getTiled({1, 16, 1, 1}, {1})    NCHW16c
//   table.withPadding(.., 0.0 : f32)      NCHW16c with padding of zeros
//
// Laws:
//  * equal maps have equal numbers; numbers increase in the order of first use;
//  * layouts with the same representative on a type store it identically (L6 of
//    docs/spec.md), and a layout with a representative is valid (L1);
//  * a representative states padding only if the type has padding.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_LAYOUTTABLE_H
#define LAYOUT_ANALYSIS_LAYOUTTABLE_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Allocator.h"
#include <unordered_map>

namespace mlir::layout {

/// The number of a layout in a LayoutTable.
using LayoutId = unsigned;

/// Marks operands and results that are not ranked tensors, or accept any
/// layout.
constexpr LayoutId kAnyLayout = ~0u;

class LayoutTable {
public:
  using Tiles = SmallVector<int64_t, 6>;

  LayoutId intern(const LayoutMap &map);
  /// Returns the number of a layout given by an attribute, which must be valid
  /// for the type. Attributes with one map have one number, except that layouts
  /// whose replicas are partial sums (P4 of docs/spec.md) are never equal to
  /// others.
  LayoutId intern(LayoutAttrInterface layout, RankedTensorType type);
  /// Returns the first attribute that `layout` was created from, or a null
  /// attribute if it was only created from maps.
  Attribute getSpelling(LayoutId layout) const {
    return spellings.lookup(layout);
  }
  const LayoutMap &getMap(LayoutId layout) const { return maps[layout]; }
  /// Returns true if the replicas of elements are partial sums, i.e. summands
  /// and not copies (P4 of docs/spec.md).
  bool isPartial(LayoutId layout) const {
    return isa_and_present<PartialAttr>(getSpelling(layout));
  }

  /// Returns `layout` with the value `padding` in all positions that hold no
  /// element (P1 of docs/spec.md), where null permits any value.
  LayoutId withPadding(LayoutId layout, TypedAttr padding);
  LayoutId withoutPadding(LayoutId layout) const {
    auto it = stated.find(layout);
    return it == stated.end() ? layout : it->second.first;
  }
  TypedAttr getPadding(LayoutId layout) const {
    return stated.lookup(layout).second;
  }
  /// Returns the logical type `type` with the encoding of `layout`, or without
  /// an encoding if `layout` is row-major.
  RankedTensorType getStoredType(RankedTensorType type, LayoutId layout) const;
  /// Returns the types of values stored as `layouts`. A value with kAnyLayout
  /// keeps its type.
  SmallVector<Type> getStoredTypes(ValueRange values,
                                   ArrayRef<LayoutId> layouts) const;

  LayoutId getRowMajor(unsigned rank);

  /// Returns the layout of `type`, whose encoding must be a layout or absent.
  LayoutId getLayoutOf(RankedTensorType type);

  /// Returns a layout in linear memory. Its offset counts, slowest first, the
  /// tile numbers of all dims, in logical order, and then the indices inside of
  /// tiles. `order` lists the dims with tile sizes above 1 in the order of
  /// these indices, slowest first.
  LayoutId getTiled(ArrayRef<int64_t> tiles, ArrayRef<unsigned> order);

  /// Returns the tile size of every dim if `layout` is one that `getTiled`
  /// creates for some order, or else nullptr.
  const Tiles *findTiles(LayoutId layout);

  /// Returns the layout of a tensor that loops index by `to`, with those axes
  /// of `layout` that belong to these loops. `layout` is that of a tensor that
  /// all loops index by the permutation `from`. Returns std::nullopt if
  /// `layout` has replicas or an axis that is not a digit of one dim, or if
  /// `to` has a sum of loops or a loop twice. Returns row-major if `layout` is
  /// an image and no axis of its lanes remains.
  std::optional<LayoutId> project(LayoutId layout, AffineMap from,
                                  AffineMap to);

  /// Returns the representative of all layouts that store tensors of this type
  /// as `layout` does: row-major if it is one of them, otherwise the first one
  /// used. Returns std::nullopt if `layout` has another rank, may have too
  /// large a storage, or is not proven valid for the type. With `isKnownValid`,
  /// no proof is needed.
  std::optional<LayoutId> getRepresentative(LayoutId layout,
                                            RankedTensorType type,
                                            bool isKnownValid = false);

  /// Returns `layout` without padding value and with the sizes of `type`
  /// substituted. Layouts with identical storage have the same normal form in
  /// almost all cases.
  LayoutId getNormalForm(LayoutId layout, RankedTensorType type);

private:
  struct MapHash {
    size_t operator()(const LayoutMap &map) const { return hash_value(map); }
  };
  using TypeLayout = std::pair<Type, LayoutId>;

  /// Returns true if every axis is one digit of a dim, with an extent that
  /// holds all of its values, and the digits of each dim compose it. Such
  /// layouts are valid for all shapes.
  bool isMadeOfDigits(LayoutId layout);
  std::optional<Tiles> computeTiles(LayoutId layout);
  std::optional<LayoutMap> computeProjection(const LayoutMap &layout,
                                             AffineMap from, AffineMap to);

  std::vector<LayoutMap> maps;
  std::unordered_map<LayoutMap, LayoutId, MapHash> ids;
  llvm::DenseMap<LayoutId, Attribute> spellings;
  // The ids of layouts with partial sums, by map and #layout.partial.
  llvm::DenseMap<std::pair<LayoutId, Attribute>, LayoutId> partials;
  // Per layout that states padding, the layout without it and the padding
  // value; and the inverse.
  llvm::DenseMap<LayoutId, std::pair<LayoutId, TypedAttr>> stated;
  llvm::DenseMap<std::pair<LayoutId, Attribute>, LayoutId> padded;
  SmallVector<LayoutId> rowMajor;
  // The ids of tiled layouts, by concatenated rank, tiles and order.
  llvm::DenseMap<ArrayRef<int64_t>, LayoutId> tiled;
  llvm::BumpPtrAllocator keys;
  llvm::DenseMap<LayoutId, bool> madeOfDigits;
  // The tiles of layouts, allocated separately so that pointers stay valid.
  llvm::DenseMap<LayoutId, std::unique_ptr<Tiles>> tilesOf;
  llvm::DenseMap<std::pair<LayoutId, std::pair<AffineMap, AffineMap>>,
                 std::optional<LayoutId>>
      projections;
  llvm::DenseMap<TypeLayout, std::optional<LayoutId>> representatives;
  llvm::DenseMap<TypeLayout, LayoutId> normalFormOf;
  // Maps normal forms to representatives.
  llvm::DenseMap<TypeLayout, LayoutId> byNormalForm;
};

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_LAYOUTTABLE_H
