//===- BlockOp.h - An op on the blocks of one device ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The op that a device runs for an op on a mesh: a copy, outside of the program,
// on the largest block of each tensor. The device's model estimates its cost
// and proposes layouts for the blocks.
//
//   matmul 8x16, 16x32 -> 8x32, columns over [x = 4]
//     block    matmul 8x16, 16x8 -> 8x8
//     proposed by a device of 4 lanes: columns in steps of 4, ..
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_MESH_BLOCKOP_H
#define LAYOUT_LIB_TARGETS_MESH_BLOCKOP_H

#include "layout/Analysis/Candidates.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::layout {

class BlockOp {
public:
  /// Clones `op` for the largest block of each tensor on a mesh. `layouts` has
  /// the ids of the tensors' layouts in `costs`; a tensor without a layout
  /// keeps its type. `device` is the cost model of one device.
  BlockOp(Operation *op, const OpLayoutRule &rule, const OpLayouts &layouts,
          const CostModel &costs, CostModel &device);

  Cost getCost() { return device.getOpCost(copy.get(), rule, layouts); }

  /// Returns the decision node of the op on row-major blocks: a copy of
  /// `whole`, the node of the op on whole tensors, without layout constraints.
  /// The first call adds the configuration with row-major blocks to `known`,
  /// the configurations of this node.
  const NodeClass &getNode(const NodeClass &whole);
  Candidates known;

  /// Returns the type of a block without its layout.
  RankedTensorType getType(OperandOrResult slot) const;

private:
  CostModel &device;
  SmallVector<OwningOpRef<UnrealizedConversionCastOp>> sources;
  OwningOpRef<Operation *> copy;
  OpLayoutRule rule;
  OpLayouts layouts; // of `device`
  std::optional<NodeClass> node;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_MESH_BLOCKOP_H
