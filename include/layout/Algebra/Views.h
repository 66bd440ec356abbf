//===- Views.h - Layouts of views of laid-out tensors -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A view reads elements of a tensor under other indices. If the tensor is laid
// out by L and the view's index i reads element v(i), then the layout of the
// view *in the same storage* is L(v(i)): no data moves (rule L7 of
// docs/spec.md).
//
//     NCHW16c of 1x64x7x7, channels 16 to 31:
//       v(n, c, h, w) = (n, c + 16, h, w)
//       offset        = (c mod 16) + 16 w + .. + 784 (c floordiv 16) + 784
//       extent        = 3136, that of the whole tensor
//
// Every function here builds v out of `Sized`s and substitutes it, or says "no"
// where no such layout exists or none is found by construction: the answer is
// then nothing, and `error` is told why. Arguments are a user's: whatever is
// wrong with them is a "no", too. All work with dynamic sizes (kUnknownSize);
// sizes that the answer does not depend on stay open in it.
//
// Laws, on every shape that the arguments fit:
//  * forward of the answer at i is forward of the map at v(i), in storage of
//    the same extents;
//  * transposing by p and then by p's inverse gives the same map back; so does
//    expanding and then collapsing, and replicating over a dim and then
//    broadcasting it, on the sizes that they were told;
//  * slices of slices are slices, and a part of a concatenation is a slice of
//    the whole, shifted;
//  * compose(inverse(L), L) is row-major where L has no padding.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_VIEWS_H
#define LAYOUT_ALGEBRA_VIEWS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/Refusal.h"
#include "llvm/ADT/Twine.h"

namespace mlir {
namespace layout {

/// v: dim d of the viewed tensor is dims[d] and has size sizeOf[d], both over
/// the `rank` dims of the view; `sizes` are those of its sizes that v relies
/// on (kUnknownSize: none).
struct IndexView {
  unsigned rank = 0;
  std::vector<IndexExpr> dims;
  std::vector<SizeExpr> sizeOf;
  llvm::SmallVector<int64_t> sizes;
};

/// L(v(i)). The rank of `map` is view.dims.size().
LayoutMap applyView(const LayoutMap &map, const IndexView &view);

/// The dims of each group, as in tensor.expand_shape: all dims in order.
using DimGroups = llvm::ArrayRef<llvm::SmallVector<int64_t, 2>>;

/// Dim j of the view is dim permutation[j] of the tensor.
std::optional<LayoutMap> transpose(const LayoutMap &map,
                                   llvm::ArrayRef<int64_t> permutation,
                                   Refusal error = {});

/// As an entry of `sizes` of a slice: all of the dim, also where its size is
/// not known. The offset is 0 and the stride 1.
constexpr int64_t kWholeDim = -1;

/// tensor[offset : offset + size * stride : stride] per dim, without
/// `dropDims`, whose sizes are 1. The full size of a dim that is not taken
/// whole must be static, as the extents need it; its part may be dynamic, and
/// is then taken to lie inside. Strides may be negative.
std::optional<LayoutMap> slice(const LayoutMap &map, Sizes fullSizes,
                               llvm::ArrayRef<int64_t> offsets, Sizes sizes,
                               llvm::ArrayRef<int64_t> strides,
                               llvm::ArrayRef<int64_t> dropDims = {},
                               Refusal error = {});

/// Dim d of the tensor is the row-major fusion of the dims groups[d] of the
/// view, whose sizes are `newSizes`. Always exists; it holds for every size of
/// the first dim of a group.
std::optional<LayoutMap> expandShape(const LayoutMap &map, DimGroups groups,
                                     Sizes newSizes, Refusal error = {});

/// The inverse: the dims groups[d] of the tensor, of sizes `oldSizes`, become
/// dim d of the view. Exists where the sizes below the first dim of a group are
/// static, up to dims of size 1. Where some are dynamic it exists if the map
/// already fuses those dims, that is, places them row-major by their sizes.
std::optional<LayoutMap> collapseShape(const LayoutMap &map, DimGroups groups,
                                       Sizes oldSizes, Refusal error = {});

/// The parts of the two above that no map takes part in: index of the smaller
/// rank by dims of the larger one, and back. `getCollapseView` has no answer
/// where a size below the first dim of a group is dynamic.
std::optional<IndexView> getExpandView(DimGroups groups, Sizes newSizes,
                                       Refusal error = {});
std::optional<IndexView> getCollapseView(DimGroups groups, Sizes oldSizes,
                                         Refusal error = {});

/// A new dim of `size` in front of dim `position`, along which all elements are
/// the same. A layout is injective, so it exists for at most one index, or
/// where the map holds a replica of that extent, which then is the dim.
std::optional<LayoutMap> broadcast(const LayoutMap &map, int64_t position,
                                   int64_t size, Refusal error = {});

/// The inverse: a layout of the tensor without dim `dim` from which the dim can
/// be broadcast. The dim becomes a replica; its size is static.
std::optional<LayoutMap> replicateOver(const LayoutMap &map, int64_t dim,
                                       Sizes sizes, Refusal error = {});

/// One operand of a concatenation.
struct ConcatPart {
  LayoutMap map;
  llvm::SmallVector<int64_t> sizes;
};

/// The layout of the whole, and per part and coordinate how far the part's own
/// storage lies from the first position of the whole's:
/// part(i) + shift = whole(i + offset of the part).
struct Concatenation {
  LayoutMap whole;
  llvm::SmallVector<int64_t> sizes; // of the whole
  std::vector<llvm::SmallVector<SizeExpr>> shifts;
};

/// A layout of the whole in which every part lies as its own layout says, up to
/// a shift. The layouts of the parts are tried on the whole shape, and equal
/// parts one after the other. (Where it is the whole that is given, its parts
/// are slices.)
std::optional<Concatenation> concat(llvm::ArrayRef<ConcatPart> parts,
                                    int64_t axis, Refusal error = {});

/// Whether the storage of the whole is that of the parts side by side, all
/// sizes static: padding of the whole is then padding of a part, and holds what
/// that part's holds. Elsewhere a part's own storage may reach over elements of
/// another part, or leave out padding of the whole.
bool isTiledByParts(const Concatenation &concatenation,
                    llvm::ArrayRef<ConcatPart> parts);

/// "First b, then a": a is a layout of b's stored dims, C(i) = a(b(i)). The
/// stored dims are `storedDims`, slowest first, as the notation of b has them
/// or, where a's rank is that of the coordinates instead, these.
std::optional<LayoutMap> compose(const LayoutMap &a, const LayoutMap &b,
                                 llvm::ArrayRef<Sized> storedDims = {},
                                 Refusal error = {});

/// The layout of the whole stored box, padding included, that stores it in
/// logical row-major order: `NCHW16c to NCHW` of `NCHW to NCHW16c`. Its dims
/// are `storedDims`, or the stored axes of the map; `sizes` are the logical
/// sizes, where the map needs them. Exists where logical indices are formulas
/// of the stored ones by construction.
std::optional<LayoutMap> inverse(const LayoutMap &map,
                                 llvm::ArrayRef<Sized> storedDims = {},
                                 Sizes sizes = {}, Refusal error = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_VIEWS_H
