//===- SplitArgReductions.cpp - Largest elements with their indices -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No function yields a largest element and its index. A reduction that yields
// both becomes one of elements, and one of the indices of equal elements:
//
//   %is = arith.cmpf ogt, %x, %best
//   %b = arith.select %is, %x, %best       %top = maxnumf of %x
//   %p = arith.select %is, %i, %place      %p = min of %x == %top ? %i : n
//
// ogt and olt keep the first of equal elements, oge and ole the last one, which
// is a maximum of indices from -1 on. A body that also selects NaN,
//
//   %is = ogt(%x, %best) or (%x is NaN and %best is not)
//
// becomes a maximumf, and NaN elements count as equal to %top.
//
// Law: the results are those of the body, but for the sign of a zero that is
// the extreme element. This holds for the ops: the chip's maxima do not return
// NaN (docs/npu.md), so beside NaN the index is in range, but may be another.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
using Predicate = arith::CmpFPredicate;

/// A linalg.generic that reduces along one loop to two results: the largest or
/// smallest element of an input (`best`) and its index (`place`), e.g. an
/// argmax. In the body, `x` is the element of the input.
struct ArgReduction {
  unsigned best = 0, place = 0; // numbers of the results
  BlockArgument x;
  unsigned loop = 0;
  bool isMax = false, takesLast = false, takesNaN = false;
  /// The constants that the inits of the element and of the index are filled
  /// with.
  APFloat worst = APFloat(0.0f);
  APInt none;
};
} // namespace

/// Returns true if `value` compares `x` with itself by one of `predicates`.
static bool isSelfComparison(Value value, Value x,
                             std::initializer_list<Predicate> predicates) {
  auto compare = value.getDefiningOp<arith::CmpFOp>();
  return compare && compare.getLhs() == x && compare.getRhs() == x &&
         llvm::is_contained(predicates, compare.getPredicate());
}

/// Returns true if `value` compares an element `x` with the best one so far, by
/// an ordered predicate, or by an unordered one if `isUnordered`. Then `found`
/// has whether a maximum is searched, and whether the last of equal elements is
/// taken.
static bool matchCompare(Value value, Value x, Value best, bool isUnordered,
                         ArgReduction &found) {
  auto compare = value.getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return false;
  bool isStraight = compare.getLhs() == x && compare.getRhs() == best;
  if (!isStraight && !(compare.getLhs() == best && compare.getRhs() == x))
    return false;
  Predicate predicate = compare.getPredicate();
  bool isGreater = predicate == (isUnordered ? Predicate::UGT : Predicate::OGT);
  bool isLess = predicate == (isUnordered ? Predicate::ULT : Predicate::OLT);
  if (!isUnordered) {
    isGreater |= predicate == Predicate::OGE;
    isLess |= predicate == Predicate::OLE;
  }
  found.takesLast = predicate == Predicate::OGE || predicate == Predicate::OLE;
  found.isMax = isGreater == isStraight;
  return isGreater || isLess;
}

/// Returns true if `value` is a condition under which an element `x` replaces
/// `best`: a comparison, possibly combined with checks for NaN. Then `found`
/// has which element is taken: largest or smallest, first or last, and whether
/// NaN is preferred.
static bool matchCondition(Value value, Value x, Value best,
                           ArgReduction &found) {
  auto isNaN = [&](Value value) {
    return isSelfComparison(value, x, {Predicate::UNE, Predicate::UNO});
  };
  auto isNumber = [&](Value value) {
    return isSelfComparison(value, best, {Predicate::OEQ, Predicate::ORD});
  };
  if (matchCompare(value, x, best, /*isUnordered=*/false, found))
    return true;
  Operation *both = value.getDefiningOp();
  if (!isa_and_nonnull<arith::OrIOp, arith::AndIOp>(both))
    return false;
  found.takesNaN = true;
  for (unsigned first : {0, 1}) {
    Value compare = both->getOperand(first),
          other = both->getOperand(1 - first);
    if (!matchCompare(compare, x, best, isa<arith::AndIOp>(both), found))
      continue;
    // Matches: x > best or either is NaN, and best is not NaN.
    if (isa<arith::AndIOp>(both))
      return isNumber(other);
    if (found.takesLast)
      return isNaN(other);
    auto nan = other.getDefiningOp<arith::AndIOp>();
    return nan && ((isNaN(nan.getLhs()) && isNumber(nan.getRhs())) ||
                   (isNaN(nan.getRhs()) && isNumber(nan.getLhs())));
  }
  return false;
}

