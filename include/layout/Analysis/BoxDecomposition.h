//===- BoxDecomposition.h - Boxes of digits and their sizes -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a copy over common mixed-radix digits into boxes, and counts elements
// of the boxes, for every kind of size (CommonRefinement.h): CopyPlan uses size
// expressions, the CPU model uses integers. A Copy has the members of CopyPlan.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_BOXDECOMPOSITION_H
#define LAYOUT_ANALYSIS_BOXDECOMPOSITION_H

#include "layout/Analysis/CopyPlan.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::layout {

template <typename Access> bool isExact(const Access &axis) {
  return !axis.digits.empty() && axis.required == axis.extent;
}

/// Returns the range that a box covers of an axis that fuses `digits` in
/// row-major order, or std::nullopt if the positions are not contiguous, or if
/// an extent is dynamic.
template <typename Space>
std::optional<DigitRange>
getRangeOf(const Space &space, ArrayRef<unsigned> digits, const DigitBox &box) {
  if (digits.size() == 1)
    return box[digits.front()];
  // The positions are contiguous if the most significant digits have single
  // positions, the next one a range, and all others are whole.
  DigitRange range{0, 1};
  bool isRange = false;
  for (unsigned digit : digits) {
    std::optional<int64_t> extent = space.digits[digit].extent.getConstant();
    if (!extent)
      return std::nullopt;
    int64_t size = box[digit].size.value_or(*extent);
    if (isRange && size != *extent)
      return std::nullopt;
    isRange |= size != 1;
    range.offset = range.offset * *extent + box[digit].offset;
    range.size = *range.size * size;
  }
  return range;
}

/// Covers the indices from `lo` to `hi` (exclusive) of one dim by boxes of its
/// digits, in ascending order. The boxes contain all values of the digits of
/// other dims.
template <typename Space> class RangeCover {
public:
  RangeCover(const Space &space, unsigned dim)
      : space(space), digits(space.digitsOf[dim]), box(space.digits.size()) {}

  SmallVector<DigitBox> run(int64_t lo, int64_t hi) {
    cover(lo, hi, 0);
    return std::move(boxes);
  }

private:
  void cover(int64_t lo, int64_t hi, size_t level) {
    if (lo >= hi)
      return;
    unsigned digit = digits[level];
    int64_t weight = space.digits[digit].weight;
    auto add = [&](int64_t first, int64_t last) {
      if (first >= last)
        return;
      box[digit] = {first, last - first};
      boxes.push_back(box);
      box[digit] = {};
    };
    auto descend = [&](int64_t at, int64_t from, int64_t to) {
      box[digit] = {at, 1};
      cover(from, to, level + 1);
      box[digit] = {};
    };
    int64_t first = lo / weight, last = hi / weight;
    int64_t head = lo % weight, tail = hi % weight;
    if (head != 0 && first == last)
      return descend(first, head, tail);
    if (head != 0)
      descend(first++, head, weight);
    add(first, last);
    if (tail != 0)
      descend(last, 0, tail);
  }

  const Space &space;
  ArrayRef<unsigned> digits;
  DigitBox box;
  SmallVector<DigitBox> boxes;
};

template <typename Space>
SmallVector<DigitBox> coverRange(const Space &space, unsigned dim, int64_t lo,
                                 int64_t hi) {
  return RangeCover<Space>(space, dim).run(lo, hi);
}

/// Intersects each box of `a` with each box of `b`. A digit that a box of `b`
/// restricts is whole in the boxes of `a`.
inline SmallVector<DigitBox> combine(ArrayRef<DigitBox> a,
                                     ArrayRef<DigitBox> b) {
  SmallVector<DigitBox> boxes;
  for (const DigitBox &outer : a)
    for (const DigitBox &inner : b) {
      DigitBox &box = boxes.emplace_back(outer);
      for (auto [to, from] : llvm::zip(box, inner))
        if (!from.isWhole())
          to = from;
    }
  return boxes;
}

/// Plans which boxes of digits a copy moves, and which boxes of padding it
/// fills. Requires that `copy.space` has the digits that source and result have
/// in common.
template <typename Copy> class BoxPlanner {
protected:
  explicit BoxPlanner(Copy copy) : copy(std::move(copy)) {}

  bool isCutOrPadded(unsigned dim) const;
  std::optional<int64_t> getStoredRange(unsigned dim) const;
  bool makeBoxes(const llvm::SmallBitVector &nonDivisible,
                 ArrayRef<int64_t> shape, bool writesFills);
  bool addFills(unsigned dim, ArrayRef<int64_t> shape,
                const llvm::SmallBitVector &nonDivisible = {});
  bool areSlices(ArrayRef<DigitBox> boxes) const;
  bool hasLoneDigits() const;
  void goWhole();

  Copy copy;
};

