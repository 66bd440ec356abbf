//===- DigitCopy.cpp - A copy between layouts over common digits ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/DigitCopy.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/PaddingMasks.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

static bool isExact(const AxisAccess &axis) {
  return !axis.digits.empty() && axis.required == axis.extent;
}

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

static std::optional<int64_t> getExtent(const IterationSpace &space,
                                        unsigned digit) {
  return space.digits[digit].extent.getConstant();
}

std::optional<DigitRange> layout::getRange(const IterationSpace &space,
                                           ArrayRef<unsigned> digits,
                                           const DigitBox &box) {
  if (digits.size() == 1)
    return box[digits.front()];
  // Single positions, then one range, then whole digits.
  DigitRange range{0, 1};
  bool isOpen = false;
  for (unsigned digit : digits) {
    std::optional<int64_t> extent = getExtent(space, digit);
    if (!extent)
      return std::nullopt;
    int64_t size = box[digit].size.value_or(*extent);
    if (isOpen && size != *extent)
      return std::nullopt;
    isOpen |= size != 1;
    range.offset = range.offset * *extent + box[digit].offset;
    range.size = *range.size * size;
  }
  return range;
}

//===----------------------------------------------------------------------===//
// Ranges of indices as boxes of digits
//===----------------------------------------------------------------------===//

namespace {
/// Indices lo .. hi of one dim as boxes of its digits, ascending.
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
} // namespace

/// Every box of `a` with every box of `b`, which speak of different dims.
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

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

const std::vector<StoredAxis> *AxesCache::find(RankedTensorType type) {
  std::unique_ptr<std::vector<StoredAxis>> &axes = known[type];
  if (axes)
    return axes.get();
  // Replicas are only read.
  FailureOr<LayoutMap> map = getLayoutMap(type);
  if (failed(map) || map->getSpace() != "buffer" || !map->getReplicas().empty())
    return nullptr;
  axes = std::make_unique<std::vector<StoredAxis>>(
      getAxesOnShape(*map, type.getShape()));
  return axes.get();
}

namespace {
class Planner {
public:
  Planner(RankedTensorType from, RankedTensorType to, AxesCache *cache)
      : from(from), to(to), cache(cache) {}

  FailureOr<DigitCopy> run(std::string *whyNot);
  std::optional<DigitCopy> runFills();

private:
  LogicalResult readSpace(std::string *whyNot);
  bool bringsPadding(unsigned dim) const;
  bool isCutOrPadded(unsigned dim) const;
  std::optional<int64_t> getStoredRange(unsigned dim) const;
  bool makeBoxes(const llvm::SmallBitVector &ragged);
  bool addFills(unsigned dim);
  bool areSlices(ArrayRef<DigitBox> boxes) const;
  bool hasLoneDigits() const;
  void goWhole();

  RankedTensorType from, to;
  AxesCache *cache;
  /// What the padding of the result has to hold; null for anything.
  TypedAttr stated;
  DigitCopy copy;
};
} // namespace

LogicalResult Planner::readSpace(std::string *whyNot) {
  stated = getPadding(to);
  if (stated && !mayHavePadding(to))
    stated = {};
  // No element, no digit.
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
                        iterators, from.getShape(), whyNot);
  if (failed(space))
    return failure();
  copy.space = std::move(*space);
  return success();
}

/// Whether the source holds the stated value wherever `dim` is past its size.
bool Planner::bringsPadding(unsigned dim) const {
  OperandAccess source{
      AffineMap::getMultiDimIdentityMap(from.getRank(), from.getContext()),
      from};
  return getPaddingAlong(source, copy.space, 0, dim) == stated;
}

/// Whether an axis with `dim` holds fewer positions than the digits reach.
bool Planner::isCutOrPadded(unsigned dim) const {
  bool found = false;
  for (auto &axes : copy.space.operands)
    for (const AxisAccess &axis : axes)
      if (axis.required != axis.extent &&
          !axis.extent.isProvablyAtLeast(axis.required))
        axis.value.walkDims([&](unsigned digit) {
          found |= copy.space.digits[digit].loop == dim;
        });
  return found;
}

