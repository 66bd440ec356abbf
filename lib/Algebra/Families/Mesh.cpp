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
  for (const Halo &halo : mesh.halos)
    code = llvm::hash_combine(code, halo.before, halo.after);
  return code;
}
} // namespace mlir::layout

bool Mesh::isSplit(unsigned axis) const {
  return llvm::any_of(splits, [&](const std::vector<unsigned> &split) {
    return llvm::is_contained(split, axis);
  });
}

int64_t Mesh::countParts(llvm::ArrayRef<unsigned> split) const {
  int64_t parts = 1;
  for (unsigned axis : split)
    parts *= axes[axis].size;
  return parts;
}

void Mesh::setHalos(std::vector<Halo> ofDims) {
  halos = std::move(ofDims);
  if (llvm::all_of(halos, [](const Halo &halo) { return halo == Halo(); }))
    halos.clear();
}

/// The maximal halo on each side, in indices; a larger one is an error, because
/// it is assumed to be a mistake.
static constexpr int64_t kWidestHalo = std::numeric_limits<int32_t>::max();
/// The maximal halo on each side, in blocks, after clip(). A larger one is an
/// error, because a device may as well hold the whole dim.
static constexpr int64_t kMostBlocks = 16;
/// The maximal size of a dim with a halo, so that positions fit int64. A larger
/// dim with a halo is an error.
static constexpr int64_t kLongestWithHalo = int64_t(1) << 48;

bool Mesh::check(FailureReason error) const {
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
                  ": it must be at least 1");
    if (axis.name.empty() || !llvm::isAlpha(axis.name.front()) ||
        !llvm::all_of(axis.name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }))
      return fail("axis '" + axis.name +
                  "' is not a valid name: names have letters, digits and '_'");
    if (axis.name == "offset")
      return fail("axis 'offset' has the name of the coordinate in a device's "
                  "memory: choose another name");
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
  if (!halos.empty() && halos.size() != splits.size())
    return fail("there are " + Twine(halos.size()) + " halos for " +
                Twine(splits.size()) + " dims: state one for each dim");
  for (auto [d, halo] : llvm::enumerate(halos)) {
    if (std::min(halo.before, halo.after) < 0 ||
        std::max(halo.before, halo.after) > kWidestHalo)
      return fail("the halo [" + Twine(halo.before) + ", " + Twine(halo.after) +
                  "] of dim " + Twine(d) + " is invalid: each side has 0 to " +
                  Twine(kWidestHalo) + " indices");
    if (splits[d].empty() && !(halo == Halo()))
      return fail("dim " + Twine(d) +
                  " has a halo but no axis splits it: each device holds all of "
                  "it, use [0, 0]");
  }
  return true;
}

/// Limits each side of a halo to the indices of all other blocks, block *
/// (parts - 1).
static Halo clip(Halo halo, int64_t block, int64_t parts) {
  int64_t most = block * (parts - 1);
  return {std::min(halo.before, most), std::min(halo.after, most)};
}

std::optional<llvm::SmallVector<int64_t>>
Mesh::getLocalShape(Sizes shape, FailureReason error) const {
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
    // A block has at least one index, also if the dim is empty.
    int64_t parts = countParts(split);
    int64_t block =
        std::max<int64_t>(llvm::divideCeilSigned(shape[d], parts), 1);
    Halo halo = getHalo(d), reached = clip(halo, block, parts);
    local[d] = block;
    if (halo == Halo())
      continue;
    if (shape[d] > kLongestWithHalo ||
        std::max(reached.before, reached.after) > kMostBlocks * block) {
      error("dim " + Twine(d) + " has a halo [" + Twine(halo.before) + ", " +
            Twine(halo.after) + "] over blocks of " + Twine(block) +
            ": it reaches over at most " + Twine(kMostBlocks) +
            " blocks, of at most 2^48 indices together; split the dim by fewer "
            "devices, or leave it whole");
      return std::nullopt;
    }
    local[d] += halo.before + halo.after;
  }
  return local;
}

namespace {
/// The device along a dim that stores an index, and the local index there.
struct Held {
  BoundedIndex device, position;
};
} // namespace

