//===- ProgramReader.h - Incremental reading of programs --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds a Program from IR. A kept reader updates the program of a straight
// function after some of its ops changed. A function is straight if it has one
// block, no tied values, and no tensor used inside of an op.
//
//   ProgramReader reader(module, trips, constraints, usesPerElementAddressing);
//   Program program = reader.runAndKeep();
//   // ops 7 and 8 of the block are replaced by others
//   program = *reader.update(std::move(program), 7, 2, rows, constraints);
//
// The reader keeps numbers of nodes, tensors and their classes. They increase
// in the order of first appearance and are never reused. `update` replaces the
// changed nodes, and the tensors that they read or make, in the last program.
// All others are only renumbered, in one pass over each array.
//
// Laws:
//  * `update` returns the program of a new reader, except for classes of ops
//    that are not nodes;
//  * if it returns std::nullopt, the reader cannot be used any more.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_PROGRAMREADER_H
#define LAYOUT_LIB_ANALYSIS_PROGRAMREADER_H

#include "layout/Analysis/Program.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::layout {

/// Hashes ops by address without mixing. Ops are visited nearly in the order of
/// their addresses, so neighbors have neighboring entries and lookups hit the
/// cache.
struct InOrderOfMemory : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *op) {
    return unsigned(reinterpret_cast<uintptr_t>(op) >> 7);
  }
};

/// Replaces `count` elements of `rows`, starting at `begin`, by `to`. Later
/// elements are moved only if the number of elements changes.
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
                const LayoutConstraints &constraints,
                bool usesPerElementAddressing)
      : root(root), constraints(&constraints),
        usesPerElementAddressing(usesPerElementAddressing),
        frequencies(root, assumedTrips) {}

  Program run();

  /// Builds the program of `root`, which has one op in its body, and keeps the
  /// state for `update` if possible (`isKept`).
  Program runAndKeep();
  bool isKept() const { return block; }

  /// An op of the block. An unchanged one is among the ops that are replaced.
  struct NewRow {
    Operation *op;
    bool isUnchanged;
  };
  /// Updates `last`, the program built last, after `ops` replaced `numBefore`
  /// ops of the block, starting at op `begin`. `constraints` are those of
  /// changed ops. Returns std::nullopt if the whole program must be read.
  std::optional<Program> update(Program last, size_t begin, size_t numBefore,
                                ArrayRef<NewRow> ops,
                                const LayoutConstraints &constraints);

  /// Returns the persistent numbers of the classes of the last program.
  ArrayRef<unsigned> getNodeClasses() const { return nodeClassAt; }
  ArrayRef<unsigned> getTensorClasses() const { return tensorClassAt; }
  /// Returns the positions in the block of the first ops of node classes.
  ArrayRef<size_t> getFirstOfClasses() const { return firstOfClasses; }

private:
  /// Marks ops that are rematerializable instead of nodes.
  static constexpr unsigned kRematerializable = ~0u;
  static constexpr unsigned kNoTensor = ~0u;
  static constexpr unsigned kNone = ~0u;

  struct Use {
    unsigned tensor, node, operand;
    Operation *user;
  };
  /// An op of the block, its class if it has tensors, and its node if it has
  /// one.
  struct Row {
    Operation *op;
    const void *name;
    unsigned nodeClass, node;
  };
  struct Range {
    unsigned begin, end;
  };
  /// A replaced range of nodes, starting at position `begin`.
  struct Change {
    unsigned begin, numBefore, numAfter;
    /// Returns a node's new position, that of the first new one if changed.
    unsigned move(unsigned place) const {
      if (place < begin + numBefore)
        return std::min(place, begin);
      return place - numBefore + numAfter;
    }
  };
  /// A tensor whose position and class are recomputed.
  struct Moved {
    unsigned number;
    /// The old position, and that before which the tensor is inserted.
    unsigned before, place = kNone;
    /// The first node that reads the tensor, and the index of its use.
    std::pair<unsigned, unsigned> order = {kNone, 0};
    SmallVector<unsigned, 4> consumers; // empty if there are no readers
  };

  void findTiedSlots(Operation *op, llvm::SmallBitVector &operands,
                     llvm::SmallBitVector &results) const;
  SmallVector<RankedTensorType, 0> findConstraint(ValueRange results) const;
  SmallVector<RankedTensorType, 0>
  findConstraint(MutableArrayRef<OpOperand> operands) const;
  RankedTensorType findConstraint(const TypeEquivalenceClass &tie) const;
  unsigned getOpClass(Operation *op, bool isInBody);
  unsigned getTieClass(const TypeEquivalenceClass &tie, int64_t frequency);
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
  bool usesPerElementAddressing;
  Frequencies frequencies;
  CopyPlacement placement;
  Block *lastBlock = nullptr;
  unsigned lastDepth = 0;
  Program program;
  DenseMap<Operation *, unsigned, InOrderOfMemory>
      nodeOf; // or kRematerializable
  unsigned firstTie = 0;
  /// The tensor of the first result of each node, if there is one.
  std::vector<unsigned> tensorOfFirst;
  /// The tensors of all other values.
  DenseMap<Value, unsigned> tensorOf;
  std::vector<Use> uses;
  // The classes, by hash.
  DenseMap<uint64_t, SmallVector<unsigned, 1>> nodeClassesOf, tensorClassesOf;

  // The kept state, if `block` is not null.
  Block *block = nullptr;
  unsigned lastClass = kNone; // of the last op added
  std::vector<Row> rows;
  std::vector<Range> usesOf;                 // per node
  size_t numUses = 0;                        // before the first change
  llvm::SmallSetVector<unsigned, 16> marked; // tensors
  std::vector<size_t> firstOfClasses;
  // The positions in the last program of the nodes, tensors and classes of
  // `program`, and the inverse maps.
  std::vector<unsigned> nodeAt, placeOfNode, tensorAt, placeOfTensor,
      nodeClassAt, newNodeClass, tensorClassAt;
  // The number of ops of the block, or of tensors, in each class.
  std::vector<unsigned> numOfNodeClass, numOfTensorClass;
};

/// Appends a class, and registers it in the node classes of its tensors.
void addTensorClass(Program &program, TensorClass &&added);

/// Reads the constraints of `ops`, or reports those that cannot be satisfied.
/// The ops must be in a function below `root` without tied values.
FailureOr<LayoutConstraints> readConstraints(Operation *root,
                                             ArrayRef<Operation *> ops);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_PROGRAMREADER_H
