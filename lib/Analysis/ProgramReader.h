//===- ProgramReader.h - Reads a program, and what changes of it *- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a Program of IR. One that is kept reads a straight function again after
// some of its ops have changed: one block, nothing tied, no tensor used inside
// of an op.
//
//   ProgramReader reader(module, trips, constraints, findsElements);
//   Program program = reader.runAndKeep();
//   // ops 7 and 8 of the block are replaced by others
//   program = *reader.update(std::move(program), 7, 2, rows, constraints);
//
// What `update` keeps are numbers: of nodes, tensors and their classes, which
// count up in the order of first appearance and are given to nothing else
// later. Nodes, and tensors that those read or make, are replaced in the
// program that was made last; of all others only the numbers are moved on, in a
// pass over each array.
//
// Laws:
//  * the answer of `update` is that of a new reader, but for classes of ops
//    that are no nodes;
//  * where it gives none, the reader is of no more use.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_PROGRAMREADER_H
#define LAYOUT_LIB_ANALYSIS_PROGRAMREADER_H

#include "layout/Analysis/Program.h"
#include "llvm/ADT/SetVector.h"

namespace mlir {
namespace layout {

/// Ops lie in memory nearly in the order in which they are visited: entries of
/// neighbors are neighbors, too, where a hash that mixes would miss the caches
/// for each of a million.
struct InOrderOfMemory : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return unsigned(reinterpret_cast<uintptr_t>(op) >> 7);
  }
};

/// Puts `to` in the place of `count` elements of `rows` from `begin` on. Those
/// behind are moved only where there are more or fewer.
template <typename Row>
void replaceRows(std::vector<Row> &rows, size_t begin, size_t count,
                 ArrayRef<Row> to) {
  size_t common = std::min(count, to.size());
  auto place = std::copy_n(to.begin(), common, rows.begin() + begin);
  if (common < count)
    rows.erase(place, place + (count - common));
  else
    rows.insert(place, to.begin() + common, to.end());
}

class ProgramReader {
public:
  ProgramReader(Operation *root, int64_t assumedTrips,
                const LayoutConstraints &constraints, bool findsElements)
      : root(root), constraints(&constraints), findsElements(findsElements),
        frequencies(root, assumedTrips) {}

  Program run();

  /// The same for `root` with one op in its body, and keeps what `update`
  /// needs, where `isKept` is true afterwards.
  Program runAndKeep();
  bool isKept() const { return block; }

  /// An op of the block. One that is unchanged is one of those before it.
  struct NewRow {
    Operation *op;
    bool isUnchanged;
  };
  /// Of `last`, the program that was made last, after `numBefore` ops of the
  /// block, from op `begin` on, have given way to `ops`. `constraints` are
  /// those of what changed. Nothing where more has to be read.
  std::optional<Program> update(Program last, size_t begin, size_t numBefore,
                                ArrayRef<NewRow> ops,
                                const LayoutConstraints &constraints);

  /// What the classes of the program that was made last are called in all
  /// programs.
  ArrayRef<unsigned> getNodeClasses() const { return nodeClassAt; }
  ArrayRef<unsigned> getTensorClasses() const { return tensorClassAt; }
  /// The places in the block of ops that stand for their classes.
  ArrayRef<size_t> getFirstOfClasses() const { return firstOfClasses; }

private:
  /// For what is a free source instead of a node.
  static constexpr unsigned kFreeSource = ~0u;
  static constexpr unsigned kNoTensor = ~0u;
  static constexpr unsigned kNone = ~0u;

  struct Use {
    unsigned tensor, node, operand;
    Operation *user;
  };
  /// An op of the block: its class, if it has tensors, and its node, if it is
  /// one.
  struct Row {
    Operation *op;
    const void *name;
    unsigned nodeClass, node;
  };
  struct Range {
    unsigned begin, end;
  };
  /// Places of nodes, from `begin` on.
  struct Change {
    unsigned begin, numBefore, numAfter;
    /// Where a node is now; the first new one for those that have changed.
    unsigned move(unsigned place) const {
      if (place < begin + numBefore)
        return std::min(place, begin);
      return place - numBefore + numAfter;
    }
  };
  /// A tensor whose place and class are found again.
  struct Moved {
    unsigned number;
    /// The place that it had, and before which it goes, in the order before.
    unsigned before, place = kNone;
    /// The first node that reads it, and which of the uses of that it is.
    std::pair<unsigned, unsigned> order = {kNone, 0};
    SmallVector<unsigned, 4> consumers; // empty where nobody reads it any more
  };

