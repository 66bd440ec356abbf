//===- Views.h - Layouts of views of laid-out tensors -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view accesses elements of a tensor by other indices. If L is the layout of
// the tensor, and index i of the view accesses element v(i), then L(v(i)) is
// the layout of the view *in the same storage*: no data moves (rule L7 of
// docs/spec.md).
//
//     NCHW16c of 1x64x7x7, channels 16 to 31:
//       v(n, c, h, w) = (n, c + 16, h, w)
//       offset        = (c mod 16) + 16 w + .. + 784 (c floordiv 16) + 784
//       extent        = 3136, that of the whole tensor
//
// Every function builds v from `BoundedIndex`s and substitutes it. If no such
// layout exists or none is found by construction, it returns std::nullopt and
// reports to `error`. Arguments come from users: invalid ones are errors, too.
// Sizes may be dynamic (kUnknownSize), and sizes that the result does not
// depend on stay dynamic in it.
//
// Laws, on every shape that the arguments fit:
//  * forward of the result at i is forward of the map at v(i), in storage of
//    the same extents;
//  * transposing by p and then by the inverse of p returns the same map;
//    so does expanding and then collapsing, and replicating over a dim and then
//    broadcasting it, on the given sizes;
//  * slices of slices are slices, and a part of a concatenation is a slice of
//    the whole, up to a shift;
//  * compose(inverse(L), L) is row-major if L has no padding.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_VIEWS_H
#define LAYOUT_ALGEBRA_VIEWS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/FailureReason.h"
#include "llvm/ADT/Twine.h"

