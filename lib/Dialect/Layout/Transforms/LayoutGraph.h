//===- LayoutGraph.h - A program as a graph of boxes ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Models a program as boxes: arguments, conversions, and chains of ops in one
// layout, each of which reads only the one before. In a large program a box
// holds connected ops of one layout, and in a very large one all ops that are
// connected without moving bytes. Ops that are free are hidden: constants,
// fresh storage and its fills, destinations that are not read, and sizes.
//
//   LayoutGraph graph(module, target, /*maxBoxes=*/200);
//   for (unsigned box : graph.getBoxes(block))
//     draw(graph.boxes[box]);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_LAYOUTGRAPH_H
#define LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_LAYOUTGRAPH_H

#include "layout/Analysis/ConversionPlan.h"

namespace mlir::layout {

/// The boxes of a program and the tensors between them.
class LayoutGraph {
public:
  /// A block argument, or ops that are shown as one box.
  struct Box {
    Block *block;
    SmallVector<Operation *> ops;
    BlockArgument argument;

    /// Returns the type of the block argument or of the first result of the
    /// last op, or a null type if this op has no result.
    Type getType() const;
    /// Returns the layout.convert if the box consists of one, or else a null
    /// op.
    ConvertOp getConversion() const;
  };

  LayoutGraph(Operation *root, TargetInterface target, unsigned maxBoxes);

  std::vector<Box> boxes;

  ArrayRef<unsigned> getBoxes(Block *block) const;
  /// Returns the ops of a block whose regions are shown; each is drawn as a
  /// frame.
  ArrayRef<Operation *> getFrames(Block *block) const;
  /// Returns the tensors that a box reads, each with the box that produces it.
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

} // namespace mlir::layout

#endif // LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_LAYOUTGRAPH_H