static std::optional<ArgReduction> matchArgReduction(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 2 || !op.hasPureTensorSemantics() ||
      op.hasDynamicShape() || op.getNumReductionLoops() != 1 ||
      llvm::is_contained(op.getStaticLoopRanges(), 0))
    return std::nullopt;
  ArgReduction found;
  auto outs = op.getRegionOutputArgs();
  found.best = outs[0].getType().isF32() ? 0 : 1;
  found.place = 1 - found.best;
  Value yielded = op.getBlock()->getTerminator()->getOperand(found.best);
  auto best = yielded.getDefiningOp<arith::SelectOp>();
  auto place = op.getBlock()
                   ->getTerminator()
                   ->getOperand(found.place)
                   .getDefiningOp<arith::SelectOp>();
  if (!best || !place || !best.getType().isF32() ||
      best.getCondition() != place.getCondition() ||
      best.getFalseValue() != outs[found.best] ||
      place.getFalseValue() != outs[found.place] ||
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)) !=
          op.getMatchingIndexingMap(op.getDpsInitOperand(1)))
    return std::nullopt;
  found.x = dyn_cast<BlockArgument>(best.getTrueValue());
  if (!found.x || int64_t(found.x.getArgNumber()) >= op.getNumDpsInputs() ||
      !matchCondition(best.getCondition(), found.x, outs[found.best], found))
    return std::nullopt;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  found.loop = reduced[0];
  auto cast = place.getTrueValue().getDefiningOp<arith::IndexCastOp>();
  auto index =
      cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  // The index of a loop with one iteration may be folded to a constant.
  bool isFolded = op.getStaticLoopRanges()[found.loop] == 1 &&
                  matchPattern(place.getTrueValue(), m_Zero());
  if (!isFolded && !(index && index.getDim() == found.loop))
    return std::nullopt;
  auto getFill = [&](unsigned result) -> Value {
    auto fill = op.getDpsInits()[result].getDefiningOp<linalg::FillOp>();
    return fill ? fill.getInputs()[0] : Value();
  };
  Value worst = getFill(found.best), none = getFill(found.place);
  if (!worst || !none || !matchPattern(worst, m_ConstantFloat(&found.worst)) ||
      !matchPattern(none, m_ConstantInt(&found.none)) || found.worst.isNaN())
    return std::nullopt;
  return found;
}

/// Creates the reduction to the extreme element alone, with the init of `op`.
static Value makeExtreme(OpBuilder &builder, linalg::GenericOp op,
                         const ArgReduction &found) {
  OpOperand &x = op->getOpOperand(found.x.getArgNumber());
  OpOperand *init = op.getDpsInitOperand(found.best);
  return linalg::GenericOp::create(
             builder, op.getLoc(), TypeRange(init->get().getType()), x.get(),
             init->get(),
             ArrayRef{op.getMatchingIndexingMap(&x),
                      op.getMatchingIndexingMap(init)},
             op.getIteratorTypesArray(),
             [&](OpBuilder &body, Location loc, ValueRange values) {
               Value x = values[0], best = values[1];
               Value extreme =
                   found.isMax
                       ? found.takesNaN
                             ? Value(arith::MaximumFOp::create(body, loc, x,
                                                               best))
                             : arith::MaxNumFOp::create(body, loc, x, best)
                   : found.takesNaN
                       ? Value(arith::MinimumFOp::create(body, loc, x, best))
                       : arith::MinNumFOp::create(body, loc, x, best);
               linalg::YieldOp::create(body, loc, extreme);
             })
      .getResult(0);
}

