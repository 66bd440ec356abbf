//===- LogicalShape.cpp - Logical shapes of stored shapes -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/LogicalShape.h"
#include "Views/CheckedViews.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

static void walkDims(const SizeExpr &size,
                     llvm::function_ref<void(unsigned)> fn) {
  for (const SizeExpr::Term &term : size.getTerms())
    for (const SizeExpr::Atom &atom : term.factors)
      if (atom.ceil)
        walkDims(atom.ceil->num, fn);
      else
        fn(atom.dim);
}

/// Returns the dim whose size occurs in `extent`, or std::nullopt if there is
/// none or more than one.
static std::optional<unsigned> getOnlyUnknown(const SizeExpr &extent) {
  std::optional<unsigned> dim;
  bool isOne = true;
  walkDims(extent, [&](unsigned d) {
    isOne &= !dim || *dim == d;
    dim = d;
  });
  return isOne ? dim : std::nullopt;
}

/// Returns the greatest size below 2^62 of dim `dim` with which the stored dims
/// `speaking` fit the stored shape, i.e. with which their extents are at most
/// the entries of `stored`. These extents depend on no other unknown size.
/// Searches by bisection, because extents increase with sizes.
static int64_t findGreatest(ArrayRef<BoundedIndex> dims,
                            ArrayRef<int64_t> stored,
                            ArrayRef<unsigned> speaking, unsigned dim,
                            llvm::SmallVector<int64_t> sizes) {
  auto fits = [&](int64_t size) {
    sizes[dim] = size;
    return llvm::all_of(speaking, [&](unsigned k) {
      std::optional<int64_t> extent =
          dims[k].extent.specialize(sizes).getConstant();
      return extent && *extent <= stored[k];
    });
  };
  int64_t below = 0, beyond = int64_t(1) << 62;
  while (beyond - below > 1) {
    int64_t middle = below + (beyond - below) / 2;
    (fits(middle) ? below : beyond) = middle;
  }
  return below;
}

std::optional<llvm::SmallVector<int64_t>>
mlir::layout::getLogicalShape(ArrayRef<BoundedIndex> storedDims,
                              ArrayRef<int64_t> stored, Sizes known,
                              FailureReason error) {
  if (stored.size() != storedDims.size())
    return error("the stored shape has " + Twine(stored.size()) +
                 " entries, the layout has " + Twine(storedDims.size()) +
                 " stored dims");
  llvm::SmallVector<int64_t> sizes(known);
  // Determine the size of a dim as soon as it is the only unknown size in the
  // extent of a stored dim.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned d = 0; d < sizes.size(); ++d) {
      llvm::SmallVector<unsigned> speaking;
      for (auto [k, dim] : llvm::enumerate(storedDims))
        if (getOnlyUnknown(dim.extent.specialize(sizes)) == d)
          speaking.push_back(k);
      if (sizes[d] >= 0 || speaking.empty())
        continue;
      sizes[d] = findGreatest(storedDims, stored, speaking, d, sizes);
      changed = true;
    }
  }
  for (auto [d, size] : llvm::enumerate(sizes))
    if (size < 0)
      return error(
          "the stored shape does not determine the size of dim " + Twine(d) +
          ", because no stored dim is of that dim alone: state the size");
  for (auto [k, dim] : llvm::enumerate(storedDims)) {
    std::optional<int64_t> extent = dim.extent.evaluate(sizes);
    if (!extent || std::max<int64_t>(*extent, 0) != stored[k])
      return error("no logical shape is stored with " + Twine(stored[k]) +
                   " in stored dim " + Twine(k) +
                   (extent ? ": the next one below has " + Twine(*extent)
                           : Twine(": it does not fit 64 bits")));
  }
  return sizes;
}

LayoutMap mlir::layout::getMapOfStoredDims(const LayoutMap &map,
                                           ArrayRef<BoundedIndex> storedDims) {
  std::vector<Coordinate> coordinates;
  for (auto [k, dim] : llvm::enumerate(storedDims))
    coordinates.push_back({"s" + std::to_string(k), dim.value, dim.extent});
  return LayoutMap::get(map.getRank(), "stored", std::move(coordinates),
                        map.getReplicas());
}
