//===- Program.h - Nodes of choice and the tensors between them -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the decision sees of the IR: nodes, each of which chooses layouts for
// all of its tensors at once, and the tensors that go from node to node. A node
// is an op with tensors, or a tie of control flow.
//
//   %0 = linalg.conv(%x, %w)     node 0, class A
//   %1 = linalg.relu(%0)         node 1, class B
//   %2 = linalg.conv(%1, %w)     node 2, class A
//
// Nodes of one class are alike in all that the choice depends on: op,
// attributes, body, types, how often they run. Large programs have few classes,
// so rules, candidates and costs are made once per class. Tensors have classes
// for the same reason: alike are those with one type, one class of producer,
// and consumers of the same classes in the same order.
//
// Laws:
//  * nodes and tensors are in the order of the IR, classes in the order in
//    which they are met: nothing depends on addresses;
//  * every operand that is a tensor of known layout belongs to one node, except
//    of ops that read no element;
//  * an op that can run in the layouts that its types state has no choice; one
//    that cannot has the choice that it would have on plain types, and its
//    tensors are converted from and to the layouts of their types;
//  * rematerializable values (constants, fresh storage and what fills it) are
//    not nodes, and their results are not tensors of the program: they are made
//    in the layout that a consumer requires.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_PROGRAM_H
#define LAYOUT_ANALYSIS_PROGRAM_H

#include "layout/Analysis/ControlFlow.h"
#include "layout/Analysis/LayoutConstraints.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include <deque>
#include <optional>

namespace mlir {
namespace layout {

/// An operand or a result of a node; a tie has one operand and one result that
/// stand for all of its uses, and behind that an operand for each part.
struct Slot {
  bool isResult = false;
  unsigned index = 0;
  bool operator==(const Slot &other) const {
    return isResult == other.isResult && index == other.index;
  }
};

struct NodeClass {
  /// The first node of the class; null for ties.
  Operation *op = nullptr;
  /// The type that a tie forwards.
  RankedTensorType tiedType;
  struct Part {
    RankedTensorType type;
    PerDimRule rule;
  };
  SmallVector<Part, 0> tiedParts;
  OpLayoutRule rule;
  /// Types with a layout on the way in are kept, and so are constraints.
  bool isFixed = false;
  /// What constraints state, null for the rest; empty without. A tie has one.
  SmallVector<RankedTensorType, 0> constrainedOperands, constrainedResults;
  /// Lies in the body of an op with a rule, so keeps its types.
  bool isInBody = false;
  /// Ops in the body read tensors by themselves.
  bool hasReadingBody = false;
  /// Operands and results that are uses of ties, so not chosen here.
  llvm::SmallBitVector tiedOperands, tiedResults;
  int64_t frequency = 1;
  /// Where its tensors go: the classes of tensors that meet it, by slot.
  SmallVector<std::pair<Slot, unsigned>, 4> meets;

  bool isTie() const { return !op; }
};

struct TensorClass {
  RankedTensorType type;
  /// The first tensor of the class.
  Value first;
  /// Class of the producing node; none where the layout is that of the type.
  std::optional<unsigned> producer;
  unsigned result = 0;
  struct Consumer {
    unsigned nodeClass;
    SmallVector<unsigned, 1> operands;
    /// How often a copy for this consumer alone is made, if one is, and in how
    /// many loops.
    int64_t frequency = 1;
    unsigned depth = 0;
  };
  SmallVector<Consumer, 1> consumers;
  /// How often a copy for all consumers is made, and in how many loops.
  int64_t frequency = 1;
  unsigned depth = 0;
};

struct Node {
  unsigned nodeClass;
  /// Null for ties.
  Operation *op;
  /// Of ties, the number in `Program::flow`.
  unsigned tie;
};

struct Tensor {
  Value value;
  unsigned tensorClass;
  /// The producing node; meaningless where the class has none.
  unsigned producer;
  /// The consuming nodes are Program::consumers[firstConsumer ..], one for each
  /// consumer of the class.
  unsigned firstConsumer;
};

struct Program {
  ControlFlow flow;
  std::vector<Node> nodes;
  std::deque<NodeClass> nodeClasses; // large, so they stay where they are
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

/// True if the value is a ranked tensor whose layout is known to the project:
/// plain or with an attribute of a layout family.
bool hasKnownLayout(Value value);

/// True if an operand or a result of `op` is such a value.
bool hasKnownTensors(Operation *op);

/// Returns true if the op of `node` cannot run in the layouts that its types
/// state. It chooses layouts as on plain types, and its tensors are converted.
bool cannotKeepTypes(const NodeClass &node);

/// Whether all that choices and prices of two ops depend on is equal, but for
/// the types of their tensors.
bool areAlikeButForTypes(Operation *a, Operation *b);

/// Reads everything below `root`; loops of unknown trip count are taken to run
/// `assumedTrips` times. `findsElements` is that of the target
/// (TargetModel.h): it tells which layouts of types an op can run in.
Program readProgram(Operation *root, int64_t assumedTrips,
                    const LayoutConstraints &constraints = LayoutConstraints(),
                    bool findsElements = false);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_PROGRAM_H