  void findTiedSlots(Operation *op, llvm::SmallBitVector &operands,
                     llvm::SmallBitVector &results) const;
  SmallVector<RankedTensorType, 0> findConstraint(ValueRange results) const;
  SmallVector<RankedTensorType, 0>
  findConstraint(MutableArrayRef<OpOperand> operands) const;
  RankedTensorType findConstraint(const TiedValues &tie) const;
  unsigned getOpClass(Operation *op, bool isInBody);
  unsigned getTieClass(const TiedValues &tie, int64_t frequency);
  WalkResult addOp(Operation *op);
  void addNode(Operation *op, unsigned nodeClass);
  void addTies();
  void addUse(OpOperand &operand, unsigned node, unsigned index);
  void addUses(unsigned node);
  void addTensors();
  unsigned getLoopDepth(Block *block);
  void findFrequencies(TensorClass &wanted, ArrayRef<unsigned> ownUses);
  TensorClass describeTensor(const Tensor &tensor, ArrayRef<unsigned> ownUses);
  unsigned getTensorClass(TensorClass &&wanted);

  WalkResult addRow(Operation *op);
  std::optional<Row> readRow(Operation *op, const Row *before);
  void markTensors(const Row &row);
  void forgetResults(const DenseMap<Operation *, Row> &gone,
                     const DenseSet<Operation *> &again);
  void findOthersForClasses(const DenseMap<Operation *, Row> &gone);
  bool concernsOpsInPlace() const;
  ArrayRef<Use> getUses(unsigned node) const {
    return ArrayRef(uses).slice(usesOf[node].begin,
                                usesOf[node].end - usesOf[node].begin);
  }
  Change replaceNodes(Program &ordered, size_t begin, size_t numBefore,
                      ArrayRef<Row> added);
  void orderNodeClasses(Program &ordered, const Change &change);
  std::vector<Moved> findPlaces(const Program &last, const Change &change);
  void replaceTensors(Program &ordered, const Change &change,
                      ArrayRef<Moved> moved);
  void orderTensorClasses(Program &ordered, ArrayRef<Moved> moved);

  Operation *root;
  const LayoutConstraints *constraints;
  bool findsElements;
  Frequencies frequencies;
  Placement placement;
  Block *lastBlock = nullptr;
  unsigned lastDepth = 0;
  Program program;
  DenseMap<Operation *, unsigned, InOrderOfMemory> nodeOf; // or kFreeSource
  unsigned firstTie = 0;
  /// The tensor of the first result of each node, where it has one yet.
  std::vector<unsigned> tensorOfFirst;
  /// Of all other values.
  DenseMap<Value, unsigned> tensorOf;
  std::vector<Use> uses;
  // By hash.
  DenseMap<uint64_t, SmallVector<unsigned, 1>> nodeClassesOf, tensorClassesOf;

  // What is kept, where `block` is not null.
  Block *block = nullptr;
  unsigned lastClass = kNone; // of the op that was added last
  std::vector<Row> rows;
  std::vector<Range> usesOf;                 // per node
  size_t numUses = 0;                        // before the first change
  llvm::SmallSetVector<unsigned, 16> marked; // tensors
  std::vector<size_t> firstOfClasses;
  // What is where in the program that was made last, by the numbers of
  // `program`, and the other way round.
  std::vector<unsigned> nodeAt, placeOfNode, tensorAt, placeOfTensor,
      nodeClassAt, newNodeClass, tensorClassAt;
  // How many ops of the block and how many tensors each class has there.
  std::vector<unsigned> numOfNodeClass, numOfTensorClass;
};

/// Puts a class at the end, and where it meets classes of nodes.
void addTensorClass(Program &program, TensorClass &&added);

/// The constraints of `ops`, which lie in a function below `root` that ties
/// nothing; reports those that cannot hold.
FailureOr<LayoutConstraints> readConstraints(Operation *root,
                                             ArrayRef<Operation *> ops);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ANALYSIS_PROGRAMREADER_H