/// The number of indices of `dim`, padding included, that the result stores.
std::optional<int64_t> Planner::getStoredRange(unsigned dim) const {
  ArrayRef<unsigned> digits = copy.space.digitsOf[dim];
  std::optional<int64_t> outermost = getExtent(copy.space, digits.front());
  if (!outermost)
    return std::nullopt;
  int64_t range = *outermost * copy.space.digits[digits.front()].weight;
  for (const AxisAccess &axis : copy.space.operands[1]) {
    bool hasDim = llvm::any_of(axis.digits, [&](unsigned digit) {
      return copy.space.digits[digit].loop == dim;
    });
    if (!hasDim || isExact(axis))
      continue;
    // The uppermost digits of the dim and nothing else.
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

/// Each box as slices of both storages.
bool Planner::areSlices(ArrayRef<DigitBox> boxes) const {
  for (unsigned k : {0u, 1u})
    for (const DigitSlot &slot : getSlots(copy.space, k))
      for (const DigitBox &box : boxes)
        if (!slot.digits.empty() && !getRange(copy.space, slot.digits, box))
          return false;
  return true;
}

/// Shapes tell how far every loop runs.
bool Planner::hasLoneDigits() const {
  llvm::SmallBitVector alone(copy.space.digits.size());
  for (unsigned k : {0u, 1u})
    for (const DigitSlot &slot : getSlots(copy.space, k))
      if (slot.digits.size() == 1)
        alone.set(slot.digits.front());
  return alone.all();
}

/// The logical box, cut where a dim is `ragged`.
bool Planner::makeBoxes(const llvm::SmallBitVector &ragged) {
  copy.boxes.assign(1, DigitBox(copy.space.digits.size()));
  for (unsigned dim : ragged.set_bits()) {
    int64_t size = to.getDimSize(dim);
    if (ShapedType::isDynamic(size))
      return false;
    copy.boxes = combine(copy.boxes, RangeCover(copy.space, dim).run(0, size));
    if (copy.boxes.size() > kMaxCopyBoxes ||
        (stated && !copy.prefills && !addFills(dim)))
      return false;
  }
  return hasLoneDigits() && areSlices(copy.boxes) && areSlices(copy.fills);
}

bool Planner::addFills(unsigned dim) {
  int64_t size = to.getDimSize(dim);
  std::optional<int64_t> stored = getStoredRange(dim);
  if (!stored || ShapedType::isDynamic(size))
    return false;
  SmallVector<DigitBox> fills = RangeCover(copy.space, dim).run(size, *stored);
  // Digits of other dims may reach past what the result stores.
  for (auto [other, isPadded] : llvm::enumerate(copy.space.isPadded)) {
    if (other == dim || !isPadded || !isCutOrPadded(other))
      continue;
    std::optional<int64_t> range = getStoredRange(other);
    if (!range)
      return false;
    fills = combine(fills, RangeCover(copy.space, other).run(0, *range));
  }
  llvm::append_range(copy.fills, fills);
  return copy.fills.size() <= kMaxCopyBoxes;
}

/// All digits at once.
void Planner::goWhole() {
  copy.way = DigitCopy::Way::Whole;
  copy.fills.clear();
  copy.boxes.assign(1, DigitBox(copy.space.digits.size()));
  for (auto [dim, isPadded] : llvm::enumerate(copy.space.isPadded))
    if (isPadded && stated && !bringsPadding(dim))
      copy.maskedDims.push_back(dim);
}

/// Whether an operand that is padded to whole digits has a value for that.
static bool canPad(RankedTensorType type, ArrayRef<AxisAccess> axes) {
  return hasFiller(type) || llvm::all_of(axes, [](const AxisAccess &axis) {
           return axis.required == axis.extent;
         });
}

FailureOr<DigitCopy> Planner::run(std::string *whyNot) {
  if (failed(readSpace(whyNot)))
    return failure();
  bool isEmpty = copy.space.operands.empty();
  copy.prefills = stated && (isEmpty || !reachesAll(copy.space, 1));
  if (isEmpty)
    return std::move(copy);
  llvm::SmallBitVector ragged(from.getRank());
  bool hasAllPositions = true;
  for (unsigned dim = 0; dim < ragged.size(); ++dim)
    if (copy.space.isPadded[dim]) {
      hasAllPositions &= !isCutOrPadded(dim);
      ragged[dim] = isCutOrPadded(dim) || (stated && !bringsPadding(dim));
    }
  // Where whole runs are copied from storage that has every position, selecting
  // the padding on the way is cheaper than to write it afterwards.
  bool selects =
      ragged.any() && hasAllPositions && copy.getCommonRun(to.getShape()) > 1;
  if (!selects && makeBoxes(ragged))
    return std::move(copy);
  goWhole();
  const RankedTensorType types[] = {from, to};
  for (auto [k, type] : llvm::enumerate(types))
    if (!canPad(type, copy.space.operands[k])) {
      if (whyNot)
        llvm::raw_string_ostream(*whyNot)
            << "operand " << k << " of type " << type
            << " has no element to pad with";
      return failure();
    }
  return std::move(copy);
}

std::optional<DigitCopy> Planner::runFills() {
  if (failed(readSpace(/*whyNot=*/nullptr)) || !stated ||
      copy.space.operands.empty() || !reachesAll(copy.space, 1))
    return std::nullopt;
  for (auto [dim, isPadded] : llvm::enumerate(copy.space.isPadded))
    if (isPadded && !addFills(dim))
      return std::nullopt;
  if (!areSlices(copy.fills))
    return std::nullopt;
  return std::move(copy);
}

FailureOr<DigitCopy> layout::planDigitCopy(RankedTensorType from,
                                           RankedTensorType to,
                                           std::string *whyNot,
                                           AxesCache *cache) {
  return Planner(from, to, cache).run(whyNot);
}

std::optional<DigitCopy> layout::planPaddingFills(RankedTensorType type) {
  return Planner(type, type, /*cache=*/nullptr).runFills();
}
