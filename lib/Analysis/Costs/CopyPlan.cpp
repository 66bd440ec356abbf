//===- CopyPlan.cpp - Copies between layouts over common digits -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/CopyPlan.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/PaddingMasks.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::layout;

SmallVector<DigitSlot> layout::getSlots(const IterationSpace &space,
                                        unsigned operand) {
  SmallVector<DigitSlot> slots;
  for (auto [a, axis] : llvm::enumerate(space.operands[operand])) {
    if (isExact(axis))
      for (unsigned digit : axis.digits)
        slots.push_back({unsigned(a), {digit}});
    else
      slots.push_back({unsigned(a), axis.digits});
  }
  return slots;
}

std::optional<DigitRange> layout::getRange(const IterationSpace &space,
                                           ArrayRef<unsigned> digits,
                                           const DigitBox &box) {
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

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

const std::vector<StoredAxis> *AxesCache::find(RankedTensorType type) {
  std::unique_ptr<std::vector<StoredAxis>> &axes = known[type];
  if (axes)
    return axes.get();
  // Storage with replicas can only be read, and is not cached.
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map) || map->getSpace() != "buffer" || !map->getReplicas().empty())
    return nullptr;
  axes = std::make_unique<std::vector<StoredAxis>>(
      getAxesOnShape(*map, type.getShape()));
  return axes.get();
}

namespace {
/// Covers the indices of one dim from lo up to hi, exclusive, by boxes of its
/// digits, ascending.
class RangeCover {
public:
  RangeCover(const IterationSpace &space, unsigned dim)
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

  const IterationSpace &space;
  ArrayRef<unsigned> digits;
  DigitBox box;
  SmallVector<DigitBox> boxes;
};

/// Plans a copy over the digits that source and result have in common: which
/// boxes of these digits it moves, and which boxes of padding it fills.
class Planner {
public:
  Planner(RankedTensorType from, RankedTensorType to, AxesCache *cache)
      : from(from), to(to), cache(cache) {}

  FailureOr<CopyPlan> run(FailureReason refuse);
  std::optional<CopyPlan> runFills();

private:
  LogicalResult readSpace(FailureReason refuse = {});
  bool bringsPadding(unsigned dim) const;
  bool isCutOrPadded(unsigned dim) const;
  std::optional<int64_t> getStoredRange(unsigned dim) const;
  SmallVector<DigitBox> cover(unsigned dim, int64_t lo, int64_t hi) const {
    return RangeCover(copy.space, dim).run(lo, hi);
  }
  bool makeBoxes(const llvm::SmallBitVector &nonDivisible,
                 ArrayRef<int64_t> shape, bool writesFills);
  bool addFills(unsigned dim, ArrayRef<int64_t> shape,
                const llvm::SmallBitVector &nonDivisible = {});
  bool areSlices(ArrayRef<DigitBox> boxes) const;
  bool hasLoneDigits() const;
  void goWhole();

  CopyPlan copy;
  RankedTensorType from, to;
  AxesCache *cache;
  /// The padding value that the type of the result states. A null attribute
  /// stands for none, also of a result without padding.
  TypedAttr stated;
};
} // namespace

LogicalResult Planner::readSpace(FailureReason refuse) {
  stated = getPadding(to);
  if (stated && !mayHavePadding(to))
    stated = {};
  // A tensor without elements has no digits.
  if (llvm::is_contained(from.getShape(), 0))
    return success();
  AffineMap identity =
      AffineMap::getMultiDimIdentityMap(from.getRank(), from.getContext());
  SmallVector<utils::IteratorType> iterators(from.getRank(),
                                             utils::IteratorType::parallel);
  auto getAxes = [&](RankedTensorType type) {
    return cache ? cache->find(type) : nullptr;
  };
  FailureOr<IterationSpace> space =
      getIterationSpace({{identity, from, false, getAxes(from)},
                         {identity, to, true, getAxes(to)}},
                        iterators, from.getShape(), refuse);
  if (failed(space))
    return failure();
  copy.space = std::move(*space);
  return success();
}

