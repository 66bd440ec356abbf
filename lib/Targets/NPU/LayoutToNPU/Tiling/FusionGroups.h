//===- FusionGroups.h - Ops that are tiled and fused together ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the tensors of successive ops do not fit local memory, the ops are tiled
// together: a part of all ops runs before the next part of any, so that
// intermediate tensors never leave the cores. A group is an interval of the
// program's stages, which are the ops that compute and those that move elements
// between them. Its cut is the number of parts of the batches, rows or channels
// of its results. The indexing maps tell what a part reads, halos included.
//
// If a part sums over channels, they may be loaded in successive pieces, so
// that neither the image nor the weights must fit as a whole.
//
//   conv 3x3, bias, relu, conv 3x3 on 1x64x56x56, rows in 2 parts
//     last conv      rows 0 .. 27, then 28 .. 55
//     relu, bias     rows 0 .. 28, then 27 .. 55
//     first conv     the same rows, from rows 0 .. 29 and 26 .. 55 of its input
//
// Law: the parts of a result cover all elements that other ops read, and parts
// are independent; elements that two parts need are computed twice.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_FUSIONGROUPS_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_FUSIONGROUPS_H

#include "Numbers/NarrowConstants.h"
#include "Tiling/TileAndFuse.h"
#include "layout/Analysis/CostModel.h"
#include "layout/Targets/NPU/NpuSeeds.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace mlir::layout {

/// A box of a tensor: the first index and the number of indices of each dim.
struct TensorBox {
  SmallVector<int64_t, 4> firsts, sizes;

  static TensorBox getWhole(RankedTensorType type);
  bool operator==(const TensorBox &other) const {
    return firsts == other.firsts && sizes == other.sizes;
  }
  bool operator!=(const TensorBox &other) const { return !(*this == other); }
  /// Extends this box to the smallest one that contains it and `other`.
  void join(const TensorBox &other);
  /// Returns the intersection with `other`, or std::nullopt if it is empty.
  std::optional<TensorBox> meet(const TensorBox &other) const;
};

/// The boxes of an op's operands that are read to compute a box of its results.
struct Reads {
  SmallVector<std::pair<OpOperand *, TensorBox>, 4> boxes;
  /// The first iteration and the number of iterations of each loop of the op
  /// that compute the box of the results; for ops without loops, that box.
  SmallVector<int64_t, 6> firsts, extents;
  int64_t countPoints() const;
};

/// Returns true if a pool or convolution reads `tensor` by windows. Each of its
/// channels is then whole in one core: no other dim is spread over the cores.
bool liesUnderWindows(Value tensor);

/// Returns the dims that a reshape splits or joins, or std::nullopt for other
/// ops.
std::optional<SmallVector<ReassociationIndices>> getReshapedDims(Operation *op);

/// An op of the program that computes or moves tensors, other than a constant
/// or a fill. A fusion group is a sequence of consecutive stages that are tiled
/// together.
struct FusionStage {
  explicit FusionStage(Operation *op);

  Operation *op;
  /// True if a box of the op's results can be computed without the other
  /// elements.
  bool hasParts = false;
  /// The indexing maps and loop ranges of a linalg op that has parts; empty for
  /// other ops.
  SmallVector<AffineMap> maps;
  SmallVector<int64_t, 6> ranges;
  /// The number of the reduction loop with the most iterations that is, by
  /// itself, the index of a dim of every input, as the k of a matmul. Not set
  /// if there is none or only one input.
  std::optional<unsigned> summed;

  /// Returns the boxes of the operands that are read to compute the boxes
  /// `results`, one per result, or std::nullopt if one is not known or empty.
  std::optional<Reads> getReads(ArrayRef<TensorBox> results) const;
  /// Returns the boxes of the operands of a linalg op that `extents` iterations
  /// of its loops from `firsts` on read, or std::nullopt if an index is not
  /// known.
  std::optional<Reads> getReadsOfLoops(ArrayRef<int64_t> firsts,
                                       ArrayRef<int64_t> extents) const;
  /// Returns the dim of `operand` that the reduction loop `summed` alone
  /// indexes, or std::nullopt if there is none. Requires that `summed` is set.
  std::optional<unsigned> findSummedDim(OpOperand &operand) const;

private:
  std::optional<Reads> getReadsOfBox(const TensorBox &result) const;
};

/// The numbers of parts that the batches, rows and channels of the results of a
/// fusion group are divided into. Each part loads inputs in `sums` pieces along
/// the loop that is summed over.
struct Cut {
  int64_t batches = 1, rows = 1, channels = 1, sums = 1;
  /// Parts along the rows begin at a multiple of this number, the row stride of
  /// a tensor.insert_slice, so that parts of equal size read equally many rows
  /// of the inserted tensor.
  int64_t rowStep = 1;

  int64_t count() const { return batches * rows * channels; }
  bool isWhole() const { return count() == 1 && sums == 1; }
  /// Returns the dim whose indices are the channels: 1 of 4 dims (N, C, H, W),
  /// or else the last one.
  static int64_t getChannelDim(int64_t rank) {
    return rank == 4 ? 1 : rank - 1;
  }
  static int64_t getRowDim(int64_t rank) { return rank == 4 ? 2 : rank - 2; }
  /// Returns the box of part number `part` of a tensor. Returns std::nullopt if
  /// a dim that is divided does not exist or is too small: it needs as many
  /// indices as parts, rows `rowStep` times as many.
  std::optional<TensorBox> getPart(RankedTensorType type, int64_t part) const;
};

