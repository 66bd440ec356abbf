//===- Groups.h - Ops that are cut together ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the tensors of successive ops do not fit local memory, the ops are cut
// together: a part of all of them runs before the next part of any, so that
// what one makes for the next never leaves the cores. A group is an interval of
// the program's stages, the ops that compute and what moves elements between
// them. Its cut says in how many parts the batches, rows or channels of its
// results are made; what a part needs of everything else follows from the
// indexing maps, halos included.
//
// What a part sums over channels may be loaded in pieces, one after the other,
// so that neither an image nor weights need room as a whole.
//
//   conv 3x3, bias, relu, conv 3x3 on 1x64x56x56, rows in 2 parts
//     the last one   rows 0 .. 27, then 28 .. 55
//     relu, bias     rows 0 .. 28, then 27 .. 55
//     the first one  the same, of rows 0 .. 29 and 26 .. 55 of what is read
//
// Law: the parts of each result cover what others read of it, and no element of
// a part depends on another part; what two parts need is computed twice.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_GROUPS_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_GROUPS_H

#include "NarrowConstants.h"
#include "SplitForCores.h"
#include "layout/Analysis/CostModel.h"
#include "layout/Targets/NPU/NpuSeeds.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace mlir {
namespace layout {

/// A box of the elements of a tensor.
struct TensorBox {
  SmallVector<int64_t, 4> firsts, sizes;

  static TensorBox getWhole(RankedTensorType type);
  bool operator==(const TensorBox &other) const {
    return firsts == other.firsts && sizes == other.sizes;
  }
  bool operator!=(const TensorBox &other) const { return !(*this == other); }
  /// The least box that holds both.
  void join(const TensorBox &other);
  /// What is in both; nothing where that is none.
  std::optional<TensorBox> meet(const TensorBox &other) const;
};

/// The boxes of an op's operands that a box of its results depends on. Nothing
/// where it is not known, or empty.
struct Reads {
  SmallVector<std::pair<OpOperand *, TensorBox>, 4> boxes;
  /// The loops of the op that make the box.
  SmallVector<int64_t, 6> firsts, extents;
  int64_t countPoints() const;
};

/// Whether windows go over the tensor: each core reads whole channels of it.
bool liesUnderWindows(Value tensor);

/// The dims that a reshape splits or joins; nothing of other ops.
std::optional<SmallVector<ReassociationIndices>> getReshapedDims(Operation *op);

/// An op between two of which the program may be divided.
struct Stage {
  explicit Stage(Operation *op);

  Operation *op;
  /// Whether boxes of the op's results can be made by themselves.
  bool hasParts = false;
  /// Of a linalg op.
  SmallVector<AffineMap> maps;
  SmallVector<int64_t, 6> ranges;
  /// The widest loop over which a product of operands is summed, all of which
  /// it indexes alone.
  std::optional<unsigned> summed;

  std::optional<Reads> getReads(ArrayRef<TensorBox> results) const;
  /// Of these iterations.
  std::optional<Reads> getReadsOfLoops(ArrayRef<int64_t> firsts,
                                       ArrayRef<int64_t> extents) const;
  /// The dim of an operand that the loop `summed` indexes.
  std::optional<unsigned> findSummedDim(OpOperand &operand) const;

private:
  std::optional<Reads> getReadsOfBox(const TensorBox &result) const;
};

/// In how many parts the batches, rows and channels of results are made, and in
/// how many pieces each part sums what it loads.
struct Cut {
  int64_t batches = 1, rows = 1, channels = 1, sums = 1;
  /// Parts of rows begin at multiples of it.
  int64_t rowStep = 1;

