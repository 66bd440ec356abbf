//===- Mesh.cpp - Tensors split over a mesh of devices --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/Mesh.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::Twine;

namespace mlir::layout {
llvm::hash_code hash_value(const Mesh &mesh) {
  llvm::hash_code code = 0;
  for (const MeshAxis &axis : mesh.axes)
    code = llvm::hash_combine(code, axis.name, axis.size);
  for (const std::vector<unsigned> &split : mesh.splits)
    code = llvm::hash_combine(
        code, llvm::hash_combine_range(split.begin(), split.end()));
  return code;
}
} // namespace mlir::layout

bool Mesh::isSplit(unsigned axis) const {
  return llvm::any_of(splits, [&](const std::vector<unsigned> &split) {
    return llvm::is_contained(split, axis);
  });
}

bool Mesh::check(Refusal error) const {
  auto fail = [&](const Twine &why) {
    error(why);
    return false;
  };
  int64_t devices = 1;
  llvm::SmallVector<unsigned> uses(axes.size(), 0);
  for (const std::vector<unsigned> &split : splits)
    for (unsigned axis : split)
      ++uses[axis];
  for (auto [a, axis] : llvm::enumerate(axes)) {
    if (axis.size < 1)
      return fail("axis '" + axis.name + "' has size " + Twine(axis.size) +
                  ": it is at least 1");
    if (axis.name.empty() || !llvm::isAlpha(axis.name.front()) ||
        !llvm::all_of(axis.name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }))
      return fail("axis '" + axis.name +
                  "' is no word: names have letters, digits and '_'");
    if (axis.name == "offset")
      return fail("axis 'offset' has the name of the position in a device's "
                  "memory: give it another one");
    for (size_t b = 0; b < a; ++b)
      if (axes[b].name == axis.name)
        return fail("axis '" + axis.name + "' is repeated");
    if (uses[a] > 1)
      return fail("axis '" + axis.name +
                  "' splits more than once: a device has one coordinate along "
                  "it");
    if (axis.size > kMostDevices / devices)
      return fail("the mesh has more than " + Twine(kMostDevices) + " devices");
    devices *= axis.size;
  }
  return true;
}

std::optional<llvm::SmallVector<int64_t>>
Mesh::getLocalShape(Sizes shape, Refusal error) const {
  llvm::SmallVector<int64_t> local(shape);
  for (auto [d, split] : llvm::enumerate(splits)) {
    if (split.empty())
      continue;
    if (shape[d] == kUnknownSize) {
      error("dim " + Twine(d) +
            ", which it splits, has a dynamic size, so that its blocks are not "
            "known: make the size static, or split another dim");
      return std::nullopt;
    }
    int64_t parts = 1;
    for (unsigned axis : split)
      parts *= axes[axis].size;
    // A device without an index has room for one: a block has a positive size.
    local[d] = std::max<int64_t>(llvm::divideCeilSigned(shape[d], parts), 1);
  }
  return local;
}

LayoutMap Mesh::getMap(const LayoutMap &local, Sizes shape,
                       Sizes localShape) const {
  unsigned rank = splits.size();
  std::vector<Coordinate> coordinates(axes.size());
  llvm::SmallVector<int64_t> replicas;
  for (auto [a, axis] : llvm::enumerate(axes)) {
    coordinates[a] = {axis.name, IndexExpr(), SizeExpr(axis.size)};
    if (isSplit(a) || axis.size == 1)
      continue;
    coordinates[a].value = IndexExpr::dim(rank + replicas.size());
    replicas.push_back(axis.size);
  }
  std::vector<IndexExpr> dims;
  std::vector<SizeExpr> sizes;
  for (auto [d, split] : llvm::enumerate(splits)) {
    Sized index = Sized::dim(d);
    // A mesh of one device along the dim splits nothing.
    if (localShape[d] != shape[d]) {
      // The devices along the dim, from the minor axis on.
      Sized device = floorDiv(index, localShape[d]);
      for (unsigned axis : llvm::reverse(split)) {
        bool isMajor = axis == split.front() && axes[axis].size > 1;
        coordinates[axis].value =
            isMajor ? device.value : mod(device, axes[axis].size).value;
        device = floorDiv(device, axes[axis].size);
      }
      index = mod(index, localShape[d]);
    }
    dims.push_back(index.value);
    sizes.push_back(index.extent);
  }
  LayoutMap inside = local.substitute(rank, dims, sizes);
  llvm::append_range(coordinates, inside.getCoordinates());
  return LayoutMap::get(rank, kMeshSpace, std::move(coordinates), replicas);
}

static constexpr llvm::StringLiteral kReductions[] = {"sum", "max", "min"};

llvm::StringRef mlir::layout::getName(Reduction reduction) {
  return kReductions[int(reduction)];
}

std::optional<Reduction> mlir::layout::getReduction(llvm::StringRef name) {
  const auto *found = llvm::find(kReductions, name);
  if (found == std::end(kReductions))
    return std::nullopt;
  return Reduction(found - std::begin(kReductions));
}

std::optional<unsigned> mlir::layout::getReplicaAlong(const LayoutMap &map,
                                                      llvm::StringRef axis) {
  if (map.getSpace() != kMeshSpace || map.getCoordinates().empty())
    return std::nullopt;
  for (const Coordinate &coordinate : map.getCoordinates().drop_back())
    if (const Digit *digit = coordinate.value.getSingleDigit();
        digit && coordinate.name == axis && digit->isDim() &&
        digit->divisor == 1 && digit->dim >= map.getRank())
      return digit->dim - map.getRank();
  return std::nullopt;
}

std::optional<int64_t> mlir::layout::countDevices(const LayoutMap &map,
                                                  Sizes sizes) {
  int64_t devices = 1;
  for (const Coordinate &axis : map.getCoordinates().drop_back()) {
    std::optional<int64_t> size = axis.extent.evaluate(sizes);
    if (!size || *size < 0 || (*size && devices > kMostDevices / *size))
      return std::nullopt;
    devices *= *size;
  }
  return devices;
}

IndexExpr mlir::layout::getDevice(const LayoutMap &map, Sizes sizes) {
  llvm::SmallVector<Sized> axes;
  for (const Coordinate &axis : map.getCoordinates().drop_back())
    axes.push_back({axis.value, axis.extent.specialize(sizes)});
  return group(axes).value;
}
