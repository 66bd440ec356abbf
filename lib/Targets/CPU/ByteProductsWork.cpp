//===- ByteProductsWork.cpp - Work of sums of byte products ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteProductsWork.h"
#include "layout/Support/Kernels/ByteProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// The scalar operations of one lane of a vector operation: a multiplication
/// and an addition, as for products of f32.
static constexpr int64_t kOperationsOfLane = 2;

/// Returns true if the body adds the i32 product of two i8 elements to an
/// accumulator, and does nothing else.
static bool addsByteProducts(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() != 2 ||
      linalgOp.getNumDpsInits() != 1)
    return false;
  Block *body = linalgOp.getBlock();
  return body->getArgument(0).getType().isInteger(8) &&
         body->getArgument(1).getType().isInteger(8) &&
         body->getArgument(2).getType().isInteger(32) &&
         linalg::detail::isContractionBody(
             *body, [](Operation *multiply, Operation *add) {
               return isa<arith::MulIOp>(multiply) && isa<arith::AddIOp>(add);
             });
}

/// Returns the iterations of the reduction along which operand `k` is
/// contiguous, or 0 if there is none.
static int64_t countContiguous(const StoredOp &stored, unsigned k,
                               int64_t assumed, MLIRContext *context) {
  AffineMap map = getExpandedMap(*stored.space, k, context);
  if (map.getNumResults() == 0)
    return 0;
  auto digit = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!digit)
    return 0;
  unsigned loop = stored.space->digits[digit.getPosition()].loop;
  return stored.iterators[loop] == utils::IteratorType::reduction &&
                 !ShapedType::isDynamic(stored.sizes[loop])
             ? stored.getTrips(digit.getPosition(), assumed)
             : 0;
}

Cost layout::getByteProductsWork(Operation *op, const StoredOp &stored,
                                 const CpuModelParams &params, int64_t assumed,
                                 Cost points, Cost direct) {
  if (!groupsBytes(params) || failed(stored.space) || !addsByteProducts(op))
    return direct;
  // Kernels make one of two signed factors unsigned.
  int64_t operations =
      kOperationsOfLane * countWordOps(params, /*isMixed=*/true);
  Cost least = direct;
  for (unsigned k : {0, 1}) {
    int64_t trips = countContiguous(stored, k, assumed, op->getContext());
    if (trips < kLeastGrouped)
      continue;
    int64_t words = llvm::divideCeil(trips, kWordBytes);
    least = std::min(least, scaleCost(points / trips, words * operations));
  }
  return least;
}
