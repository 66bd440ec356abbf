//===- MeshBlocks.h - The block of a tensor on each device ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which indices of a tensor each device of its mesh computes with, and the
// types that the program of a rank has for them.
//
//   tensor<10x6xf32, #layout.mesh<[x = 4], [[x], []]>>
//     ranges    dim 0: [0:3] [3:6] [6:9] [9:10], dim 1: all of it everywhere
//     block     tensor<3x6xf32>   the most that any device holds, in its layout
//     held      tensor<?x6xf32>   the indices that a device holds, row-major
//     memory    tensor<18xf32>    how functions and messages see a block
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESHBLOCKS_H
#define LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESHBLOCKS_H

#include "layout/Interfaces/MeshLoops.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

/// The indices of a dim, or of a loop, on each device.
struct DeviceRanges {
  /// By device; empty where all have the same, which begins with index 0.
  std::vector<int64_t> begins, sizes;
  /// The most on any device.
  int64_t size = 0;
  /// The axes that split it, the major one first.
  SmallVector<std::string, 2> axes;

  bool isWhole() const { return sizes.empty(); }
  /// Dims that all devices have all of are, whatever is known of their sizes.
  bool isSameAs(const DeviceRanges &other) const {
    return begins == other.begins && sizes == other.sizes;
  }
};

struct MeshBlocks {
  int64_t numDevices = 0; // 0 for a tensor that each device has all of
  RankedTensorType type, block, held, memory;
  SmallVector<DeviceRanges, 4> dims;
  std::optional<Reduction> reduction;  // that parts are combined by
  SmallVector<std::string, 2> partial; // the axes of the parts

  /// Whether each device has all elements, and not in parts.
  bool isWhole() const;
  /// Whether there are no elements at all.
  bool isEmpty() const { return llvm::is_contained(type.getShape(), 0); }
  bool isRagged() const { return held.getShape() != block.getShape(); }

  /// For each device whether its coordinates along `axes` are 0.
  std::vector<int64_t> findFirst(ArrayRef<std::string> axes) const;
  /// For each device the number of its block among the different ones,
  /// row-major over the axes that split a dim.
  std::vector<int64_t> findNumbers() const;

  /// Of a type with a static shape; a plain one is whole on each device.
  static FailureOr<MeshBlocks> get(RankedTensorType type, Refusal refuse);
};

/// What the last coordinate of the map counts; null where it is not known.
RankedTensorType getBlockMemory(RankedTensorType type);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_MESH_LAYOUTTOMPI_MESHBLOCKS_H
