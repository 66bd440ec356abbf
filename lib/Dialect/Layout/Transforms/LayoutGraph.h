//===- LayoutGraph.h - What is shown of a program ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of a program as boxes: runs of ops in one layout, each of which reads
// the one before alone; arguments; conversions. In a large program the boxes
// are connected ops of one layout, in a very large one all that is connected
// without moving bytes. What costs nothing is not shown: constants, fresh
// storage and what fills it, destinations that nobody reads, sizes.
//
//   LayoutGraph graph(module, target, /*maxBoxes=*/200);
//   for (unsigned box : graph.getBoxes(block))
//     draw(graph.boxes[box]);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_LAYOUTGRAPH_H
#define LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_LAYOUTGRAPH_H

#include "layout/Analysis/ConversionPlan.h"

namespace mlir {
namespace layout {

class LayoutGraph {
public:
  struct Box {
    Block *block;
    SmallVector<Operation *> ops;
    BlockArgument argument;

    /// The type of what leaves the box; null where nothing does.
    Type getType() const;
    /// The conversion that the box is.
    ConvertOp getConversion() const;
  };

  LayoutGraph(Operation *root, TargetInterface target, unsigned maxBoxes);

  std::vector<Box> boxes;

  ArrayRef<unsigned> getBoxes(Block *block) const;
  /// The ops of a block that have boxes inside.
  ArrayRef<Operation *> getFrames(Block *block) const;
  /// The tensors that a box reads, each with the box that makes it.
  SmallVector<std::pair<unsigned, Value>> getReads(unsigned box) const;

private:
  void collect(Block &block);
  void collect(Operation *op);
  std::vector<unsigned> findConnected(bool isOneLayout) const;
  void join(ArrayRef<unsigned> joined);
  bool isJoinable(const Box &box, bool isOneLayout) const;
  std::optional<unsigned> findRun(Operation *op) const;
  SmallVector<OpOperand *> getReadTensors(Operation *op) const;
  std::optional<unsigned> getBox(Value value) const;

  TargetInterface target;
  DenseMap<Operation *, unsigned> boxOf;
  DenseMap<Value, unsigned> boxOfArgument;
  DenseMap<Block *, SmallVector<unsigned>> boxesOf;
  DenseMap<Block *, SmallVector<Operation *>> framesOf;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_LAYOUTGRAPH_H
