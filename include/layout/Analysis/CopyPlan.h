//===- CopyPlan.h - Copies between layouts over common digits ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes how elements are copied from one storage to another. Each storage
// splits indices into mixed-radix digits. The plan has the common refinement of
// both lists of digits, and the boxes of digits that are copied in sequence.
// Conversions are priced by this plan and lowered from it.
//
//   1x61x7x7 from row-major to NCHW16c, padding zero
//     digits   d0:1 d1/16:4 d2:7 d3:7 d1%16:16
//     from     [d0] [d1/16 d1%16] [d2] [d3]      needs 64 of its 61 channels
//     to       [d0] [d1/16] [d2] [d3] [d1%16]
//     boxes    d1/16 in 0..3                     whole tiles
//              d1/16 in 3..4, d1%16 in 0..13     the remainder
//     fills    d1/16 in 3..4, d1%16 in 13..16
//
// Laws:
//  * the boxes cover every logical index exactly once. Padding is in no box
//    unless it is copied on purpose;
//  * boxes and fills together are all positions of the result whose value its
//    type states;
//  * in every box each stored axis is one range, so a box is a slice of either
//    storage.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_COPYPLAN_H
#define LAYOUT_ANALYSIS_COPYPLAN_H

#include "layout/Interfaces/IterationSpace.h"

namespace mlir::layout {

/// The maximum number of CopyPlan::boxes, and of CopyPlan::fills. Each box is a
/// loop nest. A copy that needs more boxes or fills has one box, which contains
/// all values of all digits (CopyPlan::Method::Whole).
constexpr size_t kMaxCopyBoxes = 8;

/// A range of positions of one digit.
struct DigitRange {
  int64_t offset = 0;
  /// The number of positions, or std::nullopt for all positions of the digit.
  std::optional<int64_t> size;
  bool isWhole() const { return !size; }
};

/// A box of digits: a range of positions of each digit.
using DigitBox = SmallVector<DigitRange, 6>;

struct CopyPlan {
  enum class Method {
    /// Copies box by box, one loop nest per box, each element once.
    Boxes,
    /// Copies one box that contains all values of all digits, and selects the
    /// padding value of `maskedDims` during the copy. A source with fewer
    /// positions is first padded to whole digits, and a result with fewer is
    /// cut at the end. Used if both sides have all positions and share
    /// contiguous segments, where selecting is cheaper than filling. Also used
    /// if `Boxes` is impossible: e.g. there would be more than kMaxCopyBoxes
    /// boxes, a dim that has to be split is dynamic, or an axis mixes dims.
    Whole,
  };

  Method method = Method::Boxes;
  /// The digits that source (operand 0) and result (operand 1) have in common.
  IterationSpace space;
  SmallVector<DigitBox> boxes;
  /// The boxes of padding of the result that are filled with the padding value
  /// that its type states.
  SmallVector<DigitBox> fills;
  /// True if the whole storage of the result is filled first, because the
  /// digits do not reach all of its padding.
  bool prefills = false;
  /// With Method::Whole, the dims beyond whose size the copy writes the padding
  /// value that the result type states, instead of what it reads.
  SmallVector<unsigned> maskedDims;

  /// Returns the number of elements that the copy reads, or writes, if the dims
  /// have these sizes.
  int64_t getNumRead(ArrayRef<int64_t> sizes) const;
  int64_t getNumWritten(ArrayRef<int64_t> sizes) const;
  /// Returns the number of elements of a segment that is contiguous in the
  /// source and in the result.
  int64_t getCommonRun(ArrayRef<int64_t> sizes) const;

  /// Prints digits, stored axes, fills and boxes on one line, e.g. `digits d0:1
  /// d1/16:2 ..; fill d1/16=1..2 d1%16=1..16; copy d1/16=0..1; ..`.
  void print(raw_ostream &os) const;
};

/// A dim of the array that a box is sliced from: a stored axis, or one digit of
/// an axis that is split into its digits. `axis` is the number of the axis in
/// either case.
struct DigitSlot {
  unsigned axis;
  /// The digits that the axis fuses, most significant first, or one digit of a
  /// split axis. Empty if the position is another expression.
  SmallVector<unsigned> digits;
};

/// Returns the stored axes of an operand. An axis whose positions are exactly
/// all values of its digits is replaced by these digits.
SmallVector<DigitSlot> getSlots(const IterationSpace &space, unsigned operand);

/// Returns the range that a box covers of an axis that fuses `digits` in
/// row-major order. Returns std::nullopt if the positions are not contiguous,
/// or if there are several digits and one has a dynamic extent.
std::optional<DigitRange> getRange(const IterationSpace &space,
                                   ArrayRef<unsigned> digits,
                                   const DigitBox &box);

/// Caches the stored axes of tensor types, so that many copies are planned
/// faster.
class AxesCache {
public:
  /// Returns the stored axes of `type`, or nullptr if it is not in linear
  /// memory or has replicas.
  const std::vector<StoredAxis> *find(RankedTensorType type);

private:
  // Allocated separately, so that pointers stay valid.
  llvm::DenseMap<Type, std::unique_ptr<std::vector<StoredAxis>>> known;
};

/// Plans the copy between two types of one shape. Fails with a reason if they
/// have no common digits, or if a source or result would have to be padded to
/// whole digits but its elements have no value to pad with.
FailureOr<CopyPlan> planCopy(RankedTensorType from, RankedTensorType to,
                             FailureReason refuse = {},
                             AxesCache *cache = nullptr);

/// Plans the fills that write the padding value that `type` states. Returns
/// std::nullopt if it states none or has no padding, or if the padding is not a
/// union of at most kMaxCopyBoxes boxes of static sizes.
std::optional<CopyPlan> planPaddingFills(RankedTensorType type);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_COPYPLAN_H
