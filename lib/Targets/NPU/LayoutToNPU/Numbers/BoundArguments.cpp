//===- BoundArguments.cpp - Arguments within the range of a function ------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp, tanh and sigmoid of the chip look powers up in a table, which wraps
// outside of a range: exp(-200) is infinite, exp(89) is 0. sqrt(-0) is
// -7.6e18. Arguments that may be outside are clamped in the body, as part of
// the function, which has work memory for it:
//
//     %s = %x - %max                        at most 0
//     %e = math.exp %s                      becomes
//
//     %m = arith.maximumf %s, -127.0
//     %e = math.exp %m
//
// Law: results differ from those of the ops by at most 1e-38, except that
// exp above 88.7228 is the largest power and not infinite.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Numbers/FloatRanges.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The bounds to clamp an argument of exp, tanh or sigmoid to, and which of
/// them its range may exceed.
struct Bounds {
  bool clampsLow = false, clampsHigh = false;
  float least = 0, most = 0;
};
} // namespace

// The ranges that clamps leave. The chip computes exp, tanh and sigmoid right
// on wider ones: [-128, 88.7228], [-86.6, 88.7228] and [-88.7, 128). An
// argument of tanh is clamped if it may be outside of kTanhRange.
static constexpr FloatRange kExpArguments{-127.0f, 88.7228f};
static constexpr FloatRange kTanhArguments{-20.0f, 20.0f};
static constexpr FloatRange kTanhRange{-86.0f, 88.0f};
static constexpr FloatRange kSigmoidArguments{-88.0f, 88.0f};

static std::optional<Bounds> getBounds(FloatRange range, FloatRange valid,
                                       FloatRange bounds) {
  Bounds needed{range.low<valid.low, range.high> valid.high, bounds.low,
                bounds.high};
  if (!needed.clampsLow && !needed.clampsHigh)
    return std::nullopt;
  return needed;
}

/// Returns the bounds to which the argument of `op`, an op of a body, must be
/// clamped. Returns std::nullopt if `op` is not exp, tanh or the division of a
/// sigmoid, or is the exp of a sigmoid. The same holds if the chip computes it
/// right on the whole range of its argument.
static std::optional<Bounds> findBounds(Operation *op, FloatRanges &ranges) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return std::nullopt;
  if (auto div = dyn_cast<arith::DivFOp>(op)) {
    Value x = npu::getSigmoidOf(div);
    return x ? getBounds(ranges.get(x), kSigmoidArguments, kSigmoidArguments)
             : std::nullopt;
  }
  if (isa<math::TanhOp>(op))
    return getBounds(ranges.get(op->getOperand(0)), kTanhRange, kTanhArguments);
  if (!isa<math::ExpOp>(op))
    return std::nullopt;
  // The exp of a sigmoid, 1 / (1 + exp(-x)), needs no bounds of its own: those
  // of the division clamp x.
  auto isOfSigmoid = [](Operation *sum) {
    return llvm::any_of(sum->getUsers(), [](Operation *user) {
      auto div = dyn_cast<arith::DivFOp>(user);
      return div && npu::getSigmoidOf(div);
    });
  };
  if (!op->use_empty() && llvm::all_of(op->getUsers(), isOfSigmoid))
    return std::nullopt;
  return getBounds(ranges.get(op->getOperand(0)), kExpArguments, kExpArguments);
}

static Value clamp(OpBuilder &builder, Location loc, Value value,
                   const Bounds &bounds) {
  auto number = [&](float bound) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(bound));
  };
  if (bounds.clampsLow)
    value =
        arith::MaximumFOp::create(builder, loc, value, number(bounds.least));
  if (bounds.clampsHigh)
    value = arith::MinimumFOp::create(builder, loc, value, number(bounds.most));
  return value;
}

static void bound(Operation *op, const Bounds &bounds) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto div = dyn_cast<arith::DivFOp>(op);
  if (!div)
    return op->setOperand(0, clamp(builder, loc, op->getOperand(0), bounds));
  // Recompute 1 + exp(-x) from the clamped x for this division. Other users of
  // these ops keep their values.
  Value x = clamp(builder, loc, npu::getSigmoidOf(div), bounds);
  Value power = math::ExpOp::create(
      builder, loc, arith::NegFOp::create(builder, loc, x).getResult());
  div.getRhsMutable().assign(
      arith::AddFOp::create(builder, loc, power, div.getLhs()).getResult());
}

/// Adds +0 to the argument of a square root, so that -0 becomes +0. The chip's
/// root of -0 is wrong.
static void dropMinusZero(math::SqrtOp op) {
  OpBuilder builder(op);
  Value zero = arith::ConstantOp::create(builder, op.getLoc(),
                                         builder.getF32FloatAttr(0.0f));
  op->setOperand(
      0, arith::AddFOp::create(builder, op.getLoc(), op.getOperand(), zero));
}

/// Returns true if the argument of a square root may be -0.
static bool mayBeMinusZero(Operation *op, FloatRanges &ranges) {
  auto root = dyn_cast<math::SqrtOp>(op);
  return root && root.getType().isF32() &&
         !ranges.get(root.getOperand()).excludesMinusZero();
}

/// Generalizes named ops that compute an exp, tanh, sigmoid or square root
/// whose argument will be changed, because the body of a named op must match
/// its name.
static void generalize(func::FuncOp function) {
  FloatRanges ranges;
  SmallVector<linalg::LinalgOp> named;
  function.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(*op) &&
        llvm::any_of(*op.getBlock(), [&](Operation &inner) {
          return findBounds(&inner, ranges) || mayBeMinusZero(&inner, ranges);
        }))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    IRRewriter rewriter(op);
    // A named op without a generic form is not changed.
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

void layout::boundArguments(func::FuncOp function) {
  generalize(function);
  FloatRanges ranges;
  SmallVector<std::pair<Operation *, Bounds>> bounded;
  SmallVector<math::SqrtOp> roots;
  function.walk([&](linalg::GenericOp op) {
    for (Operation &inner : *op.getBody()) {
      if (std::optional<Bounds> bounds = findBounds(&inner, ranges))
        bounded.push_back({&inner, *bounds});
      if (mayBeMinusZero(&inner, ranges))
        roots.push_back(cast<math::SqrtOp>(inner));
    }
  });
  SmallPtrSet<Block *, 8> changed;
  for (auto &[op, bounds] : bounded) {
    bound(op, bounds);
    changed.insert(op->getBlock());
  }
  llvm::for_each(roots, dropMinusZero);
  // Erase ops without uses, which would keep the body from matching an OKKernel
  // function.
  for (Block *block : changed)
    for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&inner))
        inner.erase();
}
