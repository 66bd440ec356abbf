//===- LiveTensors.h - Live ranges of tensors in local memory ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes the tensors of a function with one block as blocks for
// AddressPlacement.h. The ops of the block are the times; a tensor is live from
// its `npu.alloc` to its `npu.dealloc`, or to the end.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVETENSORS_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVETENSORS_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/Utils/AddressPlacement.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::npu {

/// The tensors of a function, i.e. its npu.alloc ops, with their live ranges
/// and sizes, the number of each op of the block (`times`), and the chip.
struct LiveTensors {
  /// True if tensors own only the bytes of their elements, and others may be
  /// placed in their holes.
  bool reusesHoles = false;
  SmallVector<AllocOp> allocs;
  std::vector<PlacedBlock> blocks; // one per alloc
  llvm::DenseMap<Operation *, int64_t> times;
  ChipAttr chip; // null if there are no tensors

  explicit LiveTensors(bool reusesHoles) : reusesHoles(reusesHoles) {}

  /// Collects the tensors of `function`. Reports an error and fails if it has
  /// several blocks, if an npu.alloc is in a nested region or invalid, or if
  /// tensors are on several chips. May be called again after ops have moved;
  /// sizes are cached.
  LogicalResult collect(func::FuncOp function);

private:
  FailureOr<PlacedBlock> describe(AllocOp alloc);

  llvm::DenseMap<Operation *, PlacedBlock> described;
};

/// Returns true if `memref` is system memory that does not change while the
/// program runs: a constant, an argument that is neither a result nor scratch,
/// or a view of one of these.
bool isUnchanging(Value memref);

} // namespace mlir::npu

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVETENSORS_H
