//===- Mesh.h - Tensors split over a mesh of devices ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The notation of `#layout.mesh<[x = 2, y = 4], [[x], []]>` (docs/spec.md,
// section 3.6): the named axes of a mesh of devices, and for each dim the axes
// that split it, from major to minor. A dim of size n that is split over k
// devices has blocks of b = ceil(n / k) indices: index d is on device number d
// floordiv b along the dim, at local index d mod b. The last devices hold fewer
// indices if k does not divide n. An axis that splits no dim holds replicas.
//
//     10 rows over x = 4, replicas along y = 2:
//       x = d0 floordiv 3 extent 4, y = r0, offset = [d0 mod 3, d1]
//       rows of x:  0..2, 3..5, 6..8, 9
//
// The halo of a dim is the number of indices before and after its block that
// each device stores in addition, clipped to the tensor. An index has a replica
// on each device that stores it. Replica r of index i is on the device whose
// block contains y = i + before - s * r: y decreases from i + before to
// i - after in steps of s. If y is in no block, the replica is on the first or
// the last device. Replicas coincide if fewer devices store the index.
//
//     9 rows over x = 3, halo [1, 1]: s = 2, local shape 5
//       x = y floordiv 3, but 0 below and 2 above
//       rows of x:  0..3 at 1..4, 2..6 at 0..4, 5..8 at 0..3
//
// Laws:
//  * every coordinate of the mesh has the extent of its axis;
//  * the local tensor has the shape `getLocalShape` on every device, and its
//    own layout maps the local indices to the other coordinates.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_FAMILIES_MESH_H
#define LAYOUT_ALGEBRA_FAMILIES_MESH_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// The name of the space of maps over several devices. The last coordinate is a
/// position in the memory of one device, and the coordinates before it identify
/// the device.
constexpr llvm::StringLiteral kMeshSpace = "mesh";

/// The maximal number of devices. A mesh with more is an error, because it is
/// assumed to be a mistake.
constexpr int64_t kMostDevices = 1 << 20;

struct MeshAxis {
  std::string name;
  int64_t size = 1;

  bool operator==(const MeshAxis &other) const {
    return name == other.name && size == other.size;
  }
};

/// The number of indices of a dim that each device stores before and after its
/// own block.
struct Halo {
  int64_t before = 0, after = 0;

  bool operator==(const Halo &other) const {
    return before == other.before && after == other.after;
  }
};

struct Mesh {
  /// The axes of the mesh, slowest first. The number of a device is row-major
  /// over them.
  std::vector<MeshAxis> axes;
  /// One list per dim: the numbers of the axes that split it, from major to
  /// minor.
  std::vector<std::vector<unsigned>> splits;
  /// The halo of each dim; empty if no dim has one.
  std::vector<Halo> halos;

  bool operator==(const Mesh &other) const {
    return axes == other.axes && splits == other.splits && halos == other.halos;
  }
  friend llvm::hash_code hash_value(const Mesh &mesh);

  bool isSplit(unsigned axis) const;
  Halo getHalo(unsigned d) const { return halos.empty() ? Halo() : halos[d]; }
  /// Returns the number of parts into which the axes `split` divide a dim, the
  /// product of their sizes.
  int64_t countParts(llvm::ArrayRef<unsigned> split) const;

  /// Sets the halo of each dim. `halos` becomes empty if all of them are [0,
  /// 0].
  void setHalos(std::vector<Halo> ofDims);

  /// Verifies the mesh, or reports the invalid axis or halo and returns false.
  bool check(FailureReason error) const;

  /// Returns the shape that each device stores of a tensor of `shape`, halos
  /// included. Fails if a split dim has a dynamic size, or if it has a halo and
  /// is longer than 2^48 or the halo reaches over more than 16 blocks.
  std::optional<llvm::SmallVector<int64_t>>
  getLocalShape(Sizes shape, FailureReason error) const;

  /// Returns the map from indices of a tensor of `shape` to a device and a
  /// position in its memory. `local` is the map of the part of one device: in
  /// linear memory, without replicas, for `localShape`, the result of
  /// `getLocalShape`.
  LayoutMap getMap(const LayoutMap &local, Sizes shape, Sizes localShape) const;
};

/// The reduction that combines the replicas of an element on the devices along
/// an axis of a mesh. These replicas are called partial sums, also for max and
/// min.
enum class Reduction { Sum, Max, Min };

/// Returns the name of a reduction: `sum`, `max` or `min`.
llvm::StringRef getName(Reduction reduction);
std::optional<Reduction> getReduction(llvm::StringRef name);

/// Returns r if the coordinate with the name `axis` of a map over a mesh is the
/// value of replica r (dim rank + r), i.e. if the devices along this axis hold
/// replicas. Returns std::nullopt if the coordinate is anything else, or there
/// is none.
std::optional<unsigned> getReplicaAlong(const LayoutMap &map,
                                        llvm::StringRef axis);

/// Returns the number of devices of a map in the mesh space, or std::nullopt if
/// it exceeds the limit kMostDevices or depends on a dynamic size.
std::optional<int64_t> countDevices(const LayoutMap &map, Sizes sizes);

/// Returns the number of the device that holds an index, row-major over the
/// coordinates of the mesh, in terms of logical dims and replicas.
IndexExpr getDevice(const LayoutMap &map, Sizes sizes);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_FAMILIES_MESH_H
