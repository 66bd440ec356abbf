//===- SequenceModel.h - A choice of layouts, node by node ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves the problem of LayoutModel.h node by node, where it is as
// SequenceSolver.h asks for: without loops and budgets, and narrow. It does so
// for one program after the other, and finds the steps again only of nodes that
// are not as they were.
//
// A step is a node, with the copies of the tensors that it makes, or is the
// first to read. What a pattern says of a consumer is said at the step of that.
//
// Law: the answer is that of a new SequenceModel.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_SEQUENCEMODEL_H
#define LAYOUT_LIB_ANALYSIS_SEQUENCEMODEL_H

#include "LayoutModel.h"
#include "ProgramReader.h"
#include "layout/Solver/SequenceSolver.h"

namespace mlir {
namespace layout {

class SequenceModel {
public:
  /// `maxTableSize` is that of SolveOptions.
  explicit SequenceModel(int64_t maxTableSize) : solver(maxTableSize) {}

  /// What the classes of the next program are called in all of them.
  void setClasses(ArrayRef<unsigned> nodeClasses,
                  ArrayRef<unsigned> tensorClasses) {
    this->nodeClasses = nodeClasses;
    this->tensorClasses = tensorClasses;
  }

  struct Solution {
    Cost cost = 0;
    std::vector<unsigned> choice; // per node
    unsigned numVariables = 0, numFactors = 0;
  };
  std::optional<Solution> solve(LayoutModel &model);

private:
  static constexpr unsigned kNone = ~0u;

  /// Of a class of nodes in the program at hand.
  struct NodeTables {
    unsigned domain;
    std::optional<TableId> ownCosts; // in the solver
  };
  /// Of a class of tensors: which factors its pattern has, and whom these speak
  /// of last: a consumer, or -1. Another program may have other tables.
  struct Shape {
    bool hasProducer;
    unsigned numConsumers;
    std::vector<SmallVector<unsigned, 2>> roles; // of each factor
    int lastOfProducer = -1;
    SmallVector<int, 2> lastOfCopies; // -1 where none speaks of them
    // In the program at hand.
    SmallVector<unsigned, 2> domains; // of the copies
    std::vector<TableId> tables;      // of each factor, in the solver
  };
  /// A tensor about which the model says something: its shape, the node that
  /// makes it, unless that has no say, and where its consumers begin.
  struct Row {
    unsigned shape, producer, firstConsumer;
  };
  /// Instead of nodes from `begin` to `endBefore` there are those to `end`.
  struct Change {
    unsigned begin, endBefore, end;

    /// Where one that was there before is now; kNone where it has changed.
    unsigned move(unsigned before) const {
      return before < begin       ? before
             : before < endBefore ? kNone
                                  : before - endBefore + end;
    }
  };
  /// A tensor that a node reads, and which of its consumers the node is.
  struct Read {
    unsigned row, consumer;
  };
  struct Kind {
    ArrayRef<unsigned> key;
    unsigned numVariables, own; // place of the variable of the node
    /// The kind that was met after it last.
    unsigned follower = kNone;
    // In the program at hand.
    unsigned number = kNone; // in the solver, once it is asked for
    unsigned numFactors = 0;
  };
  /// What of a node is found again: what it reads and makes, or its kind, too.
  enum Mark : uint8_t { kNothing, kLists, kKind };

  bool readClasses(LayoutModel &model);
  std::optional<unsigned> readShape(unsigned tensorClass,
                                    const TensorClass &tensor,
                                    const LayoutModel::Pattern &pattern,
                                    const FactorGraph &graph);
  void replaceNodes(const Program &program);
  bool isSame(unsigned row, const Tensor &tensor,
              ArrayRef<unsigned> consumersNow) const;
  void replaceTensors(const Program &program);
  void mark(unsigned node);
  ArrayRef<unsigned> getRowsNear(unsigned begin, unsigned end);
  void findChange(const Program &program);
  void sortRows();
  void findKey(unsigned node, unsigned numVariables);
  unsigned findKind(unsigned node, unsigned numVariables);
  void makeKind(Kind &kind);
  Solution findSteps();
  unsigned getNumRows() const { return rows.size() - 1; }
  const Shape &getShape(unsigned row) const { return shapes[rows[row].shape]; }
  ArrayRef<unsigned> getConsumers(unsigned row) const {
    return ArrayRef(consumers).slice(rows[row].firstConsumer,
                                     rows[row + 1].firstConsumer -
                                         rows[row].firstConsumer);
  }
  /// The node at whose step the copies of a tensor are added.
  unsigned getAnchor(unsigned row) const {
    unsigned producer = rows[row].producer;
    return producer != kNone ? producer : getConsumers(row).front();
  }
  /// Whether the step of a read adds the copies of its tensor.
  static bool addsCopies(const Shape &shape, unsigned consumer) {
    return consumer == 0 && !shape.hasProducer;
  }
  ArrayRef<Read> getReads(unsigned node) const {
    unsigned at = slots[node];
    return ArrayRef(reads).slice(firstRead[at],
                                 firstRead[at + 1] - firstRead[at]);
  }
  ArrayRef<unsigned> getMade(unsigned node) const {
    unsigned at = slots[node];
    return ArrayRef(made).slice(firstMade[at],
                                firstMade[at + 1] - firstMade[at]);
  }

  SequenceSolver solver;

  // Numbers that stay the same from program to program.
  std::vector<Shape> shapes;
  std::map<std::vector<unsigned>, unsigned> shapeOf;
  std::vector<Kind> knownKinds;
  DenseMap<ArrayRef<unsigned>, unsigned> kindOf;
  llvm::BumpPtrAllocator keys;

  // The last program, or the one at hand: of its nodes the classes and the
  // kinds of their steps, and its tensors. A last row ends the consumers.
  std::vector<unsigned> classes, kinds, consumers;
  std::vector<Row> rows = {{kNone, kNone, 0}};

  // Of the program at hand.
  ArrayRef<unsigned> nodeClasses, tensorClasses;
  std::vector<NodeTables> nodeTables; // by name of the class
  std::vector<unsigned> shapeOfClass; // or kNone where nothing is said
  Change change;
  std::vector<uint8_t> marks; // of nodes, all from marksBegin to marksEnd
  unsigned marksBegin, marksEnd;
  std::vector<unsigned> near; // rows
  unsigned nearBegin, nearEnd;
  // Of marked nodes, at their slots: what they read and make, the last node at
  // whose step something is said of them, and their variables; and of rows of
  // marked nodes the first copy.
  std::vector<unsigned> slots, firstRead, firstMade, made, lastStep, variableOf,
      firstCopyOf;
  std::vector<Read> reads;
  std::vector<unsigned> numbers; // of kinds, in the solver
  SmallVector<unsigned, 32> key;
  unsigned lastKind = kNone;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ANALYSIS_SEQUENCEMODEL_H
