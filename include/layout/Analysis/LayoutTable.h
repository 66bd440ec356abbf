//===- LayoutTable.h - Layouts as numbers -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts that a decision speaks of, each under a small number, and what is
// derived from them again and again: tilings, validity and equality on a type.
// A layout here is a map with what its padding holds, where that is stated.
//
//   table.getTiled({1, 16, 1, 1}, {1})    NCHW16c
//   table.withPadding(.., 0.0 : f32)      the same with padding of zeros
//
// Laws:
//  * the same map has the same number, numbers go up in the order of asking;
//  * layouts with the same representative on a type store it the same way (L6),
//    and a layout that has one is valid for the type (L1);
//  * a representative states padding only where the type has some.
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

namespace mlir {
namespace layout {

/// The number of a layout.
using LayoutId = unsigned;

/// For operands and results that are no ranked tensors, or in whatever layout
/// they come.
constexpr LayoutId kAnyLayout = ~0u;

class LayoutTable {
public:
  using Tiles = SmallVector<int64_t, 6>;

  LayoutId intern(const LayoutMap &map);
  /// A layout of a family that keeps its name; it is valid for the type. What
  /// holds parts of sums (P4) is no other layout's equal.
  LayoutId intern(LayoutAttrInterface layout, RankedTensorType type);
  /// The attribute that `layout` was given as; null for maps.
  Attribute getSpelling(LayoutId layout) const {
    return spellings.lookup(layout);
  }
  const LayoutMap &getMap(LayoutId layout) const { return maps[layout]; }
  /// Whether its replicas are parts of elements (P4).
  bool isPartial(LayoutId layout) const {
    return isa_and_present<PartialAttr>(getSpelling(layout));
  }

  /// `layout` with padding that holds `padding` (P1); null: anything.
  LayoutId withPadding(LayoutId layout, TypedAttr padding);
  LayoutId withoutPadding(LayoutId layout) const {
    auto it = stated.find(layout);
    return it == stated.end() ? layout : it->second.first;
  }
  TypedAttr getPadding(LayoutId layout) const {
    return stated.lookup(layout).second;
  }
  /// `type`, which is logical, stored as `layout`.
  RankedTensorType getStoredType(RankedTensorType type, LayoutId layout) const;
  /// The types of values that are stored as `layouts`; what is kAnyLayout keeps
  /// its own.
  SmallVector<Type> getStoredTypes(ValueRange values,
                                   ArrayRef<LayoutId> layouts) const;

  LayoutId getRowMajor(unsigned rank);

  /// The layout that the type states, which is one that the project knows.
  LayoutId getLayoutOf(RankedTensorType type);

  /// Linear memory: the dims in logical order, each divided by its tile, then
  /// the tiles of the dims in `order`, which are those with a tile above 1.
  LayoutId getTiled(ArrayRef<int64_t> tiles, ArrayRef<unsigned> order);

  /// The tile of every dim of a layout that `getTiled` makes with some order;
  /// null for other layouts.
  const Tiles *findTiles(LayoutId layout);

  /// The layout of a tensor indexed by `to` that goes with a tensor indexed by
  /// the permutation `from` and stored as `layout`: the axes of the loops that
  /// it knows. Nothing where an axis is no digit of one dim.
  std::optional<LayoutId> project(LayoutId layout, AffineMap from,
                                  AffineMap to);

  /// The layout that stands for all that store tensors of this type as
  /// `layout` does: row-major if that is one of them, otherwise the first that
  /// was asked for. Nothing if it is not proven valid for the type, unless the
  /// caller knows that it is.
  std::optional<LayoutId> getRepresentative(LayoutId layout,
                                            RankedTensorType type,
                                            bool isKnownValid = false);

  /// `layout` specialized to the shape of the type.
  LayoutId getNormalForm(LayoutId layout, RankedTensorType type);

private:
  struct MapHash {
    size_t operator()(const LayoutMap &map) const { return hash_value(map); }
  };
  using TypeLayout = std::pair<Type, LayoutId>;

  /// Whether every axis has room for one digit of a dim, and the digits of each
  /// dim make it up: such layouts are valid for all shapes.
  bool isMadeOfDigits(LayoutId layout);
  std::optional<Tiles> computeTiles(LayoutId layout);
  std::optional<LayoutMap> computeProjection(const LayoutMap &layout,
                                             AffineMap from, AffineMap to);

  std::vector<LayoutMap> maps;
  std::unordered_map<LayoutMap, LayoutId, MapHash> ids;
  llvm::DenseMap<LayoutId, Attribute> spellings;
  // By map and #layout.partial.
  llvm::DenseMap<std::pair<LayoutId, Attribute>, LayoutId> partials;
  // The same map with nothing stated, and what is stated; and the way back.
  llvm::DenseMap<LayoutId, std::pair<LayoutId, TypedAttr>> stated;
  llvm::DenseMap<std::pair<LayoutId, Attribute>, LayoutId> padded;
  SmallVector<LayoutId> rowMajor;
  // By rank, tiles and order, one after the other.
  llvm::DenseMap<ArrayRef<int64_t>, LayoutId> tiled;
  llvm::BumpPtrAllocator keys;
  llvm::DenseMap<LayoutId, bool> madeOfDigits;
  // By layout; the tiles are boxed so that they stay where they are.
  llvm::DenseMap<LayoutId, std::unique_ptr<Tiles>> tilesOf;
  llvm::DenseMap<std::pair<LayoutId, std::pair<AffineMap, AffineMap>>,
                 std::optional<LayoutId>>
      projections;
  llvm::DenseMap<TypeLayout, std::optional<LayoutId>> representatives;
  llvm::DenseMap<TypeLayout, LayoutId> normalFormOf;
  // Normal form -> representative.
  llvm::DenseMap<TypeLayout, LayoutId> byNormalForm;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_LAYOUTTABLE_H
