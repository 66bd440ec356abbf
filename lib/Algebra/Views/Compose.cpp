//===- Compose.cpp - Compose and invert layouts ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expressions/UpperBound.h"
#include "Views/CheckedViews.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

std::optional<LayoutMap>
mlir::layout::compose(const LayoutMap &a, const LayoutMap &b,
                      ArrayRef<BoundedIndex> storedDims, FailureReason error) {
  if (!checkMap(a, error) || !checkMap(b, error))
    return std::nullopt;
  llvm::SmallVector<BoundedIndex> dims(storedDims);
  if (a.getRank() != dims.size()) {
    if (a.getRank() != b.getCoordinates().size())
      return error("a layout of rank " + Twine(a.getRank()) +
                   " cannot follow one with " + Twine(storedDims.size()) +
                   " stored dims and " + Twine(b.getCoordinates().size()) +
                   " coordinates (L7): its dims are the stored dims "
                   "or the coordinates of the first one");
    dims.clear();
    for (const Coordinate &coordinate : b.getCoordinates())
      dims.push_back({coordinate.value, coordinate.extent});
  }
  // The result has the replicas of `b`, and then those of `a`.
  llvm::SmallVector<int64_t> replicas(b.getReplicas());
  IndexView view;
  view.rank = b.getRank();
  for (BoundedIndex &dim : dims) {
    view.dims.push_back(std::move(dim.value));
    view.sizeOf.push_back(std::move(dim.extent));
  }
  for (int64_t extent : a.getReplicas()) {
    view.dims.push_back(IndexExpr::dim(view.rank + replicas.size()));
    view.sizeOf.push_back(SizeExpr(extent));
    replicas.push_back(extent);
  }
  LayoutMap result = replaceAllDims(a, view, replicas);
  if (result.hasOverflow())
    return error("the strides of the composed layout do not fit 64 bits");
  return result;
}

/// Returns `value` over dims of the sizes `sizeOf`, and as its extent one more
/// than its highest value, or std::nullopt if no bound is known. If the value
/// is negative at the beginning of the storage, where there is padding, adds a
/// constant so that it begins at 0.
static std::optional<BoundedIndex>
measure(const IndexExpr &value, ArrayRef<SizeExpr> sizeOf, Sizes known) {
  std::vector<IndexExpr> dims;
  for (unsigned d = 0; d < sizeOf.size(); ++d)
    dims.push_back(IndexExpr::dim(d));
  IndexExpr simple = substitute(value, dims, sizeOf, known);
  if (std::optional<Interval> range = getRange(simple, known)) {
    int64_t lowest = std::min<int64_t>(range->min, 0);
    return BoundedIndex{
        add(simple, IndexExpr(SizeExpr(0) - SizeExpr(lowest)), known),
        SizeExpr(range->max) - SizeExpr(lowest) + SizeExpr(1)};
  }
  if (std::optional<int64_t> c = simple.constant.getConstant(); c && *c < 0)
    simple.constant = SizeExpr(0);
  std::optional<SizeExpr> bound = getUpperBound(simple, known);
  if (!bound)
    return std::nullopt;
  return BoundedIndex{simple, bound->substitute(sizeOf)};
}

/// Returns `dims`, stored dims of `map`, with the known logical sizes inserted.
static std::vector<StoredAxis>
specialize(const LayoutMap &map, ArrayRef<BoundedIndex> dims, Sizes known) {
  std::vector<IndexExpr> identity;
  llvm::SmallVector<SizeExpr> sizeOf;
  for (auto [d, size] : llvm::enumerate(map.getBox(known))) {
    identity.push_back(IndexExpr::dim(d));
    sizeOf.push_back(size >= 0 ? SizeExpr(size) : SizeExpr::dim(d));
  }
  std::vector<StoredAxis> axes;
  for (const BoundedIndex &dim : dims)
    axes.push_back({substitute(dim.value, identity, sizeOf, known),
                    dim.extent.substitute(sizeOf)});
  return axes;
}

std::optional<LayoutMap>
mlir::layout::inverse(const LayoutMap &map, ArrayRef<BoundedIndex> storedDims,
                      Sizes sizes, FailureReason error) {
  if (!checkMap(map, error))
    return std::nullopt;
  if (!sizes.empty() && sizes.size() != map.getRank())
    return error(Twine(sizes.size()) + " sizes for a layout of rank " +
                 Twine(map.getRank()));
  if (!map.getReplicas().empty())
    return error("a layout with replicas has no inverse layout: it stores an "
                 "element at several positions (L1)");
  if (llvm::is_contained(sizes, 0))
    return error("a tensor without elements has no stored box to invert");
  llvm::SmallVector<int64_t> known(map.getRank(), kUnknownSize);
  if (!sizes.empty())
    known.assign(sizes.begin(), sizes.end());

  llvm::SmallVector<BoundedIndex> dims(storedDims);
  if (storedDims.empty())
    for (const StoredAxis &axis : map.getStoredAxes())
      dims.push_back({axis.value, axis.extent});
  std::vector<StoredAxis> axes = specialize(map, dims, known);

  // The sizes of the dims of the inverse, one per axis: constants if known,
  // else symbols.
  unsigned rank = axes.size();
  llvm::SmallVector<SizeExpr> sizeOf;
  llvm::SmallVector<int64_t> knownOf;
  for (auto [a, axis] : llvm::enumerate(axes)) {
    std::optional<int64_t> extent = axis.extent.specialize(known).getConstant();
    sizeOf.push_back(extent ? SizeExpr(*extent) : SizeExpr::dim(a));
    knownOf.push_back(extent ? *extent : kUnknownSize);
  }
  std::optional<std::vector<IndexExpr>> logical =
      invertAxes(axes, map.getRank(), known);
  if (!logical)
    return error("no inverse layout of " + map.str() +
                 " was found: its logical index is not a formula of its stored "
                 "dims (L7)");
  dims.clear();
  for (auto [d, value] : llvm::enumerate(*logical)) {
    std::optional<BoundedIndex> dim = measure(value, sizeOf, knownOf);
    if (!dim)
      return error(
          "the storage of " + map.str() +
          " has an unknown number of positions before the first index of dim " +
          Twine(d) + ": state the sizes (L7)");
    dims.push_back(std::move(*dim));
  }
  BoundedIndex offset = group(dims);
  LayoutMap result =
      LayoutMap::get(rank, "buffer", {{"offset", offset.value, offset.extent}});
  if (result.hasOverflow())
    return error("the stored box of " + map.str() + " does not fit 64 bits");
  if (!isInjectiveByConstruction(result, knownOf))
    return error(map.str() +
                 " has no inverse layout: several positions of its storage "
                 "would have one logical index (L7)");
  return result;
}