/// The stages of a function, in program order.
struct Stages {
  explicit Stages(func::FuncOp function);

  std::vector<FusionStage> all;
  DenseMap<Operation *, unsigned> numbers;
  DenseMap<Value, unsigned> lastUses;

  /// Returns the number of the stage that defines `tensor`, or std::nullopt if
  /// no stage does, e.g. for an argument, a constant or a fill.
  std::optional<unsigned> findMaker(Value tensor) const;
  /// Returns the number of the last stage that reads `tensor`, or of the one
  /// that defines it if none does, or 0 if there is neither.
  unsigned getLastUse(Value tensor) const;
  bool isReturned(Value tensor) const;
  /// Returns the smallest box of `tensor` with all elements that ops after
  /// stage number `stage` read, if these ops are slices with known bounds.
  /// Returns the whole tensor if another op is among them, or if there are
  /// none.
  TensorBox getUsedBehind(Value tensor, unsigned stage) const;
};

/// Returns the row stride of the last tensor.insert_slice if only
/// concatenations and elementwise ops up to stage `last` follow it, or else 1.
int64_t getRowStep(const Stages &stages, unsigned last);

/// Returns the cuts into at most 128 parts, per kind: batches, rows in steps of
/// `rowStep`, channels, rows of each batch; with `hasSums`, inputs in pieces.
SmallVector<SmallVector<Cut>> getCuts(RankedTensorType type, int64_t rowStep,
                                      bool hasSums);

/// The boxes that the stages of a fusion group compute in each part. Stages are
/// added from the last one backward, because readers determine them.
class GroupParts {
public:
  GroupParts(const Stages &stages, unsigned last, const Cut &cut)
      : stages(stages), first(last + 1), last(last), cut(cut) {}

  /// Adds the stage before the first one of the group. Returns false if there
  /// is none, or if it cannot be computed in parts; do not add more stages
  /// then.
  bool addStage();

  unsigned getFirst() const { return first; }
  unsigned getLast() const { return last; }
  const Cut &getCut() const { return cut; }
  /// Returns true if a stage of the group defines `tensor`.
  bool isMadeHere(Value tensor) const;
  /// Returns true if `tensor` is returned or read after the group.
  bool isResult(Value tensor) const;
  /// Returns the box of a result of the group that part number `part` provides
  /// for ops after the group, or std::nullopt if these read no element of the
  /// part.
  const std::optional<TensorBox> &getOwn(Value result, int64_t part) const {
    return own.find(result)->second[part];
  }
  const TensorBox &getBox(Value tensor, int64_t part) const {
    return boxes.find(tensor)->second[part];
  }
  /// Returns true if `tensor` is from outside of the group and is not fresh
  /// (isFresh). All its readers in the group must sum over one of its dims, in
  /// several pieces, and read no tensor of the group. Only one piece is then in
  /// local memory at a time.
  bool isStreamed(Value tensor) const;
  /// Returns true if the stage may run once after all parts of the group: a
  /// tensor.concat that only later ops read, all of it, and whose operands from
  /// the group no later op reads. Also for a tensor.extract_slice from a tensor
  /// outside of the group, if only such concatenations read the slice.
  bool isBehind(unsigned stage) const;
  /// Returns the number of pieces into which each part divides the reduction
  /// loop of a stage, or 1 if the stage loads no input in pieces.
  int64_t countPieces(unsigned stage) const;
  /// Returns how many loop iterations of a stage all parts together run beyond
  /// those of the undivided op, because several parts run the same ones, e.g.
  /// for halos. The number is negative if parts leave out iterations.
  int64_t countRepeated(unsigned stage) const;
  const Reads &getReadsOf(unsigned stage, int64_t part) const {
    return reads[last - stage][part];
  }

private:
  bool addOwn(Value result);
  bool addReads(const FusionStage &stage);

  const Stages &stages;
  unsigned first, last;
  Cut cut;
  DenseMap<Value, SmallVector<TensorBox, 0>> boxes;              // of each part
  DenseMap<Value, SmallVector<std::optional<TensorBox>, 0>> own; // see getOwn
  SmallVector<SmallVector<Reads, 0>> reads; // per stage (last first), part
};

/// A group of stages that the search has chosen to tile: the numbers of its
/// `first` and `last` stage, the last one included, and the cut into parts.
struct FusionGroup {
  unsigned first, last;
  Cut cut;
  bool keepsResults = false; // results stay in local memory for later ops
};

/// The fusion groups of a program, and the bytes that all its ops, in groups or
/// not, move between system memory and the cores.
struct Plan {
  SmallVector<FusionGroup> groups; // in program order
  int64_t bytes = 0;
};

/// Returns the plan of least cost that the search finds. Its list of groups is
/// empty if all tensors fit local memory without groups, or if no group lowers
/// the cost.
Plan findFusionGroups(const Stages &stages, CostModel &costs,
                      NpuTargetAttr target, NarrowConstants &narrow);

/// Replaces the ops of a group by ops on its parts: all ops of one part before
/// those of the next. Fails if an op cannot be sliced.
LogicalResult tileFusionGroup(OpBuilder &builder, const Stages &stages,
                              const FusionGroup &group);

/// Replaces slices of a tensor.concat that the tiling of a group has placed
/// after all its parts by slices of the operands of the concatenation, so that
/// its result is not stored. Only concatenations whose users all are static
/// slices of stride 1 are replaced.
void readPartsOfConcats(func::FuncOp function);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_FUSIONGROUPS_H
