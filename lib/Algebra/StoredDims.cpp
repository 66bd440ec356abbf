//===- StoredDims.cpp - The dims of the array that holds storage ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/LayoutMap.h"
#include "layout/Algebra/Print.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::ArrayRef;

llvm::SmallVector<BoundedIndex> LayoutMap::getStoredDims() const {
  llvm::SmallVector<BoundedIndex> dims;
  if (getSpace() != "buffer") {
    for (const Coordinate &coordinate : getCoordinates())
      dims.push_back({coordinate.value, coordinate.extent});
    return dims;
  }
  for (const StoredAxis &axis : getStoredAxes())
    dims.push_back({axis.value, axis.extent});
  return dims;
}

static bool areEqual(ArrayRef<BoundedIndex> a, ArrayRef<BoundedIndex> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           const BoundedIndex &x = std::get<0>(pair), &y = std::get<1>(pair);
           return x.extent == y.extent && x.value == y.value;
         });
}

StoredDims StoredDims::get(const LayoutMap &map, ArrayRef<BoundedIndex> dims) {
  StoredDims stored;
  if (!areEqual(map.getStoredDims(), dims))
    stored.dims = dims.vec();
  return stored;
}

bool StoredDims::fit(const LayoutMap &map) const {
  BoundedIndex offset = group(dims);
  return map.getSpace() == "buffer" &&
         LayoutMap::get(map.getRank(), "buffer",
                        {{"offset", offset.value, offset.extent}},
                        map.getReplicas()) == map;
}

bool StoredDims::operator==(const StoredDims &other) const {
  return areEqual(dims, other.dims);
}

namespace mlir::layout {
llvm::hash_code hash_value(const StoredDims &stored) {
  llvm::hash_code hash = llvm::hash_value(stored.dims.size());
  for (const BoundedIndex &dim : stored.dims)
    hash =
        llvm::hash_combine(hash, hash_value(dim.value), hash_value(dim.extent));
  return hash;
}
} // namespace mlir::layout

void StoredDims::print(const LayoutMap &map, llvm::raw_ostream &os) const {
  if (dims.empty())
    return;
  os << " stored(";
  llvm::interleaveComma(
      dims, os, [&](const BoundedIndex &dim) { os << makeText(map, dim); });
  os << ')';
}
