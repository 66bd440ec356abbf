//===- Views.cpp - Layouts of transposed and sliced tensors ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views/CheckedViews.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

LayoutMap mlir::layout::applyView(const LayoutMap &map, const IndexView &view) {
  return map.substitute(view.rank, view.dims, view.sizeOf, view.sizes);
}

LayoutMap mlir::layout::replaceAllDims(const LayoutMap &map,
                                       const IndexView &view,
                                       ArrayRef<int64_t> replicas) {
  std::vector<Coordinate> coordinates;
  for (const Coordinate &coordinate : map.getCoordinates())
    coordinates.push_back(
        {coordinate.name,
         substitute(coordinate.value, view.dims, view.sizeOf, view.sizes),
         coordinate.extent.substitute(view.sizeOf)});
  return LayoutMap::get(view.rank, map.getSpace(), std::move(coordinates),
                        replicas);
}

std::optional<LayoutMap> mlir::layout::viewIfSizesFit(const LayoutMap &map,
                                                      const IndexView &view,
                                                      const Twine &what,
                                                      FailureReason error) {
  LayoutMap result = applyView(map, view);
  if (result.hasOverflow())
    return error("the sizes and strides of " + what +
                 " do not fit 64 bits: no layout of it exists (L7)");
  return result;
}

std::optional<LayoutMap> mlir::layout::transpose(const LayoutMap &map,
                                                 ArrayRef<int64_t> permutation,
                                                 FailureReason error) {
  if (!checkMap(map, error))
    return std::nullopt;
  unsigned rank = map.getRank();
  if (permutation.size() != rank)
    return error("a permutation of " + Twine(permutation.size()) +
                 " dims for a layout of rank " + Twine(rank) +
                 ": it needs one entry per dim");
  IndexView view;
  view.rank = rank;
  view.dims.resize(rank);
  view.sizeOf.resize(rank);
  view.sizes.assign(rank, kUnknownSize);
  llvm::SmallBitVector seen(rank);
  for (auto [j, d] : llvm::enumerate(permutation)) {
    if (d < 0 || d >= int64_t(rank) || seen.test(d))
      return error("entry " + Twine(d) + " of the permutation is " +
                   (d >= 0 && d < int64_t(rank) ? "repeated" : "not a dim") +
                   ": each of 0 to " + Twine(int64_t(rank) - 1) +
                   " must occur once");
    seen.set(d);
    BoundedIndex dim = BoundedIndex::dim(j);
    view.dims[d] = dim.value;
    view.sizeOf[d] = dim.extent;
  }
  return viewIfSizesFit(map, view, "the transposed tensor", error);
}

/// Checks that a slice takes indices inside dim `d`, of size `full`, and none
/// twice, as far as these numbers are static. Reports the first violation and
/// returns false.
static bool checkSliceDim(unsigned d, int64_t full, int64_t offset,
                          int64_t size, int64_t stride, FailureReason error) {
  auto fail = [&](const Twine &why) {
    error("dim " + Twine(d) + " of the slice " + why);
    return false;
  };
  if (size == kWholeDim)
    return (offset == 0 && stride == 1) ||
           fail("is taken whole: its offset must be 0 and its stride 1");
  if (size < 0 && size != kUnknownSize)
    return fail("has the negative size " + Twine(size));
  int64_t end = full == kUnknownSize ? INT64_MAX : full;
  if (offset < 0 || offset > end || (offset == end && size != 0))
    return fail("starts at " + Twine(offset) + ", outside of the tensor" +
                (full == kUnknownSize
                     ? Twine()
                     : ", whose size is " + Twine(full) + " there"));
  if (stride == 0 && size != 0 && size != 1)
    return fail("has stride 0: it would read one element several times, and "
                "a layout is injective (L1)");
  int64_t last;
  if (size > 0 &&
      (llvm::MulOverflow(size - 1, stride, last) ||
       llvm::AddOverflow(offset, last, last) || last < 0 || last >= end))
    return fail("takes " + Twine(size) + " indices from " + Twine(offset) +
                " on with stride " + Twine(stride) +
                ", some outside of the tensor");
  return true;
}

std::optional<LayoutMap>
mlir::layout::slice(const LayoutMap &map, Sizes fullSizes,
                    ArrayRef<int64_t> offsets, Sizes sizes,
                    ArrayRef<int64_t> strides, ArrayRef<int64_t> dropDims,
                    FailureReason error) {
  if (!checkMap(map, error))
    return std::nullopt;
  unsigned rank = map.getRank();
  for (auto [name, count] : {std::make_pair("full sizes", fullSizes.size()),
                             std::make_pair("offsets", offsets.size()),
                             std::make_pair("sizes", sizes.size()),
                             std::make_pair("strides", strides.size())})
    if (count != rank)
      return error(Twine(count) + " " + name + " for a layout of rank " +
                   Twine(rank) + ": a slice needs one for each dim");
  llvm::SmallBitVector dropped(rank);
  for (int64_t d : dropDims) {
    if (d < 0 || d >= int64_t(rank) || dropped.test(d))
      return error("cannot drop dim " + Twine(d) + " of rank " + Twine(rank) +
                   ": it does not exist, or is dropped twice");
    if (sizes[d] != 1 && !(sizes[d] == kWholeDim && fullSizes[d] == 1))
      return error("cannot drop dim " + Twine(d) +
                   " of the slice: only dims of size 1 are dropped");
    dropped.set(d);
  }

  IndexView view;
  std::optional<unsigned> cutUnknown;
  for (unsigned d = 0; d < rank; ++d) {
    int64_t full = fullSizes[d], size = sizes[d];
    if (full < 0 && full != kUnknownSize)
      return error("dim " + Twine(d) + " has the negative full size " +
                   Twine(full));
    if (!checkSliceDim(d, full, offsets[d], size, strides[d], error))
      return std::nullopt;
    // A slice of dynamic size is not the whole dim, even if the size of the dim
    // is dynamic, too: they may differ.
    bool isWhole =
        size == kWholeDim || (full >= 0 && size == full && offsets[d] == 0 &&
                              (strides[d] == 1 || size <= 1));
    // The index is stride * (index of the view) + offset.
    BoundedIndex at = dropped[d] ? BoundedIndex{IndexExpr(), SizeExpr(1)}
                                 : BoundedIndex::dim(view.rank++);
    view.dims.push_back(isWhole ? at.value
                                : add(scale(at.value, SizeExpr(strides[d])),
                                      SizeExpr(offsets[d])));
    // If the slice cuts a dim of dynamic size, a layout exists only if it does
    // not depend on this size. So replace the size by overflow.
    bool isUnknown = !isWhole && full == kUnknownSize;
    if (isUnknown)
      cutUnknown = d;
    view.sizeOf.push_back(isWhole     ? at.extent
                          : isUnknown ? SizeExpr::overflow()
                                      : SizeExpr(full));
  }
  view.sizes.assign(view.rank, kUnknownSize);
  if (cutUnknown && applyView(map, view).hasOverflow())
    return error("the slice cuts dim " + Twine(*cutUnknown) +
                 ", whose size is dynamic: the extents of the storage depend "
                 "on it (L7); take the dim whole, or make its size static");
  return viewIfSizesFit(map, view, "the slice", error);
}
