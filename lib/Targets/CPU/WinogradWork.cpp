//===- WinogradWork.cpp - Work of transformed convolutions ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WinogradWork.h"
#include "layout/Analysis/Program.h"
#include "layout/Support/LaneAccess.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// The operations of a CPU in the time of a vector step: two multiplications
/// and two additions.
static constexpr int64_t kOperationsOfStep = 4;

namespace {
/// The roles of the loops of a convolution.
struct ConvLoops {
  llvm::SmallBitVector places, windows; // h, w and kh, kw
  llvm::SmallBitVector channels;        // summed: in image and filter
  llvm::SmallBitVector filters;         // in the filter and the result
};
} // namespace

/// Classifies `expr`, an index of the image, in `loops`. Returns false if it is
/// neither a loop, a constant, nor the sum of a loop over places and one over a
/// window of 3.
static bool addIndex(AffineExpr expr, const LoopsRule &rule, ConvLoops &loops) {
  if (isa<AffineDimExpr, AffineConstantExpr>(expr))
    return true;
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return false;
  auto left = dyn_cast<AffineDimExpr>(sum.getLHS());
  auto right = dyn_cast<AffineDimExpr>(sum.getRHS());
  if (!left || !right)
    return false;
  auto isParallel = [&](AffineDimExpr dim) {
    return rule.loops[dim.getPosition()].iterator ==
           utils::IteratorType::parallel;
  };
  if (!isParallel(left))
    std::swap(left, right);
  if (!isParallel(left) || isParallel(right) ||
      rule.loops[left.getPosition()].size == 1 ||
      rule.loops[right.getPosition()].size != 3)
    return false;
  loops.places.set(left.getPosition());
  loops.windows.set(right.getPosition());
  return true;
}

/// Returns the roles of the loops, or std::nullopt if the op is not a 3x3
/// convolution with stride 1 of operand `image` by the other one.
static std::optional<ConvLoops> findLoops(const LoopsRule &rule,
                                          unsigned image) {
  AffineMap from = rule.operandMaps[image], by = rule.operandMaps[1 - image];
  if (!from || !by || !by.isProjectedPermutation())
    return std::nullopt;
  unsigned count = rule.loops.size();
  llvm::SmallBitVector none(count);
  ConvLoops loops{none, none, none, none};
  for (AffineExpr expr : from.getResults())
    if (!addIndex(expr, rule, loops))
      return std::nullopt;
  if (loops.places.count() != 2 || loops.windows.count() != 2)
    return std::nullopt;
  for (auto [l, loop] : llvm::enumerate(rule.loops)) {
    bool ofImage = from.isFunctionOfDim(l), ofFilter = by.isFunctionOfDim(l);
    if (loops.places[l] || loops.windows[l]) {
      if (ofFilter != loops.windows[l])
        return std::nullopt;
    } else if (loop.iterator != utils::IteratorType::parallel) {
      if (loop.size != 1 && (!ofImage || !ofFilter))
        return std::nullopt;
      loops.channels[l] = true;
    } else if (loop.size != 1) {
      if (ofImage == ofFilter)
        return std::nullopt;
      loops.filters[l] = ofFilter;
    }
  }
  return loops;
}

/// Returns true if the body adds a product of two f32 to an accumulator, and
/// does nothing else.
static bool addsProducts(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumDpsInputs() == 2 &&
         linalgOp.getNumDpsInits() == 1 &&
         linalgOp.getBlock()->getOperations().size() == 3 &&
         llvm::all_of(linalgOp.getBlock()->getArgumentTypes(),
                      [](Type type) { return type.isF32(); }) &&
         linalg::detail::isContractionBody(
             *linalgOp.getBlock(), [](Operation *multiply, Operation *add) {
               return isa<arith::MulFOp>(multiply) && isa<arith::AddFOp>(add);
             });
}

/// Returns the digit along which operand `k` is contiguous, or std::nullopt if
/// its innermost index is another expression.
static std::optional<unsigned>
findInnermostDigit(const StoredOp &stored, unsigned k, MLIRContext *context) {
  AffineMap map = getExpandedMap(*stored.space, k, context);
  if (map.getNumResults() == 0)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResults().back());
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

std::optional<WinogradWork>
layout::findWinogradWork(Operation *op, const LoopsRule &rule,
                         const StoredOp &stored, unsigned lane, int64_t bits,
                         int64_t assumed, Cost direct) {
  if (!addsProducts(op))
    return std::nullopt;
  ArrayRef<LoopDigit> digits = stored.space->digits;
  int64_t lanes = stored.getTrips(lane, assumed);
  int64_t vector = std::min(bits / 32, lanes);
  for (unsigned image : {0, 1}) {
    std::optional<ConvLoops> loops = findLoops(rule, image);
    if (!loops || !isTransformableConstant(op->getOperand(1 - image)))
      continue;
    std::optional<unsigned> innermost =
        findInnermostDigit(stored, image, op->getContext());
    if (vector <= 1 || !innermost || !loops->filters[digits[lane].loop] ||
        !loops->channels[digits[*innermost].loop] || lanes % vector != 0 ||
        stored.getTrips(*innermost, assumed) % vector != 0)
      continue;
    Cost channels = 1, filters = 1, tiles = 1;
    for (auto [d, digit] : llvm::enumerate(digits)) {
      int64_t trips = stored.getTrips(d, assumed);
      if (loops->channels[digit.loop])
        channels = scaleCost(channels, trips);
      else if (loops->filters[digit.loop])
        filters = scaleCost(filters, trips);
      else if (loops->places[digit.loop])
        tiles = scaleCost(tiles, llvm::divideCeil(trips, kWinogradResults));
      else if (!loops->windows[digit.loop])
        tiles = scaleCost(tiles, trips);
    }
    Cost products =
        scaleCost(scaleCost(channels, filters), 2 * kWinogradElements);
    Cost transforms = scaleCost(addCosts(channels, filters),
                                kWinogradSteps * kOperationsOfStep);
    Cost operations = scaleCost(addCosts(products, transforms), tiles);
    if (operations < direct)
      return WinogradWork{operations, 1 - image};
  }
  return std::nullopt;
}
