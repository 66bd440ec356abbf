//===- Program.h - Decision nodes and the tensors between them --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assignment's representation of the IR: nodes, each of which chooses
// layouts for all of its tensors at once, and the tensors between nodes. A node
// is an op with tensors, or an equivalence class of the operands and values
// that control flow forces to have one type (ControlFlow.h), a *flow class*.
//
//   %0 = linalg.conv(%x, %w)     node 0, class A
//   %1 = linalg.relu(%0)         node 1, class B
//   %2 = linalg.conv(%1, %w)     node 2, class A
//
// Nodes of one class are equal in all inputs of the choice: op, attributes,
// body, types, frequency, and which operands are constants. Large programs have
// few classes, so rules, candidates and costs are computed once per class.
// Tensors have classes for the same reason, with equal types, producer classes
// and consumer classes in the same order.
//
// Laws:
//  * nodes and tensors are in the order of the IR, classes in the order of
//    first appearance; nothing depends on addresses;
//  * every operand that is a tensor of known layout belongs to one node, unless
//    its op reads no element;
//  * an op that can run in the layouts of its types has no choice. An op that
//    cannot has the choice it would have on plain types, and its tensors are
//    converted from and to the layouts of their types;
//  * rematerializable values (constants, fresh storage and its fills) are not
//    nodes, and their results are not tensors of the program. They are made in
//    the layout that a consumer requires.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_PROGRAM_H
#define LAYOUT_ANALYSIS_PROGRAM_H

#include "layout/Analysis/ControlFlow.h"
#include "layout/Analysis/LayoutConstraints.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include <deque>
#include <optional>

namespace mlir::layout {

/// An operand or a result of a node. A flow class, the operands and values to
/// which control flow gives one type, has one operand and one result that
/// represent all of them. It has one more operand for each slice that a
/// parallel loop inserts.
struct OperandOrResult {
  bool isResult = false;
  unsigned index = 0;
  bool operator==(const OperandOrResult &other) const {
    return isResult == other.isResult && index == other.index;
  }
};

struct NodeClass {
  /// The op of the first node of the class, or nullptr if the nodes are flow
  /// classes: operands and values to which control flow gives one type.
  Operation *op = nullptr;
  /// The type of all operands and values of a flow class, or a null type if the
  /// class has an op.
  RankedTensorType flowType;
  struct Part {
    RankedTensorType type;
    PerDimRule rule;
  };
  /// The slices that parallel loops insert into the tensor of a flow class.
  SmallVector<Part, 0> insertedParts;
  OpLayoutRule rule;
  /// True if the layouts are fixed: by constraints, by layouts of the types in
  /// which the op can run, or by an encoding that is not a layout.
  bool isFixed = false;
  /// The types that constraints state for the operands and results. A value
  /// without a constraint has a null type; an op without constraints has empty
  /// lists. For a flow class with a constraint, `constrainedOperands` has its
  /// type.
  SmallVector<RankedTensorType, 0> constrainedOperands, constrainedResults;
  /// True if the op is nested in an op that has a layout rule. It then keeps
  /// its types.
  bool isInBody = false;
  /// True if the op has a layout rule and ops nested in it read tensors, e.g.
  /// tensors that are defined outside of it.
  bool hasReadingBody = false;
  /// The operands and results that belong to a flow class. That class chooses
  /// their layouts, and not this node.
  llvm::SmallBitVector flowOperands, flowResults;
  int64_t frequency = 1;
  /// The operands and results of the node, each with the number of the class of
  /// its tensor.
  SmallVector<std::pair<OperandOrResult, unsigned>, 4> incidentTensors;

  bool isFlowClass() const { return !op; }
};

struct TensorClass {
  RankedTensorType type;
  /// The first tensor of the class in the order of the IR.
  Value first;
  /// The class of the node that makes the tensor, or std::nullopt if no node
  /// makes it, so that its type fixes the layout.
  std::optional<unsigned> producer;
  unsigned result = 0;
  struct Consumer {
    unsigned nodeClass;
    SmallVector<unsigned, 1> operands;
    /// The frequency (number of runs) and the loop depth of a copy in another
    /// layout that is made for this consumer only.
    int64_t frequency = 1;
    unsigned depth = 0;
  };
  SmallVector<Consumer, 1> consumers;
  /// The frequency (number of runs) and the loop depth of one copy in another
  /// layout that all consumers share.
  int64_t frequency = 1;
  unsigned depth = 0;
};

struct Node {
  unsigned nodeClass;
  /// The op of the node, or nullptr if the node is a flow class: operands and
  /// values to which control flow gives one type.
  Operation *op;
  /// The index in `Program::flow.classes` if the node is a flow class, or else
  /// 0.
  unsigned flowClass;
};

struct Tensor {
  Value value;
  unsigned tensorClass;
  /// The number of the node that makes the tensor; undefined if its class has
  /// no producer.
  unsigned producer;
  /// The index in `Program::consumers` of the first node that consumes the
  /// tensor. The others follow, as many as the tensor's class has consumers.
  unsigned firstConsumer;
};

struct Program {
  ControlFlow flow;
  std::vector<Node> nodes;
  std::deque<NodeClass> nodeClasses; // with stable references
  std::vector<Tensor> tensors;
  std::vector<TensorClass> tensorClasses;
  std::vector<unsigned> consumers;

  ArrayRef<unsigned> getConsumers(const Tensor &tensor) const {
    return ArrayRef(consumers).slice(
        tensor.firstConsumer,
        tensorClasses[tensor.tensorClass].consumers.size());
  }
  const NodeClass &getClass(const Node &node) const {
    return nodeClasses[node.nodeClass];
  }
};

/// Returns true if the value is a ranked tensor with a known layout: without an
/// encoding, which means row-major, or with an attribute of a layout family.
bool hasKnownLayout(Value value);

/// Returns true if at least one operand or result of `op` is a ranked tensor
/// with a known layout.
bool hasKnownTensors(Operation *op);

/// Returns true if the op of `node` cannot run in the layouts of its types. The
/// layouts of such an op are chosen as if its types had none, and conversions
/// from and to the layouts of its types are inserted.
bool cannotKeepTypes(const NodeClass &node);

/// Returns true if `value` is a constant tensor of different elements, or a
/// conversion of one, whose elements passes can transform at compile time.
bool isTransformableConstant(Value value);

/// Returns true if two ops are equal in all inputs of choices and prices,
/// except the types of their tensors.
bool areAlikeButForTypes(Operation *a, Operation *b);

/// Reads the nodes and tensors below `root`. Assumes `assumedTrips` iterations
/// for loops with unknown trip counts. `usesPerElementAddressing` is the
/// property of the target (TargetModel.h) that decides in which layouts of its
/// types an op can run.
Program readProgram(Operation *root, int64_t assumedTrips,
                    const LayoutConstraints &constraints = LayoutConstraints(),
                    bool usesPerElementAddressing = false);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_PROGRAM_H
