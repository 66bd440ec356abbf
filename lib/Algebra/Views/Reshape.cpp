//===- Reshape.cpp - Layouts of expanded and collapsed tensors ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dim of the smaller rank is the row-major fusion of a group of dims, which
// are its digits. A digit above a dynamic size has no formula. Such dims can be
// collapsed only if the map never separates them. The candidate is the map in
// which the last dim of the group replaces all; it is valid if expanding it
// gives the original map.
//
//===----------------------------------------------------------------------===//

#include "Views/CheckedViews.h"
#include "Views/SizesOfFusion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Index views
//===----------------------------------------------------------------------===//

/// Checks that no size is negative, and that `groups` list the dims 0 to
/// sizes.size() - 1 once and in order. No groups at all denote a tensor of rank
/// 0, so that all sizes must be 1. Reports the first violation and returns
/// false.
static bool checkGroups(DimGroups groups, Sizes sizes, FailureReason error) {
  for (auto [d, size] : llvm::enumerate(sizes))
    if (size < 0 && size != kUnknownSize) {
      error("dim " + Twine(d) + " has the negative size " + Twine(size));
      return false;
    }
  if (groups.empty()) {
    if (llvm::all_of(sizes, [](int64_t size) { return size == 1; }))
      return true;
    error("without groups all sizes are 1: a tensor of rank 0 has one "
          "element");
    return false;
  }
  int64_t next = 0;
  for (ArrayRef<int64_t> group : groups) {
    if (group.empty()) {
      error("a group is empty: every group needs a dim");
      return false;
    }
    for (int64_t d : group)
      if (d != next++) {
        error("dim " + Twine(d) + " is in the place of dim " + Twine(next - 1) +
              ": groups must hold all dims once and in order");
        return false;
      }
  }
  if (next != int64_t(sizes.size())) {
    error("groups of " + Twine(next) + " dims for " + Twine(sizes.size()) +
          " sizes: groups must hold all dims");
    return false;
  }
  return true;
}

/// Returns dim `u` of a view. Its extent is its size as a constant if that is
/// static and the dim is not the first one of its group, and else the variable
/// size(u).
static BoundedIndex getViewDim(int64_t u, ArrayRef<int64_t> group,
                               Sizes sizes) {
  BoundedIndex dim = BoundedIndex::dim(u);
  if (u != group.front() && sizes[u] >= 0)
    dim.extent = SizeExpr(sizes[u]);
  return dim;
}

std::optional<IndexView> mlir::layout::getExpandView(DimGroups groups,
                                                     Sizes newSizes,
                                                     FailureReason error) {
  if (!checkGroups(groups, newSizes, error))
    return std::nullopt;
  IndexView view;
  view.rank = newSizes.size();
  view.sizes.assign(view.rank, kUnknownSize);
  for (ArrayRef<int64_t> dims : groups) {
    llvm::SmallVector<BoundedIndex> parts;
    for (int64_t u : dims) {
      parts.push_back(getViewDim(u, dims, newSizes));
      if (u != dims.front())
        view.sizes[u] = newSizes[u];
    }
    BoundedIndex fused = group(parts);
    view.dims.push_back(fused.value);
    view.sizeOf.push_back(fused.extent);
  }
  return view;
}

