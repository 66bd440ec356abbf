//===- OpCountEstimate.h - Count the operations of loop nests ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the element operations that profiles print. The loops that run are
// counted, so that operations on padding are included:
//
//   scf.for %i = 0 to 10 step 1 {              // 10 trips
//     %p = arith.mulf %a, %b : vector<4xf32>   // 4
//     %s = arith.addf %c, %p : vector<4xf32>   // 4: 80 in all
//
// Index computations, comparisons and casts are not counted. Both branches of a
// conditional are counted.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_OPCOUNTESTIMATE_H
#define LAYOUT_SUPPORT_OPCOUNTESTIMATE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::layout {

/// Returns the number of elements that `op`, an op of the arith or math
/// dialect, computes; an fma counts twice. Returns 0 for all other ops, and for
/// ops on indices and conditions, casts and constants.
inline int64_t countResults(Operation *op) {
  if (!op->getNumResults() ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<CastOpInterface>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return 0;
  Type type = op->getResult(0).getType();
  Type element = getElementTypeOrSelf(type);
  if (element.isIndex() || element.isInteger(1))
    return 0;
  auto vector = dyn_cast<VectorType>(type);
  return (vector ? vector.getNumElements() : 1) *
         (isa<math::FmaOp>(op) ? 2 : 1);
}

/// Returns the trip count of `op`, 1 if `op` is not a loop, or std::nullopt if
/// the trip count is dynamic.
inline std::optional<int64_t> countTrips(Operation *op) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return 1;
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
       steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return std::nullopt;
  int64_t trips = 1;
  for (auto [from, to, step] : llvm::zip_equal(*lower, *upper, *steps)) {
    std::optional<APInt> known = constantTripCount(
        from, to, step, /*isSigned=*/true, scf::computeUbMinusLb);
    if (!known)
      return std::nullopt;
    trips *= known->getSExtValue();
  }
  return trips;
}

/// Returns the sum of `count` over all executions of `op` and its nested ops,
/// if `op` is executed `times` times. `getTimes(op, times)` returns how often
/// the regions of `op` are executed in total. If it returns std::nullopt, so
/// does this function.
inline std::optional<int64_t> sumOverTrips(
    Operation *op, int64_t times,
    llvm::function_ref<int64_t(Operation *)> count,
    llvm::function_ref<std::optional<int64_t>(Operation *, int64_t)> getTimes) {
  int64_t sum = times * count(op);
  if (!op->getNumRegions())
    return sum;
  std::optional<int64_t> inside = getTimes(op, times);
  if (!inside)
    return std::nullopt;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      std::optional<int64_t> some =
          sumOverTrips(&inner, *inside, count, getTimes);
      if (!some)
        return std::nullopt;
      sum += *some;
    }
  return sum;
}

/// Returns the number of element operations in all iterations of `op` and its
/// nested loops, or std::nullopt if a trip count is dynamic.
inline std::optional<int64_t> countOperations(Operation *op) {
  return sumOverTrips(
      op, 1, countResults,
      [](Operation *each, int64_t times) -> std::optional<int64_t> {
        std::optional<int64_t> trips = countTrips(each);
        return trips ? std::make_optional(times * *trips) : std::nullopt;
      });
}

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_OPCOUNTESTIMATE_H
