//===- Mesh.h - Tensors split over a mesh of devices ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notation of `#layout.mesh<[x = 2, y = 4], [[x], []]>` (docs/spec.md,
// section 3.6): the named axes of a mesh of devices, and for each dim the axes
// that split it, from major to minor. A dim of size n that k devices split has
// blocks of b = ceil(n / k) indices: device d floordiv b of the k holds index
// d, as its local index d mod b. So the last devices hold less where k does not
// divide n. An axis that splits nothing holds replicas.
//
//     10 rows over x = 4, replicas along y = 2:
//       x = d0 floordiv 3 extent 4, y = r0, offset = [d0 mod 3, d1]
//       rows of x:  0..2, 3..5, 6..8, 9
//
// A halo of a dim is how many indices before and after its block each device
// holds, too, as far as the tensor has them. An index is a replica on each
// device that holds it: replica r of index i is where index
// y = i + before - s * r lies, for a step s from i + before down to i - after,
// or on the first or the last device where there is none. So replicas coincide
// where fewer devices hold an index.
//
//     9 rows over x = 3, halo [1, 1]: s = 2, local shape 5
//       x = y floordiv 3, but 0 below and 2 above
//       rows of x:  0..3 at 1..4, 2..6 at 0..4, 5..8 at 0..3
//
// Laws:
//  * every coordinate of the mesh has the extent of its axis;
//  * the local tensor has the shape that `getLocalShape` says on every device,
//    and its own layout takes the local indices to the other coordinates.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_MESH_H
#define LAYOUT_ALGEBRA_FAMILIES_MESH_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

/// The space of a map that spreads over devices: its last coordinate is a
/// position in the memory of one device, those before it say which one.
constexpr llvm::StringLiteral kMeshSpace = "mesh";

/// More devices than this are a mistake.
constexpr int64_t kMostDevices = 1 << 20;

struct MeshAxis {
  std::string name;
  int64_t size = 1;

  bool operator==(const MeshAxis &other) const {
    return name == other.name && size == other.size;
  }
};

/// How many indices before and after its block a device holds of a dim.
struct Halo {
  int64_t before = 0, after = 0;

  bool operator==(const Halo &other) const {
    return before == other.before && after == other.after;
  }
};

struct Mesh {
  /// The slowest first: the number of a device is row-major over them.
  std::vector<MeshAxis> axes;
  /// Per dim the axes that split it, from major to minor.
  std::vector<std::vector<unsigned>> splits;
  /// Per dim; empty where no dim has one.
  std::vector<Halo> halos;

  bool operator==(const Mesh &other) const {
    return axes == other.axes && splits == other.splits && halos == other.halos;
  }
  friend llvm::hash_code hash_value(const Mesh &mesh);

  bool isSplit(unsigned axis) const;
  Halo getHalo(unsigned d) const { return halos.empty() ? Halo() : halos[d]; }
  /// Into how many parts axes split a dim or a loop.
  int64_t countParts(llvm::ArrayRef<unsigned> split) const;

  /// States a halo for each dim; those of no index are none.
  void setHalos(std::vector<Halo> ofDims);

  /// Where the mesh is none, says why of an axis, and fails.
  bool check(Refusal error) const;

  /// The shape of the local tensor, halos included; `shape` has the rank of the
  /// splits. Fails where a dim that is split has no static size, and where a
  /// halo reaches over too many blocks.
  std::optional<llvm::SmallVector<int64_t>> getLocalShape(Sizes shape,
                                                          Refusal error) const;

  /// The whole map. `local` is a map in linear memory without replicas, for
  /// `localShape`, which is that of `getLocalShape`.
  LayoutMap getMap(const LayoutMap &local, Sizes shape, Sizes localShape) const;
};

/// How the replicas along an axis make up the element that they are parts of.
enum class Reduction { Sum, Max, Min };

/// `sum`, ..
llvm::StringRef getName(Reduction reduction);
std::optional<Reduction> getReduction(llvm::StringRef name);

/// Which replica a coordinate of a mesh counts: its number among the replicas
/// of the map, where the coordinate is that and nothing else.
std::optional<unsigned> getReplicaAlong(const LayoutMap &map,
                                        llvm::StringRef axis);

/// How many devices a map in the space of meshes spreads over; nothing past
/// kMostDevices. `sizes` are static where extents depend on them.
std::optional<int64_t> countDevices(const LayoutMap &map, Sizes sizes);

/// The number of the device that holds an index, row-major over the
/// coordinates of the mesh, in terms of logical dims and replicas.
IndexExpr getDevice(const LayoutMap &map, Sizes sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_FAMILIES_MESH_H
