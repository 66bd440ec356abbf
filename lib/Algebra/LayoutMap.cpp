//===- LayoutMap.cpp - The canonical map of a layout ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/LayoutMap.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;

struct LayoutMap::Data {
  unsigned rank = 0;
  std::string space;
  std::vector<Coordinate> coordinates;
  // The axes of all coordinates in one array; axisBegin[i] is where those of
  // coordinate i start.
  std::vector<StoredAxis> axes;
  std::vector<unsigned> axisBegin;
  llvm::hash_code hash = 0;
};

LayoutMap LayoutMap::get(unsigned rank, llvm::StringRef space,
                         std::vector<Coordinate> coordinates) {
  auto data = std::make_shared<Data>();
  data->rank = rank;
  data->space = space.str();
  data->coordinates = std::move(coordinates);
  data->hash = llvm::hash_combine(rank, space);
  for (const Coordinate &coordinate : data->coordinates) {
    data->axisBegin.push_back(data->axes.size());
    llvm::append_range(data->axes,
                       findStoredAxes(coordinate.value, coordinate.extent));
    data->hash = llvm::hash_combine(data->hash, coordinate.name,
                                    hash_value(coordinate.value),
                                    hash_value(coordinate.extent));
  }
  data->axisBegin.push_back(data->axes.size());
  LayoutMap map;
  map.data = std::move(data);
  return map;
}

LayoutMap LayoutMap::rowMajor(unsigned rank) {
  llvm::SmallVector<Sized> dims;
  for (unsigned d = 0; d < rank; ++d)
    dims.push_back(Sized::dim(d));
  Sized offset = group(dims);
  return get(rank, "buffer", {{"offset", offset.value, offset.extent}});
}

unsigned LayoutMap::getRank() const { return data->rank; }
llvm::StringRef LayoutMap::getSpace() const { return data->space; }
ArrayRef<Coordinate> LayoutMap::getCoordinates() const {
  return data->coordinates;
}
ArrayRef<StoredAxis> LayoutMap::getStoredAxes() const { return data->axes; }
ArrayRef<StoredAxis> LayoutMap::getStoredAxes(unsigned coordinate) const {
  unsigned begin = data->axisBegin[coordinate];
  return ArrayRef<StoredAxis>(data->axes)
      .slice(begin, data->axisBegin[coordinate + 1] - begin);
}

bool LayoutMap::operator==(const LayoutMap &other) const {
  if (data == other.data)
    return true;
  if (!data || !other.data || data->hash != other.data->hash ||
      data->rank != other.data->rank || data->space != other.data->space ||
      data->coordinates.size() != other.data->coordinates.size())
    return false;
  return llvm::all_of(
      llvm::zip(data->coordinates, other.data->coordinates), [](auto pair) {
        const Coordinate &a = std::get<0>(pair), &b = std::get<1>(pair);
        return a.name == b.name && a.extent == b.extent && a.value == b.value;
      });
}

llvm::hash_code mlir::layout::hash_value(const LayoutMap &map) {
  return map.data ? map.data->hash : llvm::hash_code(0);
}

bool LayoutMap::hasOverflow() const {
  return llvm::any_of(data->coordinates, [](const Coordinate &coordinate) {
    return coordinate.extent.isOverflow() || coordinate.value.hasOverflow();
  });
}

LayoutMap LayoutMap::substitute(unsigned newRank, ArrayRef<Linear> dims,
                                ArrayRef<SizeExpr> sizeOf, Sizes sizes) const {
  std::vector<Coordinate> coordinates;
  for (const Coordinate &coordinate : data->coordinates)
    coordinates.push_back(
        {coordinate.name,
         layout::substitute(coordinate.value, dims, sizeOf, sizes),
         coordinate.extent.substitute(sizeOf)});
  return get(newRank, data->space, std::move(coordinates));
}

LayoutMap LayoutMap::specialize(Sizes sizes) const {
  llvm::SmallVector<Linear> dims;
  llvm::SmallVector<SizeExpr> sizeOf;
  for (unsigned d = 0; d < data->rank; ++d) {
    dims.push_back(Linear::dim(d));
    sizeOf.push_back(sizes[d] >= 0 ? SizeExpr(sizes[d]) : SizeExpr::dim(d));
  }
  return substitute(data->rank, dims, sizeOf, sizes);
}

std::optional<llvm::SmallVector<int64_t>>
LayoutMap::forward(ArrayRef<int64_t> index, Sizes sizes) const {
  llvm::SmallVector<int64_t> point;
  for (const Coordinate &coordinate : data->coordinates) {
    std::optional<int64_t> value = coordinate.value.evaluate(index, sizes);
    if (!value)
      return std::nullopt;
    point.push_back(*value);
  }
  return point;
}

std::optional<llvm::SmallVector<int64_t>>
LayoutMap::storageExtent(Sizes sizes) const {
  llvm::SmallVector<int64_t> extents;
  for (const Coordinate &coordinate : data->coordinates) {
    std::optional<int64_t> extent = coordinate.extent.evaluate(sizes);
    if (!extent)
      return std::nullopt;
    extents.push_back(std::max<int64_t>(*extent, 0));
  }
  return extents;
}

std::optional<llvm::SmallVector<int64_t>>
LayoutMap::backward(ArrayRef<int64_t> point, Sizes sizes) const {
  LayoutMap special = specialize(sizes);
  std::optional<llvm::SmallVector<int64_t>> extents = storageExtent(sizes);
  if (!extents || llvm::is_contained(sizes, 0))
    return std::nullopt;
  for (auto [x, extent] : llvm::zip(point, *extents))
    if (x < 0 || x >= extent)
      return std::nullopt;

  llvm::SmallVector<int64_t> index;
  auto isImage = [&] {
    for (auto [i, size] : llvm::zip(index, sizes))
      if (i < 0 || i >= size)
        return false;
    std::optional<llvm::SmallVector<int64_t>> image =
        special.forward(index, sizes);
    return image && ArrayRef<int64_t>(*image) == point;
  };

  if (auto inverse = invertAxes(special.getStoredAxes(), getRank(), sizes)) {
    // The point as axis values: each coordinate is row-major over its axes.
    llvm::SmallVector<int64_t> axisValues(special.getStoredAxes().size());
    for (unsigned c = 0, n = point.size(); c < n; ++c) {
      int64_t rest = point[c];
      ArrayRef<StoredAxis> axes = special.getStoredAxes(c);
      unsigned first = special.data->axisBegin[c];
      for (unsigned a = axes.size(); a-- > 0;) {
        int64_t extent = *axes[a].extent.getConstant();
        axisValues[first + a] = a == 0 ? rest : llvm::mod(rest, extent);
        rest = llvm::divideFloorSigned(rest, extent);
      }
    }
    for (const Linear &dim : *inverse) {
      std::optional<int64_t> i = dim.evaluate(axisValues, {});
      if (!i)
        return std::nullopt;
      index.push_back(*i);
    }
    return isImage() ? std::optional(index) : std::nullopt;
  }

  // No formula: the box is searched. Only boxes small enough for a proof by
  // enumeration get here with a valid layout.
  index.assign(getRank(), 0);
  while (true) {
    if (isImage())
      return index;
    int d = getRank() - 1;
    while (d >= 0 && ++index[d] == sizes[d])
      index[d--] = 0;
    if (d < 0)
      return std::nullopt;
  }
}
