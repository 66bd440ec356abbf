//===- DroppedDims.cpp - Layouts of rank-reduced slices -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/DroppedDims.h"

using namespace mlir;
using namespace mlir::layout;

LayoutMap layout::dropDims(const LayoutMap &map,
                           const llvm::SmallBitVector &dropped) {
  llvm::SmallVector<IndexExpr> dims;
  llvm::SmallVector<SizeExpr> sizes;
  unsigned next = 0;
  for (unsigned d = 0; d < map.getRank(); ++d) {
    dims.push_back(dropped[d] ? IndexExpr() : IndexExpr::dim(next));
    sizes.push_back(dropped[d] ? SizeExpr(1) : SizeExpr::dim(next));
    next += !dropped[d];
  }
  return map.substitute(next, dims, sizes);
}

std::optional<LayoutMap>
layout::insertDims(const LayoutMap &map, const llvm::SmallBitVector &dropped) {
  if (map.getCoordinates().size() != 1 || !map.getReplicas().empty())
    return std::nullopt;
  llvm::SmallVector<IndexExpr> dims;
  llvm::SmallVector<SizeExpr> sizes;
  llvm::SmallVector<BoundedIndex> digits;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    if (dropped[d]) {
      digits.push_back(BoundedIndex::dim(d));
      continue;
    }
    dims.push_back(IndexExpr::dim(d));
    sizes.push_back(SizeExpr::dim(d));
  }
  const Coordinate &coordinate = map.getCoordinates().front();
  digits.push_back({substitute(coordinate.value, dims, sizes),
                    coordinate.extent.substitute(sizes)});
  BoundedIndex offset = group(digits);
  return LayoutMap::get(dropped.size(), map.getSpace(),
                        {{coordinate.name, offset.value, offset.extent}});
}
