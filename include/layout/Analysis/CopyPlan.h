//===- CopyPlan.h - A copy between layouts over common digits ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How elements go from one storage to another: the common refinement of the two
// lists of digits, and the boxes of digits that are copied one after another.
// This is what a conversion is priced by and what it is lowered from.
//
//   1x61x7x7 from row-major to NCHW16c, padding zero
//     digits   d0:1 d1/16:4 d2:7 d3:7 d1%16:16
//     from     [d0] [d1/16 d1%16] [d2] [d3]      needs 64 of its 61 channels
//     to       [d0] [d1/16] [d2] [d3] [d1%16]
//     boxes    d1/16 in 0..3                     whole tiles
//              d1/16 in 3..4, d1%16 in 0..13     the rest
//     fills    d1/16 in 3..4, d1%16 in 13..16
//
// Laws:
//  * the boxes cover every logical index exactly once, and no index twice;
//    padding is in no box unless it is copied along on purpose;
//  * boxes and fills together are every position of the result whose value its
//    type states;
//  * in every box each stored axis is one range, so a box is a slice of either
//    storage.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_COPYPLAN_H
#define LAYOUT_ANALYSIS_COPYPLAN_H

#include "layout/Interfaces/IterationSpace.h"

namespace mlir {
namespace layout {

/// More boxes than that are more loops than a copy is worth.
constexpr size_t kMaxCopyBoxes = 8;

/// Positions of one digit.
struct DigitRange {
  int64_t offset = 0;
  /// All that the digit has, where there is none.
  std::optional<int64_t> size;
  bool isWhole() const { return !size; }
};

/// One range for every digit.
using DigitBox = SmallVector<DigitRange, 6>;

struct CopyPlan {
  enum class Way {
    /// Box by box, each element once.
    Boxes,
    /// All digits at once, padding being selected on the way where both sides
    /// have its positions next to each other; else the source is padded to
    /// whole digits and the result cut: where an axis mixes dims so that no
    /// slice of it is a box.
    Whole,
  };

  Way way = Way::Boxes;
  /// Operand 0 is read, operand 1 is written.
  IterationSpace space;
  SmallVector<DigitBox> boxes;
  /// Padding of the result that is written.
  SmallVector<DigitBox> fills;
  /// All storage of the result is filled before, as the digits do not reach all
  /// of its padding.
  bool prefills = false;
  /// Of Way::Whole: the dims past whose size the stated padding is selected.
  SmallVector<unsigned> maskedDims;

  /// Elements that are read and written on tensors of these sizes.
  int64_t getNumRead(ArrayRef<int64_t> sizes) const;
  int64_t getNumWritten(ArrayRef<int64_t> sizes) const;
  /// Elements that are neighbors on both sides.
  int64_t getCommonRun(ArrayRef<int64_t> sizes) const;

  /// Digits, boxes and fills as in the file comment, on one line.
  void print(raw_ostream &os) const;
};

/// One stored axis, or one digit of it, as a box sees it.
struct DigitSlot {
  unsigned axis;
  /// Most significant first; empty where the position is an expression.
  SmallVector<unsigned> digits;
};

/// The axes of an operand, with those that are fused of whole digits expanded.
SmallVector<DigitSlot> getSlots(const IterationSpace &space, unsigned operand);

/// The range of `digits`, fused row-major, that a box takes; nothing where it
/// is not one range.
std::optional<DigitRange> getRange(const IterationSpace &space,
                                   ArrayRef<unsigned> digits,
                                   const DigitBox &box);

/// The axes of types that many copies are planned between.
class AxesCache {
public:
  /// Null where the type has no layout in linear memory.
  const std::vector<StoredAxis> *find(RankedTensorType type);

private:
  // Boxed, so that they stay where they are.
  llvm::DenseMap<Type, std::unique_ptr<std::vector<StoredAxis>>> known;
};

/// The copy between two types of one shape. Refused where something stands
/// against common digits.
FailureOr<CopyPlan> planCopy(RankedTensorType from, RankedTensorType to,
                             Refusal refuse = {}, AxesCache *cache = nullptr);

/// The fills that give storage the padding that `type` states; nothing where
/// its padding is no union of boxes.
std::optional<CopyPlan> planPaddingFills(RankedTensorType type);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_COPYPLAN_H
