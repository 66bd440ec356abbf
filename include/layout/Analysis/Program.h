//===- Program.h - Units of choice and the tensors between them -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the decision sees of the IR: units, each of which chooses layouts for
// all of its tensors at once, and the tensors that go from unit to unit. A unit
// is an op with tensors, or a join of control flow.
//
//   %0 = linalg.conv(%x, %w)     unit 0, class A
//   %1 = linalg.relu(%0)         unit 1, class B
//   %2 = linalg.conv(%1, %w)     unit 2, class A
//
// Units of one class are alike in all that the choice depends on: op,
// attributes, body, types, how often they run. Large programs have few classes,
// so rules, candidates and costs are made once per class. Tensors have classes
// for the same reason: alike are those with one type, one class of producer,
// and consumers of the same classes in the same order.
//
// Laws:
//  * units and tensors are in the order of the IR, classes in the order in
//  which
//    they are met: nothing depends on addresses;
//  * every operand that is a tensor of known layout belongs to one unit, except
//    of ops that read no element;
//  * free sources (constants, fresh storage and what fills it) are no units,
//  and
//    their results no tensors: they are made in the layout that is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_PROGRAM_H
#define LAYOUT_ANALYSIS_PROGRAM_H

#include "layout/Analysis/ControlFlow.h"
#include "layout/Analysis/Pins.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include <deque>
#include <optional>

namespace mlir {
namespace layout {

/// An operand or a result of a unit; a join has one operand and one result that
/// stand for all of its ends, and behind that an operand for each part.
struct Slot {
  bool isResult = false;
  unsigned index = 0;
  bool operator==(const Slot &other) const {
    return isResult == other.isResult && index == other.index;
  }
};

struct UnitClass {
  /// The first unit of the class; null for joins.
  Operation *op = nullptr;
  /// The type that a join forwards.
  RankedTensorType joinType;
  struct Part {
    RankedTensorType type;
    OpLayoutRule rule;
  };
  SmallVector<Part, 0> joinParts;
  OpLayoutRule rule;
  /// Types with a layout on the way in are kept, and so are pins.
  bool isPinned = false;
  /// What pins state, null for the rest; empty without. A join has one.
  SmallVector<RankedTensorType, 0> pinnedOperands, pinnedResults;
  /// Lies in the body of an op with a rule, so keeps its types.
  bool isInBody = false;
  /// Ops in the body read tensors by themselves.
  bool hasReadingBody = false;
  /// Operands and results that are ends of joins, so not chosen here.
  llvm::SmallBitVector joinedOperands, joinedResults;
  int64_t frequency = 1;
  /// Where its tensors go: the classes of tensors that meet it, by slot.
  SmallVector<std::pair<Slot, unsigned>, 4> meets;

  bool isJoin() const { return !op; }
};

struct TensorClass {
  RankedTensorType type;
  /// The first tensor of the class.
  Value first;
  /// Class of the producing unit; none where the layout is that of the type.
  std::optional<unsigned> producer;
  unsigned result = 0;
  struct Consumer {
    unsigned unitClass;
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

struct Unit {
  unsigned unitClass;
  /// Null for joins.
  Operation *op;
  /// Of joins, the number in `Program::flow`.
  unsigned join;
};

struct Tensor {
  Value value;
  unsigned tensorClass;
  /// The producing unit; meaningless where the class has none.
  unsigned producer;
  /// The consuming units are Program::consumers[firstConsumer ..], one for each
  /// consumer of the class.
  unsigned firstConsumer;
};

struct Program {
  ControlFlow flow;
  std::vector<Unit> units;
  std::deque<UnitClass> unitClasses; // large, so they stay where they are
  std::vector<Tensor> tensors;
  std::vector<TensorClass> tensorClasses;
  std::vector<unsigned> consumers;

  ArrayRef<unsigned> getConsumers(const Tensor &tensor) const {
    return ArrayRef(consumers).slice(
        tensor.firstConsumer,
        tensorClasses[tensor.tensorClass].consumers.size());
  }
  const UnitClass &getClass(const Unit &unit) const {
    return unitClasses[unit.unitClass];
  }
};

/// True if the value is a ranked tensor whose layout is known to the project:
/// plain or with an attribute of a layout family.
bool hasKnownLayout(Value value);

/// True if an operand or a result of `op` is such a value.
bool hasKnownTensors(Operation *op);

/// Reads everything below `root`; loops of unknown trip count are taken to run
/// `assumedTrips` times.
Program readProgram(Operation *root, int64_t assumedTrips,
                    const Pins &pins = Pins());

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_PROGRAM_H
