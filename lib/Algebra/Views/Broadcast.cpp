//===- Broadcast.cpp - Broadcast and replicate dims -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views/CheckedViews.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

std::optional<LayoutMap> mlir::layout::broadcast(const LayoutMap &map,
                                                 int64_t position, int64_t size,
                                                 FailureReason error) {
  if (!checkMap(map, error))
    return std::nullopt;
  unsigned rank = map.getRank();
  if (position < 0 || position > int64_t(rank))
    return error("a new dim cannot be at position " + Twine(position) +
                 " of rank " + Twine(rank) + ": positions are 0 to " +
                 Twine(rank));
  llvm::SmallVector<int64_t> replicas(map.getReplicas());
  auto *used = llvm::find(replicas, size);
  if (used == replicas.end() && size != 0 && size != 1)
    return error(
        (size < 0 ? Twine("a dim of dynamic size")
                  : "a dim of size " + Twine(size)) +
        " cannot repeat the same elements: a layout is injective (L1), so the "
        "storage must hold a replica for each index; convert the tensor to a "
        "layout that replicates over the dim, or copy it");
  IndexView view;
  view.rank = rank + 1;
  for (unsigned d = 0; d < rank; ++d) {
    BoundedIndex dim = BoundedIndex::dim(d < position ? d : d + 1);
    view.dims.push_back(dim.value);
    view.sizeOf.push_back(dim.extent);
  }
  unsigned next = view.rank;
  for (auto it = replicas.begin(); it != replicas.end(); ++it) {
    view.dims.push_back(IndexExpr::dim(it == used ? position : next++));
    view.sizeOf.push_back(SizeExpr(*it));
  }
  if (used != replicas.end())
    replicas.erase(used);
  return replaceAllDims(map, view, replicas);
}

std::optional<LayoutMap> mlir::layout::replicateOver(const LayoutMap &map,
                                                     int64_t dim, Sizes sizes,
                                                     FailureReason error) {
  if (!checkMap(map, error))
    return std::nullopt;
  unsigned rank = map.getRank();
  if (dim < 0 || dim >= int64_t(rank))
    return error("there is no dim " + Twine(dim) +
                 " to replicate over in "
                 "rank " +
                 Twine(rank));
  if (sizes.size() != rank)
    return error(Twine(sizes.size()) + " sizes for a layout of rank " +
                 Twine(rank) + ": state one for each dim");
  if (sizes[dim] < 1)
    return error("dim " + Twine(dim) +
                 (sizes[dim] == 0 ? " is empty" : " has no static size") +
                 ": the number of replicas must be a positive constant");
  IndexView view;
  view.rank = rank - 1;
  llvm::SmallVector<int64_t> replicas(map.getReplicas());
  for (unsigned d = 0; d < rank; ++d) {
    BoundedIndex moved = BoundedIndex::dim(d < dim ? d : d - 1);
    if (d == dim)
      moved = {IndexExpr::dim(view.rank + replicas.size()), SizeExpr(sizes[d])};
    view.dims.push_back(moved.value);
    view.sizeOf.push_back(moved.extent);
  }
  for (auto [r, extent] : llvm::enumerate(replicas)) {
    view.dims.push_back(IndexExpr::dim(view.rank + r));
    view.sizeOf.push_back(SizeExpr(extent));
  }
  replicas.push_back(sizes[dim]);
  LayoutMap result = replaceAllDims(map, view, replicas);
  if (result.hasOverflow())
    return error("the sizes and strides of the replicated layout do not "
                 "fit 64 bits");
  return result;
}
