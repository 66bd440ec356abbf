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

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_FUSIONGROUPS_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_FUSIONGROUPS_H

#include "NarrowConstants.h"
#include "TileAndFuse.h"
#include "layout/Analysis/CostModel.h"
#include "layout/Targets/NPU/NpuSeeds.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace mlir::layout {

/// A box of the elements of a tensor.
struct TensorBox {
  SmallVector<int64_t, 4> firsts, sizes;

  static TensorBox getWhole(RankedTensorType type);
  bool operator==(const TensorBox &other) const {
    return firsts == other.firsts && sizes == other.sizes;
  }
  bool operator!=(const TensorBox &other) const { return !(*this == other); }
  /// Extends the box to the least box that contains both.
  void join(const TensorBox &other);
  /// Returns the intersection, or std::nullopt if it is empty.
  std::optional<TensorBox> meet(const TensorBox &other) const;
};

/// The boxes of an op's operands that a box of its results depends on. There
/// are none if a box is not known or empty.
struct Reads {
  SmallVector<std::pair<OpOperand *, TensorBox>, 4> boxes;
  /// The loop iterations that compute the box.
  SmallVector<int64_t, 6> firsts, extents;
  int64_t countPoints() const;
};

/// Returns true if `tensor` is read by windows: each core reads whole channels.
bool liesUnderWindows(Value tensor);

/// Returns the dims that a reshape splits or joins, or std::nullopt for other
/// ops.
std::optional<SmallVector<ReassociationIndices>> getReshapedDims(Operation *op);

/// An op before or after which the program may be divided.
struct Stage {
  explicit Stage(Operation *op);

  Operation *op;
  /// True if a box of the op's results can be computed separately.
  bool hasParts = false;
  /// The indexing maps and loop ranges of a linalg op.
  SmallVector<AffineMap> maps;
  SmallVector<int64_t, 6> ranges;
  /// The loop of greatest size over which a product of operands is summed, if
  /// each of these has a dim indexed by that loop alone.
  std::optional<unsigned> summed;

  std::optional<Reads> getReads(ArrayRef<TensorBox> results) const;
  /// Returns the boxes that the given iterations read.
  std::optional<Reads> getReadsOfLoops(ArrayRef<int64_t> firsts,
                                       ArrayRef<int64_t> extents) const;
  /// Returns the dim of `operand` that is indexed by loop `summed`.
  std::optional<unsigned> findSummedDim(OpOperand &operand) const;

private:
  std::optional<Reads> getReadsOfBox(const TensorBox &result) const;
};

/// The number of parts of batches, rows and channels of the results, and of
/// pieces in which each part loads what it sums.
struct Cut {
  int64_t batches = 1, rows = 1, channels = 1, sums = 1;
  /// The multiple at which parts of rows begin.
  int64_t rowStep = 1;

  int64_t count() const { return batches * rows * channels; }
  bool isWhole() const { return count() == 1 && sums == 1; }
  /// Dims are N, C, H, W; with fewer dims, channels are the last one.
  static int64_t getChannelDim(int64_t rank) {
    return rank == 4 ? 1 : rank - 1;
  }
  static int64_t getRowDim(int64_t rank) { return rank == 4 ? 2 : rank - 2; }
  /// Returns the box of one part, or std::nullopt if `type` is too small.
  std::optional<TensorBox> getPart(RankedTensorType type, int64_t part) const;
};

/// The stages of a function.
struct Stages {
  explicit Stages(func::FuncOp function);

  std::vector<Stage> all;
  DenseMap<Operation *, unsigned> numbers;
  DenseMap<Value, unsigned> lastUses;

  /// Returns the stage that defines `tensor`.
  std::optional<unsigned> findMaker(Value tensor) const;
  /// Returns the last stage that reads `tensor`, or else the one defining it.
  unsigned getLastUse(Value tensor) const;
  bool isReturned(Value tensor) const;
  /// Returns the box that later stages read, by their slices if all are slices.
  TensorBox getUsedBehind(Value tensor, unsigned stage) const;
};

/// The boxes that the stages of a group compute in each part. Stages are added
/// from the last one backward.
class GroupParts {
public:
  GroupParts(const Stages &stages, unsigned last, const Cut &cut)
      : stages(stages), first(last + 1), last(last), cut(cut) {}

  /// Adds the stage before the first one. Returns false if that is impossible.
  bool addStage();

  unsigned getFirst() const { return first; }
  unsigned getLast() const { return last; }
  const Cut &getCut() const { return cut; }
  /// Returns true if a stage of the group defines `tensor`.
  bool isMadeHere(Value tensor) const;
  /// Returns true if `tensor` is returned or read after the group.
  bool isResult(Value tensor) const;
  /// Returns the box of a result that the part computes for ops after the
  /// group, or std::nullopt if it is empty.
  const std::optional<TensorBox> &getOwn(Value result, int64_t part) const {
    return own.find(result)->second[part];
  }
  const TensorBox &getBox(Value tensor, int64_t part) const {
    return boxes.find(tensor)->second[part];
  }
  /// Returns true if `tensor` comes from outside and is summed in pieces, which
  /// need not be in local memory at the same time.
  bool isStreamed(Value tensor) const;
  /// Returns true if the stage may run after the group: a concatenation that
  /// has no reader in the group, or a slice of an outside tensor that is a part
  /// of one.
  bool isBehind(unsigned stage) const;
  /// Returns the number of pieces that a part of the stage sums.
  int64_t countPieces(unsigned stage) const;
  /// Returns the number of redundant iterations of all parts.
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

/// A group that the search has chosen.
struct FusionGroup {
  unsigned first, last;
  Cut cut;
  bool keepsResults = false; // in local memory, for later ops
};

/// The groups of a program, and the bytes that it moves to and from cores.
struct Plan {
  SmallVector<FusionGroup> groups; // in program order
  int64_t bytes = 0;
};

/// Returns the groups with the least cost, or an empty list if everything fits.
Plan findFusionGroups(const Stages &stages, CostModel &costs,
                      NpuTargetAttr target, NarrowConstants &narrow);

/// Emits the stages of a group part by part.
LogicalResult tileFusionGroup(OpBuilder &builder, const Stages &stages,
                              const FusionGroup &group);

/// Replaces slices of concatenations that are in system memory by slices of
/// their parts, so that the whole is not stored.
void readPartsOfConcats(func::FuncOp function);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_FUSIONGROUPS_H
