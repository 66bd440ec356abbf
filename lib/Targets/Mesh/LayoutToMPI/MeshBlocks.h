//===- MeshBlocks.h - The blocks of a tensor on each device -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The indices of a tensor that each device of its mesh holds, and the types for
// them in the program of a rank.
//
//   tensor<10x6xf32, #layout.mesh<[x = 4], [[x], []]>>
//     ranges    dim 0: [0:3] [3:6] [6:9] [9:10], dim 1: whole on each device
//     block     tensor<3x6xf32>   the largest block of a device, in its layout
//     held      tensor<?x6xf32>   the indices that a device holds, row-major
//     memory    tensor<18xf32>    a block in functions and messages
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESHBLOCKS_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESHBLOCKS_H

#include "layout/Interfaces/MeshLoops.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// The index range of a dim or loop on each device.
struct DeviceRanges {
  /// The first index and the number of indices of each device, by its number.
  /// Empty if all devices have the whole range.
  std::vector<int64_t> begins, sizes;
  /// The largest size on any device.
  int64_t size = 0;
  /// The axes that split the range, the major one first.
  SmallVector<std::string, 2> axes;

  bool isWhole() const { return sizes.empty(); }
  /// Returns true if the ranges are equal. Two whole ranges are equal even if
  /// their sizes differ.
  bool isSameAs(const DeviceRanges &other) const {
    return begins == other.begins && sizes == other.sizes;
  }
};

struct MeshBlocks {
  int64_t numDevices = 0; // 0 for a tensor that is not on a mesh
  RankedTensorType type, block, held, memory;
  SmallVector<DeviceRanges, 4> dims;
  std::optional<Reduction> reduction;  // combines partial sums
  SmallVector<std::string, 2> partial; // axes of partial sums

  /// Returns true if each device has all elements of the tensor, and not
  /// partial sums.
  bool isWhole() const;
  /// Returns true if the tensor has no elements.
  bool isEmpty() const { return llvm::is_contained(type.getShape(), 0); }
  bool isNonDivisible() const { return held.getShape() != block.getShape(); }

  /// Returns 1 for each device whose coordinates along `axes` are 0, else 0.
  std::vector<int64_t> findFirst(ArrayRef<std::string> axes) const;
  /// Returns for each device the number of its block among the distinct ones,
  /// row-major over the axes that split a dim.
  std::vector<int64_t> findNumbers() const;

  /// Returns the blocks of `type`. A tensor that is not on a mesh is whole on
  /// each device. Calls `refuse` and fails if the type is dynamic, has a halo,
  /// has its mesh in another attribute than #layout.mesh, or splits a dim that
  /// is too long for messages.
  static FailureOr<MeshBlocks> get(RankedTensorType type, FailureReason refuse);
};

/// Returns the 1-D type of the memory of a block of `type`, or a null type for
/// dynamic sizes.
RankedTensorType getBlockMemory(RankedTensorType type);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESHBLOCKS_H