/// Returns true if reading the source beyond the size of `dim` gives the
/// padding value that the type of the result states.
bool Planner::bringsPadding(unsigned dim) const {
  OperandAccess source{
      AffineMap::getMultiDimIdentityMap(from.getRank(), from.getContext()),
      from};
  return getPaddingAlong(source, copy.space, 0, dim) == stated;
}

/// Intersects each box of `a` with each box of `b`, which restrict other dims.
static SmallVector<DigitBox> combine(ArrayRef<DigitBox> a,
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

/// Returns true if a stored axis with digits of `dim`, of the source or the
/// result, may have fewer positions than these digits reach.
bool Planner::isCutOrPadded(unsigned dim) const {
  bool found = false;
  for (ArrayRef<AxisAccess> axes : copy.space.operands)
    for (const AxisAccess &axis : axes)
      if (axis.required != axis.extent &&
          !axis.extent.isProvablyAtLeast(axis.required))
        axis.value.walkDims([&](unsigned digit) {
          found |= copy.space.digits[digit].loop == dim;
        });
  return found;
}

/// Returns the number of indices of `dim` that the result stores, padding
/// included, or std::nullopt if it is dynamic or cannot be determined.
std::optional<int64_t> Planner::getStoredRange(unsigned dim) const {
  ArrayRef<unsigned> digits = copy.space.digitsOf[dim];
  std::optional<int64_t> outermost =
      copy.space.digits[digits.front()].extent.getConstant();
  if (!outermost)
    return std::nullopt;
  int64_t range = *outermost * copy.space.digits[digits.front()].weight;
  for (const AxisAccess &axis : copy.space.operands[1]) {
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
bool Planner::areSlices(ArrayRef<DigitBox> boxes) const {
  for (ArrayRef<AxisAccess> axes : copy.space.operands)
    for (const AxisAccess &axis : axes)
      for (const DigitBox &box : boxes)
        if (axis.digits.size() > 1 && !isExact(axis) &&
            !getRange(copy.space, axis.digits, box))
          return false;
  return true;
}

/// Returns true if each digit is a stored axis of the source or the result by
/// itself, or one of those whose values, fused, are exactly the positions of an
/// axis. Then shapes determine the bounds of all loops.
bool Planner::hasLoneDigits() const {
  llvm::SmallBitVector alone(copy.space.digits.size());
  for (ArrayRef<AxisAccess> axes : copy.space.operands)
    for (const AxisAccess &axis : axes)
      if (axis.digits.size() == 1 || isExact(axis))
        for (unsigned digit : axis.digits)
          alone.set(digit);
  return alone.all();
}

/// Covers all logical indices by boxes, split along the `nonDivisible` dims,
/// whose indices do not fill all positions. With `writesFills`, also plans the
/// boxes of padding to fill. Returns false if such a dim is dynamic, a box is
/// not a slice of both storages, or shapes do not determine all loop bounds.
/// Also returns false if there are more than kMaxCopyBoxes boxes or fills.
bool Planner::makeBoxes(const llvm::SmallBitVector &nonDivisible,
                        ArrayRef<int64_t> shape, bool writesFills) {
  copy.boxes.assign(1, DigitBox(copy.space.digits.size()));
  for (unsigned dim : nonDivisible.set_bits()) {
    int64_t size = shape[dim];
    if (ShapedType::isDynamic(size))
      return false;
    copy.boxes = combine(copy.boxes, cover(dim, 0, size));
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
/// fastest digit of the result, they are split like the boxes of elements, so
/// that each box is followed by its padding. Returns false if a size or a
/// number of stored indices is unknown, or if there are more than kMaxCopyBoxes
/// fills.
bool Planner::addFills(unsigned dim, ArrayRef<int64_t> shape,
                       const llvm::SmallBitVector &nonDivisible) {
  std::optional<int64_t> stored = getStoredRange(dim);
  if (!stored || ShapedType::isDynamic(shape[dim]))
    return false;
  SmallVector<DigitBox> fills = cover(dim, shape[dim], *stored);
  ArrayRef<unsigned> fastest = copy.space.operands[1].back().digits;
  bool isFastest =
      !fastest.empty() && copy.space.digits[fastest.back()].loop == dim;
  for (auto [other, isPadded] : llvm::enumerate(copy.space.isPadded)) {
    if (other == dim || !isPadded)
      continue;
    if (isFastest && other < nonDivisible.size() && nonDivisible[other]) {
      fills = combine(fills, cover(other, 0, shape[other]));
      continue;
    }
    // Digits of other dims may exceed the storage of the result.
    if (!isCutOrPadded(other))
      continue;
    std::optional<int64_t> range = getStoredRange(other);
    if (!range)
      return false;
    fills = combine(fills, cover(other, 0, *range));
  }
  llvm::append_range(copy.fills, fills);
  return copy.fills.size() <= kMaxCopyBoxes;
}

/// Switches to CopyPlan::Method::Whole. The copy writes the stated padding
/// value beyond the sizes of padded dims, except those for which the source
/// already has this value there.
void Planner::goWhole() {
  copy.method = CopyPlan::Method::Whole;
  copy.fills.clear();
  copy.boxes.assign(1, DigitBox(copy.space.digits.size()));
  for (auto [dim, isPadded] : llvm::enumerate(copy.space.isPadded))
    if (isPadded && stated && !bringsPadding(dim))
      copy.maskedDims.push_back(dim);
}

/// Returns true if an operand can be padded to whole digits: its element type
/// has a value to pad with, or no axis needs padding.
static bool canPad(RankedTensorType type, ArrayRef<AxisAccess> axes) {
  return hasFiller(type) || llvm::all_of(axes, [](const AxisAccess &axis) {
           return axis.required == axis.extent;
         });
}

FailureOr<CopyPlan> Planner::run(FailureReason refuse) {
  if (failed(readSpace(refuse)))
    return failure();
  bool isEmpty = copy.space.operands.empty();
  copy.prefills = stated && (isEmpty || !reachesAll(copy.space, 1));
  if (isEmpty)
    return std::move(copy);
  llvm::SmallBitVector nonDivisible(from.getRank());
  bool hasAllPositions = true;
  for (unsigned dim = 0; dim < nonDivisible.size(); ++dim)
    if (copy.space.isPadded[dim]) {
      hasAllPositions &= !isCutOrPadded(dim);
      nonDivisible[dim] = isCutOrPadded(dim) || (stated && !bringsPadding(dim));
    }
  // If the source has every position and segments are contiguous, selecting the
  // padding during the copy is cheaper than writing it afterwards.
  bool selects = nonDivisible.any() && hasAllPositions &&
                 copy.getCommonRun(to.getShape()) > 1;
  if (!selects &&
      makeBoxes(nonDivisible, to.getShape(), stated && !copy.prefills))
    return std::move(copy);
  goWhole();
  const RankedTensorType types[] = {from, to};
  for (auto [k, type] : llvm::enumerate(types))
    if (!canPad(type, copy.space.operands[k]))
      return refuse([&, k = k, type = type](raw_ostream &os) {
        os << "operand " << k << " of type " << type
           << " has no element to pad with";
      });
  return std::move(copy);
}

std::optional<CopyPlan> Planner::runFills() {
  if (failed(readSpace()) || !stated || copy.space.operands.empty() ||
      !reachesAll(copy.space, 1))
    return std::nullopt;
  for (auto [dim, isPadded] : llvm::enumerate(copy.space.isPadded))
    if (isPadded && !addFills(dim, to.getShape()))
      return std::nullopt;
  if (!areSlices(copy.fills))
    return std::nullopt;
  return std::move(copy);
}

FailureOr<CopyPlan> layout::planCopy(RankedTensorType from, RankedTensorType to,
                                     FailureReason refuse, AxesCache *cache) {
  return Planner(from, to, cache).run(refuse);
}

std::optional<CopyPlan> layout::planPaddingFills(RankedTensorType type) {
  return Planner(type, type, /*cache=*/nullptr).runFills();
}
