//===- IncrementalChainModel.h - Node-by-node layout assignment -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves the problem of LayoutModel.h node by node if IncrementalChainSolver.h
// applies: without loops and budgets, and with a narrow graph. It solves a
// sequence of programs, and recomputes only the steps of changed nodes.
//
// A step is a node, with the copies of tensors that it makes or is the first to
// read. Factors with a consumer are added at the consumer's step.
//
// Law: the solution is that of a new IncrementalChainModel.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_INCREMENTALCHAINMODEL_H
#define LAYOUT_LIB_ANALYSIS_INCREMENTALCHAINMODEL_H

#include "LayoutModel.h"
#include "ProgramReader.h"
#include "layout/Solver/IncrementalChainSolver.h"

namespace mlir::layout {

class IncrementalChainModel {
public:
  /// Creates a model with the `maxTableSize` of SolveOptions.
  explicit IncrementalChainModel(int64_t maxTableSize) : solver(maxTableSize) {}

  /// Sets the persistent numbers of the classes of the next program.
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

  /// The tables of a node class in the current program.
  struct NodeTables {
    unsigned domain;
    std::optional<TableId> ownCosts; // in the solver
  };
  /// The factors of a tensor class's pattern, and the last consumer in the
  /// factors of each variable, or -1. The tables may differ between programs.
  struct Shape {
    bool hasProducer;
    unsigned numConsumers;
    std::vector<SmallVector<unsigned, 2>> roles; // of each factor
    int lastOfProducer = -1;
    SmallVector<int, 2> lastOfCopies; // -1 if there is none
    // In the current program.
    SmallVector<unsigned, 2> domains; // of the copies
    std::vector<TableId> tables;      // of each factor, in the solver
  };
  /// A tensor with factors: its shape, its producer if that has factors, and
  /// the index of its first consumer.
  struct Row {
    unsigned shape, producer, firstConsumer;
  };
  /// Nodes `begin` to `endBefore` are replaced by `begin` to `end`.
  struct Change {
    unsigned begin, endBefore, end;

    /// Returns the new position of an old node, or kNone if it changed.
    unsigned move(unsigned before) const {
      return before < begin       ? before
             : before < endBefore ? kNone
                                  : before - endBefore + end;
    }
  };
  /// A tensor that a node reads, and the node's index among the consumers.
  struct Read {
    unsigned row, consumer;
  };
  struct Kind {
    ArrayRef<unsigned> key;
    unsigned numVariables, own; // `own` is the position of the node's variable
    /// The kind that last followed this one.
    unsigned follower = kNone;
    // In the current program.
    unsigned number = kNone; // in the solver, once requested
    unsigned numFactors = 0;
  };
  /// The recomputed parts of a node: its reads and results, or also its kind.
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
  /// Returns the node at whose step the copies of a tensor are added.
  unsigned getAnchor(unsigned row) const {
    unsigned producer = rows[row].producer;
    return producer != kNone ? producer : getConsumers(row).front();
  }
  /// Returns true if the step of a read adds the copies of its tensor.
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

  IncrementalChainSolver solver;

  // Numbers that persist across programs.
  std::vector<Shape> shapes;
  std::map<std::vector<unsigned>, unsigned> shapeOf;
  std::vector<Kind> knownKinds;
  DenseMap<ArrayRef<unsigned>, unsigned> kindOf;
  llvm::BumpPtrAllocator keys;

  // The last program, or the current one: the classes and step kinds of its
  // nodes, and its tensors. A sentinel row ends the consumers.
  std::vector<unsigned> classes, kinds, consumers;
  std::vector<Row> rows = {{kNone, kNone, 0}};

  // The current program.
  ArrayRef<unsigned> nodeClasses, tensorClasses;
  std::vector<NodeTables> nodeTables; // by persistent class number
  std::vector<unsigned> shapeOfClass; // or kNone if it has no factors
  Change change;
  std::vector<uint8_t> marks; // of nodes; all are in marksBegin .. marksEnd
  unsigned marksBegin, marksEnd;
  std::vector<unsigned> near; // rows
  unsigned nearBegin, nearEnd;
  // The lists of marked nodes, by slot: their reads and results, the last node
  // with a factor of their variable, and their variables; and the first copy of
  // the rows of marked nodes.
  std::vector<unsigned> slots, firstRead, firstMade, made, lastStep, variableOf,
      firstCopyOf;
  std::vector<Read> reads;
  std::vector<unsigned> numbers; // of kinds, in the solver
  SmallVector<unsigned, 32> key;
  unsigned lastKind = kNone;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_INCREMENTALCHAINMODEL_H
