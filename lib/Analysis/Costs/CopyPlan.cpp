//===- CopyPlan.cpp - Copies between layouts over common digits -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Proof.h"
#include "layout/Analysis/BoxDecomposition.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/PaddingMasks.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "mlir/IR/Builders.h"

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
  return getRangeOf(space, digits, box);
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
class Planner : BoxPlanner<CopyPlan> {
public:
  Planner(RankedTensorType from, RankedTensorType to, AxesCache *cache)
      : BoxPlanner(CopyPlan()), from(from), to(to), cache(cache) {}

  FailureOr<CopyPlan> run(FailureReason refuse);
  std::optional<CopyPlan> runFills();

private:
  LogicalResult readSpace(FailureReason refuse = {});
  bool bringsPadding(unsigned dim) const;
  void goWhole();

  RankedTensorType from, to;
  AxesCache *cache;
  /// The padding value that the type of the result states, or null.
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

/// Switches to CopyPlan::Method::Whole. The copy writes the stated padding
/// value beyond the sizes of padded dims, except those for which the source
/// already has this value there.
void Planner::goWhole() {
  BoxPlanner::goWhole();
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