/// Splits dim `d` into one digit per size, the last one fastest. Fails if a
/// size after the first one is dynamic.
static std::optional<std::vector<BoundedIndex>>
getDigits(unsigned d, Sizes sizes, FailureReason error) {
  std::vector<BoundedIndex> digits;
  int64_t below = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (i == 0) {
      digits.push_back(floorDiv(BoundedIndex::dim(d), below));
      break;
    }
    if (sizes[i] < 0)
      return error("a dim after the first one of its group has a dynamic size: "
                   "only the first one may");
    int64_t above;
    if (llvm::MulOverflow(below, std::max<int64_t>(sizes[i], 1), above))
      return error("the sizes of a group do not fit 64 bits");
    // A size of 0 counts as 1 in the divisors of the other digits.
    digits.push_back(sizes[i]
                         ? mod(floorDiv(BoundedIndex::dim(d), below), sizes[i])
                         : BoundedIndex{IndexExpr(), SizeExpr(0)});
    below = above;
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<IndexView> mlir::layout::getCollapseView(DimGroups groups,
                                                       Sizes oldSizes,
                                                       FailureReason error) {
  if (!checkGroups(groups, oldSizes, error))
    return std::nullopt;
  IndexView view;
  view.rank = groups.size();
  view.sizes.assign(view.rank, kUnknownSize);
  // A tensor of one element has dims without a group.
  if (groups.empty()) {
    view.dims.resize(oldSizes.size());
    view.sizeOf.assign(oldSizes.size(), SizeExpr(1));
  }
  for (auto [d, group] : llvm::enumerate(groups)) {
    std::optional<std::vector<BoundedIndex>> digits =
        getDigits(d, oldSizes.slice(group.front(), group.size()), error);
    if (!digits)
      return std::nullopt;
    for (BoundedIndex &digit : *digits) {
      view.dims.push_back(std::move(digit.value));
      view.sizeOf.push_back(std::move(digit.extent));
    }
  }
  return view;
}

//===----------------------------------------------------------------------===//
// Layout maps
//===----------------------------------------------------------------------===//

/// Replaces dim first + i of `map` by newDim(i) for i < count. newDim(i) is a
/// function of `newCount` new dims, which are also numbered from `first` on.
static LayoutMap replaceRun(const LayoutMap &map, unsigned first,
                            unsigned count, unsigned newCount,
                            llvm::function_ref<BoundedIndex(unsigned)> newDim) {
  IndexView view;
  view.rank = map.getRank() - count + newCount;
  view.sizes.assign(view.rank, kUnknownSize);
  for (unsigned d = 0; d < map.getRank(); ++d) {
    BoundedIndex dim = d < first ? BoundedIndex::dim(d)
                       : d >= first + count
                           ? BoundedIndex::dim(d - count + newCount)
                           : newDim(d - first);
    view.dims.push_back(dim.value);
    view.sizeOf.push_back(dim.extent);
  }
  return applyView(map, view);
}

/// Returns `map` with the static ones of `sizes` inserted, which are sizes of
/// its dims from `first` on.
static LayoutMap withSizesOfRun(const LayoutMap &map, unsigned first,
                                Sizes sizes) {
  llvm::SmallVector<int64_t> known(map.getRank(), kUnknownSize);
  llvm::copy(sizes, known.begin() + first);
  return map.specialize(known);
}

/// Returns `sizes` with kUnknownSize in place of the first one.
static llvm::SmallVector<int64_t> withoutFirst(Sizes sizes) {
  llvm::SmallVector<int64_t> inner(sizes);
  inner.front() = kUnknownSize;
  return inner;
}

/// Fuses the dims from `first` on, one per entry of `sizes`, to one dim,
/// without floordiv and mod. Fails if the map does not store them as one
/// row-major index. Sizes may be dynamic.
static std::optional<LayoutMap> fuseUncut(const LayoutMap &map, unsigned first,
                                          Sizes sizes, FailureReason error) {
  unsigned count = sizes.size(), last = first + count - 1;
  auto isInRun = [&](unsigned d) { return first <= d && d <= last; };
  SizesOfFusion sizesOf{SizeExpr(1), 1, SizeExpr::dim(last), isInRun};
  for (unsigned i = 0; i < count; ++i) {
    if (sizes[i] < 0)
      sizesOf.symbols = sizesOf.symbols * SizeExpr::dim(first + i);
    else if (llvm::MulOverflow(sizesOf.factor, std::max<int64_t>(sizes[i], 1),
                               sizesOf.factor))
      return error("the sizes of a group do not fit 64 bits");
  }
  LayoutMap fixed = withSizesOfRun(map, first, sizes);
  // In the candidate, drop all fused dims but the last, whose stride is that of
  // the fusion.
  LayoutMap candidate = replaceRun(fixed, first, count, count, [&](unsigned i) {
    BoundedIndex dim = BoundedIndex::dim(first + i);
    return i + 1 == count ? dim : BoundedIndex{IndexExpr(), dim.extent};
  });
  // Then number the last dim `first`, and the dims after it accordingly.
  candidate = replaceRun(sizesOf.apply(candidate), first, count, 1,
                         [&](unsigned) { return BoundedIndex::dim(first); });

  llvm::SmallVector<llvm::SmallVector<int64_t, 2>> groups;
  llvm::SmallVector<int64_t> expanded(map.getRank(), kUnknownSize);
  for (unsigned d = 0; d < map.getRank(); ++d) {
    if (d <= first || d > last)
      groups.emplace_back();
    groups.back().push_back(d);
    if (isInRun(d))
      expanded[d] = sizes[d - first];
  }
  if (!candidate.hasOverflow()) {
    std::optional<LayoutMap> back = expandShape(candidate, groups, expanded);
    if (back && withSizesOfRun(*back, first, sizes) == fixed)
      return candidate;
  }
  return error("dims " + Twine(first) + " to " + Twine(last) +
               " have dynamic sizes and are not stored as one row-major digit: "
               "no layout of the collapsed tensor exists (L7); make the sizes "
               "below the first one static, or convert the tensor");
}

/// Fuses the dims from `first` on, one per entry of `sizes`, to one dim, whose
/// digits (floordiv and mod) replace them. Fails if a size after the first one
/// is dynamic.
static std::optional<LayoutMap> fuseDigits(const LayoutMap &map, unsigned first,
                                           Sizes sizes, FailureReason error) {
  std::optional<std::vector<BoundedIndex>> digits =
      getDigits(first, sizes, error);
  if (!digits)
    return std::nullopt;
  // In strides and extents, size(first) is from now on the size of the fusion.
  auto isFirst = [&](unsigned d) { return d == first; };
  SizesOfFusion sizesOf{SizeExpr::dim(first), 1, SizeExpr::dim(first), isFirst};
  for (int64_t size : sizes.drop_front())
    sizesOf.factor *= std::max<int64_t>(size, 1);
  LayoutMap fixed = withSizesOfRun(map, first, withoutFirst(sizes));
  return replaceRun(sizesOf.apply(fixed), first, sizes.size(), 1,
                    [&](unsigned i) {
                      BoundedIndex digit = (*digits)[i];
                      if (i == 0)
                        digit.extent = SizeExpr::dim(first);
                      return digit;
                    });
}

/// Fuses the dims first .. first + allSizes.size() - 1 to one dim. Fails if a
/// size after the first one that is not 1 is dynamic, unless the map stores the
/// dims up to it as one row-major index.
static std::optional<LayoutMap> collapseRun(LayoutMap map, unsigned first,
                                            Sizes allSizes,
                                            FailureReason error) {
  if (allSizes.size() == 1)
    return map;
  // Drop dims of size 1, which have no digit.
  unsigned kept = 0;
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<BoundedIndex> dims(allSizes.size(),
                                       BoundedIndex{IndexExpr(), SizeExpr(1)});
  for (auto [i, size] : llvm::enumerate(allSizes))
    if (size != 1) {
      dims[i] = BoundedIndex::dim(first + kept++);
      sizes.push_back(size);
    }
  if (sizes.empty()) {
    dims[0] = BoundedIndex::dim(first);
    sizes.push_back(1);
  }
  if (sizes.size() != dims.size())
    map = replaceRun(map, first, dims.size(), sizes.size(),
                     [&](unsigned i) { return dims[i]; });

  unsigned uncut = sizes.size();
  while (uncut > 1 && sizes[uncut - 1] >= 0)
    --uncut;
  if (uncut > 1) {
    std::optional<LayoutMap> fused = fuseUncut(
        map, first, ArrayRef<int64_t>(sizes).take_front(uncut), error);
    if (!fused)
      return std::nullopt;
    map = *fused;
    sizes.erase(sizes.begin(), sizes.begin() + uncut - 1);
    sizes.front() = kUnknownSize;
  }
  return sizes.size() > 1 ? fuseDigits(map, first, sizes, error)
                          : std::optional<LayoutMap>(map);
}

std::optional<LayoutMap> mlir::layout::expandShape(const LayoutMap &map,
                                                   DimGroups groups,
                                                   Sizes newSizes,
                                                   FailureReason error) {
  if (!checkMap(map, error))
    return std::nullopt;
  if (groups.size() != map.getRank())
    return error(Twine(groups.size()) + " groups for a layout of rank " +
                 Twine(map.getRank()) + ": state one for each dim");
  std::optional<IndexView> view = getExpandView(groups, newSizes, error);
  if (!view)
    return std::nullopt;
  return viewIfSizesFit(map, *view, "the expanded tensor", error);
}

std::optional<LayoutMap> mlir::layout::collapseShape(const LayoutMap &map,
                                                     DimGroups groups,
                                                     Sizes oldSizes,
                                                     FailureReason error) {
  if (!checkMap(map, error))
    return std::nullopt;
  if (oldSizes.size() != map.getRank())
    return error(Twine(oldSizes.size()) + " sizes for a layout of rank " +
                 Twine(map.getRank()) + ": state one for each dim");
  if (!checkGroups(groups, oldSizes, error))
    return std::nullopt;
  if (groups.empty())
    return applyView(map, *getCollapseView(groups, oldSizes));
  std::optional<LayoutMap> result = map;
  // Fuse the last group first, so that dims of earlier groups keep their
  // numbers.
  for (ArrayRef<int64_t> group : llvm::reverse(groups)) {
    result = collapseRun(*result, group.front(),
                         oldSizes.slice(group.front(), group.size()), error);
    if (!result)
      return std::nullopt;
  }
  if (result->hasOverflow())
    return error("the sizes and strides of the collapsed tensor do not fit "
                 "64 bits: no layout of it exists (L7)");
  return result;
}