/// Returns true unless each stored axis of the source and the result with
/// digits of `dim` provably has as many positions as these digits reach. With
/// fewer, a copy of all digits first pads the source or finally cuts the
/// result.
template <typename Copy>
bool BoxPlanner<Copy>::isCutOrPadded(unsigned dim) const {
  bool found = false;
  for (auto &axes : copy.space.operands)
    for (const auto &axis : axes)
      if (axis.required != axis.extent &&
          !axis.extent.isProvablyAtLeast(axis.required))
        axis.value.walkDims([&](unsigned digit) {
          found |= copy.space.digits[digit].loop == dim;
        });
  return found;
}

/// Returns the number of indices of `dim` that the result stores, padding
/// included, or std::nullopt if it is dynamic or cannot be determined.
template <typename Copy>
std::optional<int64_t> BoxPlanner<Copy>::getStoredRange(unsigned dim) const {
  ArrayRef<unsigned> digits = copy.space.digitsOf[dim];
  std::optional<int64_t> outermost =
      copy.space.digits[digits.front()].extent.getConstant();
  if (!outermost)
    return std::nullopt;
  int64_t range = *outermost * copy.space.digits[digits.front()].weight;
  for (const auto &axis : copy.space.operands[1]) {
    bool hasDim = llvm::any_of(axis.digits, [&](unsigned digit) {
      return copy.space.digits[digit].loop == dim;
    });
    if (!hasDim || isExact(axis))
      continue;
    // Only the most significant digits of the dim, and no others, can be cut.
    std::optional<int64_t> extent = axis.extent.getConstant();
    if (!extent || axis.digits.size() > digits.size() ||
        ArrayRef<unsigned>(axis.digits) !=
            digits.take_front(axis.digits.size()))
      return std::nullopt;
    range =
        std::min(range, *extent * copy.space.digits[axis.digits.back()].weight);
  }
  return range;
}

/// Returns true if every box covers one contiguous range of each stored axis of
/// the source and the result.
template <typename Copy>
bool BoxPlanner<Copy>::areSlices(ArrayRef<DigitBox> boxes) const {
  for (const auto &axes : copy.space.operands)
    for (const auto &axis : axes)
      for (const DigitBox &box : boxes)
        if (axis.digits.size() > 1 && !isExact(axis) &&
            !getRangeOf(copy.space, axis.digits, box))
          return false;
  return true;
}

/// Returns true if each digit belongs to a stored axis, of the source or the
/// result, that has no other digit or whose positions are exactly all values of
/// its digits. Then shapes determine the bounds of all loops.
template <typename Copy> bool BoxPlanner<Copy>::hasLoneDigits() const {
  llvm::SmallBitVector alone(copy.space.digits.size());
  for (const auto &axes : copy.space.operands)
    for (const auto &axis : axes)
      if (axis.digits.size() == 1 || isExact(axis))
        for (unsigned digit : axis.digits)
          alone.set(digit);
  return alone.all();
}

/// Covers all logical indices by boxes, split along the `nonDivisible` dims,
/// whose indices do not fill all positions. With `writesFills`, also plans the
/// boxes of padding to fill. Returns false if one of these dims is dynamic, if
/// there are more than kMaxCopyBoxes boxes, if a box is not a slice of both
/// storages, or if shapes do not determine all loop bounds.
template <typename Copy>
bool BoxPlanner<Copy>::makeBoxes(const llvm::SmallBitVector &nonDivisible,
                                 ArrayRef<int64_t> shape, bool writesFills) {
  copy.boxes.assign(1, DigitBox(copy.space.digits.size()));
  for (unsigned dim : nonDivisible.set_bits()) {
    int64_t size = shape[dim];
    if (ShapedType::isDynamic(size))
      return false;
    copy.boxes = combine(copy.boxes, coverRange(copy.space, dim, 0, size));
    if (copy.boxes.size() > kMaxCopyBoxes)
      return false;
  }
  if (writesFills)
    for (unsigned dim : nonDivisible.set_bits())
      if (!addFills(dim, shape, nonDivisible))
        return false;
  return hasLoneDigits() && areSlices(copy.boxes) && areSlices(copy.fills);
}