namespace mlir::layout {

/// A view as a function of indices: dim d of the viewed tensor is dims[d] and
/// has size sizeOf[d], which are functions of the `rank` dims of the view.
/// `sizes` has the sizes of the view on which dims and sizeOf rely, and
/// kUnknownSize for other dims.
struct IndexView {
  unsigned rank = 0;
  std::vector<IndexExpr> dims;
  std::vector<SizeExpr> sizeOf;
  llvm::SmallVector<int64_t> sizes;
};

/// Returns the layout of a view in the storage of the viewed tensor, whose
/// layout is `map`: index i of the view is at map(v(i)), where v is `view`. The
/// rank of `map` is view.dims.size().
LayoutMap applyView(const LayoutMap &map, const IndexView &view);

/// For each dim of the smaller rank, the dims of the larger rank that are fused
/// to it, as in tensor.expand_shape: all dims, in order.
using DimGroups = llvm::ArrayRef<llvm::SmallVector<int64_t, 2>>;

/// Returns the layout of the transposed view: its dim j is dim permutation[j]
/// of the tensor. Fails if `permutation` does not list each dim once.
std::optional<LayoutMap> transpose(const LayoutMap &map,
                                   llvm::ArrayRef<int64_t> permutation,
                                   FailureReason error = {});

/// An entry of `sizes` of a slice: the entire dim, even if its size is dynamic.
/// The offset must be 0 and the stride 1.
constexpr int64_t kWholeDim = -1;

/// Returns the layout of tensor[offset : offset + size * stride : stride] per
/// dim, without `dropDims`, whose sizes are 1. Fails if a dim of dynamic size
/// is cut and the layout depends on this size. The size of the slice may be
/// dynamic, and is then assumed in bounds. Strides may be negative.
std::optional<LayoutMap> slice(const LayoutMap &map, Sizes fullSizes,
                               llvm::ArrayRef<int64_t> offsets, Sizes sizes,
                               llvm::ArrayRef<int64_t> strides,
                               llvm::ArrayRef<int64_t> dropDims = {},
                               FailureReason error = {});

/// Returns the layout of an expanded view: dim d of the tensor is the row-major
/// fusion of the dims groups[d] of the view, whose sizes are `newSizes`. Fails
/// only for invalid groups or sizes and on overflow. The result is valid for
/// every size of the first dim of a group.
std::optional<LayoutMap> expandShape(const LayoutMap &map, DimGroups groups,
                                     Sizes newSizes, FailureReason error = {});

/// Returns the layout of a collapsed view: the dims groups[d] of the tensor, of
/// sizes `oldSizes`, become dim d of the view. In each group, the first size
/// that is not 1 may be dynamic. If a later one is dynamic, the map must store
/// the dims up to it as one row-major index; otherwise the function fails.
std::optional<LayoutMap> collapseShape(const LayoutMap &map, DimGroups groups,
                                       Sizes oldSizes,
                                       FailureReason error = {});

/// Returns the index view of `expandShape`: each dim of the smaller rank as a
/// function of the larger rank. Fails only if a size is negative, or if the
/// groups do not list all dims once and in order.
std::optional<IndexView> getExpandView(DimGroups groups, Sizes newSizes,
                                       FailureReason error = {});
/// Returns the index view of `collapseShape`: each dim of the larger rank as a
/// function of the smaller rank. Returns std::nullopt if a size after the first
/// dim of a group is dynamic.
std::optional<IndexView> getCollapseView(DimGroups groups, Sizes oldSizes,
                                         FailureReason error = {});

/// Returns the layout of a view with a new dim of `size` before dim `position`,
/// along which all elements are equal. Layouts are injective, so this fails
/// unless the size is 0 or 1, or the map has a replica of this extent, which
/// then becomes the dim.
std::optional<LayoutMap> broadcast(const LayoutMap &map, int64_t position,
                                   int64_t size, FailureReason error = {});

/// Returns the map without dim `dim`, which becomes a replica, so that the dim
/// can be broadcast from the result. Fails if the size of the dim is dynamic or
/// 0.
std::optional<LayoutMap> replicateOver(const LayoutMap &map, int64_t dim,
                                       Sizes sizes, FailureReason error = {});

/// One operand of a concatenation: its own layout, and its sizes.
struct ConcatPart {
  LayoutMap map;
  llvm::SmallVector<int64_t> sizes;
};

/// The layout of a concatenation. `shifts` has, for each part and coordinate,
/// the distance of the part's own storage from the first position of the whole:
/// part(i) + shift = whole(i + offset of the part).
struct Concatenation {
  LayoutMap whole;
  llvm::SmallVector<int64_t> sizes; // of the whole
  std::vector<llvm::SmallVector<SizeExpr>> shifts;
};

/// Finds a layout of the whole in which every part is stored by its own layout,
/// up to a shift. Tries the layout of each part on the shape of the whole, and
/// then a layout that stores parts like the first one after each other. Fails
/// if no such layout fits. (If the layout of the whole is given, its parts are
/// slices.)
std::optional<Concatenation> concat(llvm::ArrayRef<ConcatPart> parts,
                                    int64_t axis, FailureReason error = {});

/// Returns true if the storage of the whole is that of the parts side by side:
/// all padding of the whole is then padding of a part. If false, the storage of
/// a part may overlap elements of another part or omit padding of the whole, or
/// an extent or shift depends on a dynamic size.
bool isTiledByParts(const Concatenation &concatenation,
                    llvm::ArrayRef<ConcatPart> parts);

/// Returns C(i) = a(b(i)), where a is a layout of the stored dims of b. These
/// are `storedDims`, slowest first, if a has as many dims, or else the
/// coordinates of b. Fails if a has another number of dims, or on overflow.
std::optional<LayoutMap> compose(const LayoutMap &a, const LayoutMap &b,
                                 llvm::ArrayRef<BoundedIndex> storedDims = {},
                                 FailureReason error = {});

/// Returns the inverse of `map`, e.g. `NCHW16c to NCHW` of `NCHW to NCHW16c`.
/// Its dims are those of the storage, padding included: `storedDims`, or else
/// the stored axes of `map`. It maps a storage position to the row-major
/// position of its logical index, in a logical shape that is extended such that
/// padding has indices, too. `sizes` are the logical sizes that `map` depends
/// on. Fails if `map` has replicas, if a size is 0, or if no injective formula
/// of the stored axes is found.
std::optional<LayoutMap> inverse(const LayoutMap &map,
                                 llvm::ArrayRef<BoundedIndex> storedDims = {},
                                 Sizes sizes = {}, FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_VIEWS_H
