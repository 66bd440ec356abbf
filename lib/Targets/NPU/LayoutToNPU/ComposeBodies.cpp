//===- ComposeBodies.cpp - What no function computes, by some that do -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrepareForCores.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Arithmetic on f32.
struct Formula {
  OpBuilder &builder;
  Location loc;

  Value number(float value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value neg(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value abs(Value a) {
    return arith::MaximumFOp::create(builder, loc, a, neg(a));
  }
  Value select(arith::CmpFPredicate predicate, Value a, Value b, Value yes,
               Value no) {
    Value is = arith::CmpFOp::create(builder, loc, predicate, a, b);
    return arith::SelectOp::create(builder, loc, is, yes, no);
  }
  Value word(int32_t value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  }
  Value shortToFloat(Value bits, int64_t offset);
  Value wordToFloat(Value word);
  Value erf(Value x);
};
} // namespace

/// `bits - offset` of a word of at most 23 bits: those behind an exponent of
/// 2^23.
Value Formula::shortToFloat(Value bits, int64_t offset) {
  Value behind =
      arith::OrIOp::create(builder, loc, bits, word(0x4B000000)); // 2^23
  Value sum =
      arith::BitcastOp::create(builder, loc, builder.getF32Type(), behind);
  return add(sum, number(-float((1 << 23) + offset)));
}

/// Two halves, of which the high one has the sign, rounded once.
Value Formula::wordToFloat(Value of) {
  // No more than 23 bits are left.
  APInt by;
  if (auto shift = of.getDefiningOp<arith::ShRUIOp>())
    if (matchPattern(shift.getRhs(), m_ConstantInt(&by)) && by.sge(9) &&
        by.slt(32))
      return shortToFloat(of, 0);
  Value low = arith::AndIOp::create(builder, loc, of, word(0xFFFF));
  Value high = arith::ShRUIOp::create(builder, loc, of, word(16));
  high = arith::XOrIOp::create(builder, loc, high, word(0x8000));
  return add(mul(shortToFloat(high, 0x8000), number(65536)),
             shortToFloat(low, 0));
}

/// Abramowitz and Stegun 7.1.26: within 1.5e-7 of it.
Value Formula::erf(Value x) {
  Value size = abs(x);
  Value t = arith::DivFOp::create(
      builder, loc, number(1), add(mul(size, number(0.3275911f)), number(1)));
  Value sum = number(1.061405429f);
  for (float coefficient :
       {-1.453152027f, 1.421413741f, -0.284496736f, 0.254829592f})
    sum = add(mul(sum, t), number(coefficient));
  Value square = mul(x, x);
  Value tail = mul(mul(sum, t), math::ExpOp::create(builder, loc, neg(square)));
  Value positive = arith::SubFOp::create(builder, loc, number(1), tail);
  // 2 where x is positive, less 1: the sign.
  Value sign =
      add(select(arith::CmpFPredicate::OGT, x, number(0), number(2), number(0)),
          number(-1));
  return mul(positive, sign);
}

/// Writes an op of a body by others; null where that is not needed or known.
static Value expand(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return {};
  OpBuilder builder(op);
  Formula f{builder, op->getLoc()};
  if (auto erf = dyn_cast<math::ErfOp>(op))
    return f.erf(erf.getOperand());
  if (auto abs = dyn_cast<math::AbsFOp>(op))
    return f.abs(abs.getOperand());
  if (auto fma = dyn_cast<math::FmaOp>(op))
    return f.add(f.mul(fma.getA(), fma.getB()), fma.getC());
  if (auto cast = dyn_cast<arith::SIToFPOp>(op);
      cast && cast.getIn().getType().isInteger(32))
    return f.wordToFloat(cast.getIn());
  auto select = dyn_cast<arith::SelectOp>(op);
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                        : arith::CmpFOp();
  if (!compare || !compare.getLhs().getType().isF32())
    return {};
  using Predicate = arith::CmpFPredicate;
  Value a = compare.getLhs(), b = compare.getRhs();
  Value yes = select.getTrueValue(), no = select.getFalseValue();
  switch (compare.getPredicate()) {
  case Predicate::OGE:
  case Predicate::OLE: {
    Predicate strict = compare.getPredicate() == Predicate::OGE
                           ? Predicate::OGT
                           : Predicate::OLT;
    return f.select(strict, a, b, yes, f.select(Predicate::OEQ, a, b, yes, no));
  }
  // The others are those, negated.
  case Predicate::UGE:
    return f.select(Predicate::OLT, a, b, no, yes);
  case Predicate::ULE:
    return f.select(Predicate::OGT, a, b, no, yes);
  case Predicate::UNE:
    return f.select(Predicate::OEQ, a, b, no, yes);
  default:
    return {};
  }
}

void layout::composeBody(linalg::GenericOp op) {
  for (Operation &inner : llvm::make_early_inc_range(*op.getBlock()))
    if (Value value = expand(&inner)) {
      inner.getResult(0).replaceAllUsesWith(value);
      inner.erase();
    }
  // What nothing uses any more is no function to find.
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}