  int64_t count() const { return batches * rows * channels; }
  bool isWhole() const { return count() == 1 && sums == 1; }
  /// N, C, H, W; of what has fewer dims, the last one is the channels.
  static int64_t getChannelDim(int64_t rank) {
    return rank == 4 ? 1 : rank - 1;
  }
  static int64_t getRowDim(int64_t rank) { return rank == 4 ? 2 : rank - 2; }
  /// The box of a part of the tensor; nothing where it has too few of them.
  std::optional<TensorBox> getPart(RankedTensorType type, int64_t part) const;
};

/// Those of a function.
struct Stages {
  explicit Stages(func::FuncOp function);

  std::vector<Stage> all;
  DenseMap<Operation *, unsigned> numbers;
  DenseMap<Value, unsigned> lastUses;

  /// The stage that makes a tensor.
  std::optional<unsigned> findMaker(Value tensor) const;
  /// The last stage that reads it, or the one that makes it.
  unsigned getLastUse(Value tensor) const;
  bool isReturned(Value tensor) const;
  /// The box of a tensor that the stages behind one read: of slices theirs.
  TensorBox getUsedBehind(Value tensor, unsigned stage) const;
};

/// What the stages from one on to the last one of a group make in each part.
/// Stages are added from the last one backward.
class GroupParts {
public:
  GroupParts(const Stages &stages, unsigned last, const Cut &cut)
      : stages(stages), first(last + 1), last(last), cut(cut) {}

  /// Adds the stage before the first one; false where it has no such parts.
  bool addStage();

  unsigned getFirst() const { return first; }
  unsigned getLast() const { return last; }
  const Cut &getCut() const { return cut; }
  /// Whether a stage of the group makes the tensor.
  bool isMadeHere(Value tensor) const;
  /// Whether stages behind the group, or nobody, need the tensor.
  bool isResult(Value tensor) const;
  /// The box of a result that the part makes for others; nothing where they
  /// need none of it.
  const std::optional<TensorBox> &getOwn(Value result, int64_t part) const {
    return own.find(result)->second[part];
  }
  const TensorBox &getBox(Value tensor, int64_t part) const {
    return boxes.find(tensor)->second[part];
  }
  /// Whether the tensor is summed with others that come from outside as it
  /// does: each part loads them in pieces, which need not be there at one time.
  bool isStreamed(Value tensor) const;
  /// Whether the stage only puts together what others read, and may do so
  /// behind the group: a concatenation that nobody in it reads, and slices of
  /// what is outside that are parts of one.
  bool isBehind(unsigned stage) const;
  /// In how many pieces a part of the stage sums.
  int64_t countPieces(unsigned stage) const;
  /// The iterations of all parts that some other part does, too.
  int64_t countRepeated() const { return repeated; }
  const Reads &getReadsOf(unsigned stage, int64_t part) const {
    return reads[last - stage][part];
  }

private:
  bool addOwn(Value result);
  bool addReads(const Stage &stage);

  const Stages &stages;
  unsigned first, last;
  Cut cut;
  int64_t repeated = 0;
  DenseMap<Value, SmallVector<TensorBox, 0>> boxes;              // of each part
  DenseMap<Value, SmallVector<std::optional<TensorBox>, 0>> own; // of results
  SmallVector<SmallVector<Reads, 0>> reads; // of each stage and part
};

/// A group as it was decided.
struct Group {
  unsigned first, last;
  Cut cut;
  bool keepsResults = false; // in local memory, for ops behind it
};

/// The bytes that a program moves to and from cores, as the search counts them.
struct Plan {
  SmallVector<Group> groups; // those that are cut, in order
  int64_t bytes = 0;
};

/// The groups of least cost that are cut; none where everything fits.
Plan findGroups(const Stages &stages, CostModel &costs, NpuTargetAttr target,
                NarrowConstants &narrow);

/// Writes the stages of a group part by part.
LogicalResult cutGroup(OpBuilder &builder, const Stages &stages,
                       const Group &group);

/// Slices of concatenations that are outside become slices of their parts, so
/// that the whole is in no memory.
void readPartsOfConcats(func::FuncOp function);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_GROUPS_H