/// Creates the reduction to the index of the first element equal to `top`, or
/// of the last one if `found` says so. It starts from `none`, which stays if
/// there is no such element.
static Value makePlace(OpBuilder &builder, linalg::GenericOp op,
                       const ArgReduction &found, Value top, Value none) {
  OpOperand &x = op->getOpOperand(found.x.getArgNumber());
  OpOperand *init = op.getDpsInitOperand(found.place);
  AffineMap result = op.getMatchingIndexingMap(init);
  auto type = cast<RankedTensorType>(init->get().getType());
  Value empty = tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                        type.getElementType());
  Value start =
      linalg::FillOp::create(builder, op.getLoc(), none, empty).getResult(0);
  return linalg::GenericOp::create(
             builder, op.getLoc(), TypeRange(type), ValueRange{x.get(), top},
             start, ArrayRef{op.getMatchingIndexingMap(&x), result, result},
             op.getIteratorTypesArray(),
             [&](OpBuilder &body, Location loc, ValueRange values) {
               Value is = arith::CmpFOp::create(body, loc, Predicate::UEQ,
                                                values[0], values[1]);
               if (!found.takesNaN) {
                 Value isNumber = arith::CmpFOp::create(
                     body, loc, Predicate::ORD, values[0], values[0]);
                 is = arith::AndIOp::create(body, loc, is, isNumber);
               }
               Value index = arith::IndexCastOp::create(
                   body, loc, none.getType(),
                   linalg::IndexOp::create(body, loc, found.loop));
               Value place =
                   arith::SelectOp::create(body, loc, is, index, none);
               place =
                   found.takesLast
                       ? Value(arith::MaxSIOp::create(body, loc, place,
                                                      values[2]))
                       : arith::MinSIOp::create(body, loc, place, values[2]);
               linalg::YieldOp::create(body, loc, place);
             })
      .getResult(0);
}

/// Returns `place` with the index init of `op` where no element replaced the
/// init of the elements. If the last of equal elements is taken, this is where
/// `place` is still `none`. Otherwise it is where `top`, the largest or
/// smallest element, equals that init.
static Value keepStart(OpBuilder &builder, linalg::GenericOp op,
                       const ArgReduction &found, Value top, Value place,
                       Value none) {
  auto type = cast<RankedTensorType>(place.getType());
  Location loc = op.getLoc();
  Value worst = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(builder.getF32Type(), found.worst));
  Value start = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(type.getElementType(), found.none));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  AffineMap all = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(type), ValueRange{top, place}, empty,
             ArrayRef{all, all, all}, kinds,
             [&](OpBuilder &body, Location loc, ValueRange values) {
               Value isStart =
                   found.takesLast
                       ? Value(arith::CmpIOp::create(body, loc,
                                                     arith::CmpIPredicate::eq,
                                                     values[1], none))
                       : arith::CmpFOp::create(body, loc, Predicate::OEQ,
                                               values[0], worst);
               linalg::YieldOp::create(
                   body, loc,
                   arith::SelectOp::create(body, loc, isStart, start, values[1])
                       .getResult());
             })
      .getResult(0);
}

void layout::splitArgReductions(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    std::optional<ArgReduction> found = matchArgReduction(op);
    if (!found)
      continue;
    OpBuilder builder(op);
    Value top = makeExtreme(builder, op, *found);
    op->getResult(found->best).replaceAllUsesWith(top);
    if (!op->getResult(found->place).use_empty()) {
      int64_t trips = op.getStaticLoopRanges()[found->loop];
      Type type = getElementTypeOrSelf(op->getResult(found->place).getType());
      Value none = arith::ConstantOp::create(
          builder, op.getLoc(),
          builder.getIntegerAttr(type, found->takesLast ? -1 : trips));
      Value place = makePlace(builder, op, *found, top, none);
      // The init can be ignored if every element is at least as good, as for an
      // infinity, and its index is 0 or the last index is taken.
      bool isNeutral = found->takesNaN && found->worst.isInfinity() &&
                       found->worst.isNegative() == found->isMax &&
                       (found->takesLast || found->none.isZero());
      if (!isNeutral)
        place = keepStart(builder, op, *found, top, place, none);
      op->getResult(found->place).replaceAllUsesWith(place);
    }
    op.erase();
  }
}