/// Returns a device along dim `d` that stores an index of the dim, and the
/// local index there, as functions of the index and of the replica dim `r`.
/// Each value of `r` gives one device. Each device stores its block and the
/// `halo` indices before and after it. Sets `numReplicas` to the number of
/// replicas, the extent of `r`.
static Held hold(unsigned d, int64_t size, int64_t block, int64_t parts,
                 Halo halo, unsigned r, int64_t &numReplicas) {
  Halo reached = clip(halo, block, parts);
  int64_t width = reached.before + reached.after;
  // Replicas are `step` indices apart. Steps are equal, and at most one block,
  // so that no device is skipped.
  int64_t numSteps = llvm::divideCeilSigned(width, block);
  while (numSteps && width % numSteps)
    ++numSteps;
  int64_t step = numSteps ? width / numSteps : 0;
  numReplicas = numSteps + 1;
  BoundedIndex replica{IndexExpr::dim(r), SizeExpr(numReplicas)};
  auto number = [](int64_t c) {
    return std::pair(BoundedIndex{IndexExpr(SizeExpr(c)), SizeExpr(1)},
                     SizeExpr(1));
  };
  auto atLeast = [&](int64_t c) { // y - c; y as in Mesh.h
    return place({{BoundedIndex::dim(d), SizeExpr(1)},
                  {replica, SizeExpr(-step)},
                  number(reached.before - c)});
  };
  BoundedIndex y = atLeast(0);
  // Clamp y floordiv block to 0 .. parts - 1, one block at a time: floor(z /
  // large) is -1 if z < 0, and 0 otherwise.
  int64_t below = llvm::divideCeilSigned(reached.after, block);
  int64_t above =
      std::max<int64_t>((size - 1 + reached.before) / block - (parts - 1), 0);
  int64_t large = width + size + (parts + below + above + 1) * block;
  llvm::SmallVector<std::pair<BoundedIndex, SizeExpr>> device, position;
  device.push_back({floorDiv(y, block), SizeExpr(1)});
  position.push_back({mod(y, block), SizeExpr(1)});
  position.push_back({replica, SizeExpr(step)});
  auto correct = [&](int64_t bound) {
    BoundedIndex isBelow = floorDiv(atLeast(bound), large);
    device.push_back({isBelow, SizeExpr(-1)});
    position.push_back({isBelow, SizeExpr(block)});
  };
  for (int64_t j = 0; j < below; ++j)
    correct(-j * block);
  for (int64_t j = 0; j < above; ++j)
    correct((parts + j) * block);
  device.push_back(number(-above));
  position.push_back(number(above * block + halo.before - reached.before));
  return {{place(device).value, SizeExpr(parts)},
          {place(position).value, SizeExpr(block + halo.before + halo.after)}};
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
    BoundedIndex index = BoundedIndex::dim(d);
    Halo halo = getHalo(d);
    int64_t block = localShape[d] - halo.before - halo.after;
    // If the local size is the whole size, there is one device along the dim.
    if (localShape[d] != shape[d] || !(halo == Halo())) {
      // Without a halo, one device along the dim holds the index.
      Held held{floorDiv(index, block), mod(index, block)};
      if (!(halo == Halo())) {
        int64_t numReplicas;
        held = hold(d, shape[d], block, countParts(split), halo,
                    rank + replicas.size(), numReplicas);
        replicas.push_back(numReplicas);
      }
      BoundedIndex device = held.device;
      for (unsigned axis : llvm::reverse(split)) {
        bool isMajor = axis == split.front() && axes[axis].size > 1;
        coordinates[axis].value =
            isMajor ? device.value : mod(device, axes[axis].size).value;
        device = floorDiv(device, axes[axis].size);
      }
      index = held.position;
    }
    dims.push_back(index.value);
    sizes.push_back(index.extent);
  }
  LayoutMap inside = local.substitute(rank + replicas.size(), dims, sizes);
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
  llvm::SmallVector<BoundedIndex> axes;
  for (const Coordinate &axis : map.getCoordinates().drop_back())
    axes.push_back({axis.value, axis.extent.specialize(sizes)});
  return group(axes).value;
}
