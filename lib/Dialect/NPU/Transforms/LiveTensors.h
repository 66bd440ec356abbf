//===- LiveTensors.h - When tensors of local memory live --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensors of a function of one block as blocks for Placement.h: the ops of
// the block are times, and a tensor lives from its `npu.alloc` to its
// `npu.dealloc`, or to the end.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVETENSORS_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVETENSORS_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/Utils/Placement.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir {
namespace npu {

struct LiveTensors {
  /// Tensors own their elements alone: others may lie in their holes.
  bool reusesHoles = false;
  SmallVector<AllocOp> allocs;
  std::vector<PlacedBlock> blocks; // one for each
  llvm::DenseMap<Operation *, int64_t> times;
  ChipAttr chip; // null where there are none

  explicit LiveTensors(bool reusesHoles) : reusesHoles(reusesHoles) {}

  /// Reports tensors whose lives have no such order, and several chips. May be
  /// called again when ops have moved: what a tensor needs is asked once.
  LogicalResult collect(func::FuncOp function);

private:
  FailureOr<PlacedBlock> describe(AllocOp alloc);

  llvm::DenseMap<Operation *, PlacedBlock> described;
};

/// System memory that nobody writes while the program runs: constants, and
/// arguments that are neither results nor scratch.
bool isUnchanging(Value memref);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_LIVETENSORS_H