/// Plans the boxes of padding beyond the size of `dim`. If `dim` has the
/// fastest digit of the result, they are split along the other `nonDivisible`
/// dims like the boxes of elements, so that each box is followed by its
/// padding. Returns false if sizes are dynamic, if it is unknown how many
/// indices the result stores, or if there are more than kMaxCopyBoxes boxes.
template <typename Copy>
bool BoxPlanner<Copy>::addFills(unsigned dim, ArrayRef<int64_t> shape,
                                const llvm::SmallBitVector &nonDivisible) {
  std::optional<int64_t> stored = getStoredRange(dim);
  if (!stored || ShapedType::isDynamic(shape[dim]))
    return false;
  SmallVector<DigitBox> fills =
      coverRange(copy.space, dim, shape[dim], *stored);
  ArrayRef<unsigned> fastest = copy.space.operands[1].back().digits;
  bool isFastest =
      !fastest.empty() && copy.space.digits[fastest.back()].loop == dim;
  for (auto [other, isPadded] : llvm::enumerate(copy.space.isPadded)) {
    if (other == dim || !isPadded)
      continue;
    if (isFastest && other < nonDivisible.size() && nonDivisible[other]) {
      fills = combine(fills, coverRange(copy.space, other, 0, shape[other]));
      continue;
    }
    // Digits of other dims may exceed the storage of the result.
    if (!isCutOrPadded(other))
      continue;
    std::optional<int64_t> range = getStoredRange(other);
    if (!range)
      return false;
    fills = combine(fills, coverRange(copy.space, other, 0, *range));
  }
  llvm::append_range(copy.fills, fills);
  return copy.fills.size() <= kMaxCopyBoxes;
}

/// Switches to CopyPlan::Method::Whole: replaces all boxes by one that contains
/// all values of all digits, and drops the fills.
template <typename Copy> void BoxPlanner<Copy>::goWhole() {
  copy.method = CopyPlan::Method::Whole;
  copy.fills.clear();
  copy.boxes.assign(1, DigitBox(copy.space.digits.size()));
}

inline int64_t saturate(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

inline int64_t addUp(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? INT64_MAX : sum;
}

template <typename Space>
int64_t getNumElements(const Space &space, const DigitBox &box,
                       ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  for (auto [digit, range] : llvm::zip(space.digits, box))
    elements = saturate(elements,
                        range.size ? *range.size
                                   : digit.extent.evaluate(sizes).value_or(1));
  return elements;
}

template <typename Space>
int64_t sumElements(const Space &space, ArrayRef<DigitBox> boxes,
                    ArrayRef<int64_t> sizes) {
  int64_t sum = 0;
  for (const DigitBox &box : boxes)
    sum = addUp(sum, getNumElements(space, box, sizes));
  return sum;
}

template <typename Axes>
int64_t getStored(const Axes &axes, ArrayRef<int64_t> sizes) {
  int64_t elements = 1;
  for (const auto &axis : axes)
    elements = saturate(elements, axis.extent.evaluate(sizes).value_or(1));
  return elements;
}

/// Returns true if a copy of all digits at once (CopyPlan::Method::Whole) moves
/// all elements of operand `k` once more: the source (0) is first padded to
/// whole digits, or the result (1) is cut at the end.
template <typename Copy> bool isMovedToFit(const Copy &copy, unsigned k) {
  return copy.method == CopyPlan::Method::Whole &&
         llvm::any_of(copy.space.operands[k], [](const auto &axis) {
           return axis.required != axis.extent &&
                  axis.required.isProvablyAtLeast(axis.extent);
         });
}

/// Returns the number of elements that a copy reads: those of its boxes, those
/// of a source that is first padded to whole digits, and those of a result that
/// is cut at the end.
template <typename Copy>
int64_t countRead(const Copy &copy, ArrayRef<int64_t> sizes) {
  int64_t read = sumElements(copy.space, copy.boxes, sizes);
  for (unsigned k : {0u, 1u})
    if (isMovedToFit(copy, k))
      read = addUp(read, getStored(copy.space.operands[k], sizes));
  return read;
}

template <typename Copy>
int64_t countWritten(const Copy &copy, ArrayRef<int64_t> sizes) {
  int64_t written =
      addUp(countRead(copy, sizes), sumElements(copy.space, copy.fills, sizes));
  if (copy.prefills && !copy.space.operands.empty())
    written = addUp(written, getStored(copy.space.operands[1], sizes));
  return written;
}

template <typename Space>
int64_t countCommonRun(const Space &space, ArrayRef<int64_t> sizes) {
  // Collects the digits with more than one position, fastest first, up to the
  // first axis that ends before its digits do.
  auto walk = [&](unsigned k) {
    SmallVector<unsigned, 12> digits;
    for (const auto &axis : llvm::reverse(space.operands[k])) {
      for (unsigned digit : llvm::reverse(axis.digits))
        if (space.digits[digit].extent.evaluate(sizes).value_or(2) != 1)
          digits.push_back(digit);
      if (!isExact(axis))
        break;
    }
    return digits;
  };
  int64_t run = 1;
  if (space.operands.empty())
    return run;
  for (auto [a, b] : llvm::zip(walk(0), walk(1))) {
    if (a != b)
      break;
    run = saturate(run, space.digits[a].extent.evaluate(sizes).value_or(2));
  }
  return run;
}

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_BOXDECOMPOSITION_H
