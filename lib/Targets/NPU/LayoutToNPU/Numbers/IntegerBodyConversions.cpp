//===- IntegerBodyConversions.cpp - Signs, wraps and conversions ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers/FloatRanges.h"
#include "Numbers/IntegerBody.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

using Carried = std::optional<CarriedNumber>;
using Predicate = arith::CmpFPredicate;

/// The bound of f32 numbers up to which IntegerBody::nearest is right.
static constexpr int64_t kRoundable = int64_t(1) << 22;

static unsigned getBits(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth
                        : type.getIntOrFloatBitWidth();
}

Value IntegerBody::oneIf(Value condition) {
  return arith::SelectOp::create(builder, loc, condition, number(1), number(0));
}

//===----------------------------------------------------------------------===//
// Signs and wraps
//===----------------------------------------------------------------------===//

/// Returns `number` modulo 2^b in the bounds of an integer of b bits. It stays
/// if its range is within these, and is std::nullopt if it is not exact.
Carried IntegerBody::wrap(Carried number, Type type) {
  unsigned bits = getBits(type);
  if (!number)
    return number;
  IntegerRange &range = number->range;
  bool isSmall = bits < 22;
  if (llvm::isIntN(bits, range.low) &&
      (llvm::isIntN(bits, range.high) ||
       (isSmall && llvm::isUIntN(bits, range.high))))
    return number;
  if (isSmall && range.low >= 0 && llvm::isUIntN(bits, range.high))
    return number;
  if (!number->value || !isSmall || range.getLargest() >= kRoundable)
    return std::nullopt;
  // (2x + 1) / 2^(b+1) is never halfway between two integers.
  float part = std::ldexp(1.0f, -int(bits));
  Value times = nearest(
      add(mul(number->value, this->number(part)), this->number(part / 2)));
  Value value = add(number->value,
                    mul(times, this->number(-std::ldexp(1.0f, int(bits)))));
  int64_t half = int64_t(1) << (bits - 1);
  return make(value, {-half, half - 1});
}

Carried IntegerBody::withSign(CarriedNumber number, Type type) {
  unsigned bits = getBits(type);
  if (llvm::isIntN(bits, number.range.high))
    return number;
  if (!number.value)
    return std::nullopt;
  int64_t count = int64_t(1) << bits;
  Value isLarge =
      oneWhere(Predicate::OGT, number.value, float(count / 2) - 0.5f);
  return make(add(number.value, mul(isLarge, this->number(-float(count)))),
              {-count / 2, count / 2 - 1});
}

Carried IntegerBody::withoutSign(CarriedNumber number, Type type) {
  unsigned bits = getBits(type);
  if (number.range.low >= 0)
    return number;
  if (!number.value || bits >= 22)
    return std::nullopt;
  int64_t count = int64_t(1) << bits;
  Value isNegative = oneWhere(Predicate::OLT, number.value, 0);
  return make(add(number.value, mul(isNegative, this->number(float(count)))),
              {0, count - 1});
}

Carried IntegerBody::getSigned(Value value) {
  Carried number = getExact(value);
  return number ? withSign(*number, value.getType()) : number;
}

Carried IntegerBody::getUnsigned(Value value) {
  Carried number = getExact(value);
  return number ? withoutSign(*number, value.getType()) : number;
}

/// Converts an unsigned maximum or minimum to f32, or returns std::nullopt if an
/// operand is not exact.
Carried IntegerBody::makeUnsignedExtreme(Operation *op, bool isMax) {
  Carried a = getUnsigned(op->getOperand(0)),
          b = getUnsigned(op->getOperand(1));
  if (!a || !b || !a->value || !b->value)
    return std::nullopt;
  auto limit = [&](int64_t x, int64_t y) {
    return isMax ? std::max(x, y) : std::min(x, y);
  };
  return wrap(make(isMax ? max(a->value, b->value) : min(a->value, b->value),
                   {limit(a->range.low, b->range.low),
                    limit(a->range.high, b->range.high)}),
              op->getResult(0).getType());
}

/// Converts a division or a remainder to f32. Requires a constant divisor and a
/// dividend from 0 to 2^20, or operands up to 2^20; returns std::nullopt for
/// others. With
///
///     q = nearest(|a| / |b|),   r = |a| - q * |b|,   q - 1 if r < 0
///
/// the quotient of the chip may be wrong in its last bits. The absolute
/// quotient has the sign of a * b.
Carried IntegerBody::makeDivision(Operation *op) {
  bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp>(op);
  bool isRemainder = isa<arith::RemUIOp, arith::RemSIOp>(op);
  Value of = op->getOperand(0), by = op->getOperand(1);
  Carried a = isUnsigned ? getUnsigned(of) : getSigned(of);
  Carried b = isUnsigned ? getUnsigned(by) : getSigned(by);
  constexpr int64_t kMost = int64_t(1) << 20;
  if (!a || !b || !a->value || !b->value)
    return std::nullopt;
  Carried quotient = makeQuotient(*a, *b);
  if (!quotient) {
    int64_t most = a->range.getLargest();
    if (most > kMost || b->range.getLargest() > kMost)
      return std::nullopt;
    auto size = [&](const CarriedNumber &x) {
      return x.range.low >= 0 ? x.value
                              : max(x.value, mul(x.value, number(-1)));
    };
    Value whole = size(*a), part = size(*b);
    Value times =
        nearest(arith::DivFOp::create(builder, loc, whole, part).getResult());
    Value rest = arith::SubFOp::create(builder, loc, whole, mul(times, part));
    Value result = arith::SubFOp::create(builder, loc, times,
                                         oneWhere(Predicate::OLT, rest, 0));
    int64_t low = 0;
    if (a->range.low < 0 || b->range.low < 0) {
      Value sign = arith::CmpFOp::create(builder, loc, Predicate::OLT,
                                         mul(a->value, b->value), number(0));
      result = arith::SelectOp::create(builder, loc, sign,
                                       mul(result, number(-1)), result);
      low = -most;
    }
    quotient = make(result, {low, most});
  }
  if (!isRemainder)
    return wrap(quotient, op->getResult(0).getType());
  int64_t most = std::min(a->range.getLargest(),
                          std::max<int64_t>(b->range.getLargest() - 1, 0));
  Value rest = arith::SubFOp::create(builder, loc, a->value,
                                     mul(quotient->value, b->value));
  return wrap(
      make(rest, {a->range.low < 0 ? -most : 0, a->range.high > 0 ? most : 0}),
      op->getResult(0).getType());
}

//===----------------------------------------------------------------------===//
// Conditions and f32 numbers
//===----------------------------------------------------------------------===//

/// Returns `one` if the i1 `condition` of the body holds, else 0.
Carried IntegerBody::makeBit(Value condition, int64_t one) {
  Value is = getCondition(condition);
  if (!is)
    return std::nullopt;
  Value value =
      arith::SelectOp::create(builder, loc, is, number(float(one)), number(0));
  return make(value, {std::min<int64_t>(one, 0), std::max<int64_t>(one, 0)});
}

Value IntegerBody::getCondition(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    if (Value ofNumbers = makeComparison(compare))
      return ofNumbers;
    Value a = getWord(compare.getLhs()), b = getWord(compare.getRhs());
    return a && b ? arith::CmpIOp::create(builder, loc, compare.getPredicate(),
                                          a, b)
                        .getResult()
                  : Value();
  }
  if (auto bit = dyn_cast_or_null<arith::TruncIOp>(op)) {
    // A byte that holds an i1.
    Carried byte = getExact(bit.getIn());
    if (!byte || !byte->value || byte->range.low < 0 || byte->range.high > 1)
      return {};
    return arith::CmpFOp::create(builder, loc, Predicate::OGT, byte->value,
                                 number(0.5f));
  }
  if (!isa_and_nonnull<arith::CmpFOp, arith::AndIOp, arith::OrIOp,
                       arith::XOrIOp, arith::SelectOp>(op) &&
      !matchPattern(value, m_Constant()))
    return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value number = operand.getType().isInteger(1) ? getCondition(operand)
                                                  : getFloat(operand);
    if (!number)
      return {};
    mapping.map(operand, number);
  }
  return builder.clone(*op, mapping)->getResult(0);
}

Value IntegerBody::getWord(Value value) {
  if (auto known = words.find(value); known != words.end())
    return known->second;
  return value.getType().isInteger(32) && matchPattern(value, m_Constant())
             ? builder.clone(*value.getDefiningOp())->getResult(0)
             : Value();
}

Value IntegerBody::getFloat(Value value) {
  if (auto known = numbers.find(value); known != numbers.end())
    return known->second.value;
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isF32() || op->getNumRegions() ||
      op->getNumResults() != 1)
    return {};
  Value made;
  if (Value word =
          isa<arith::SIToFPOp>(op) ? getWord(op->getOperand(0)) : Value()) {
    made = arith::SIToFPOp::create(builder, loc, builder.getF32Type(), word);
  } else if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    Value in = op->getOperand(0);
    bool isSigned = isa<arith::SIToFPOp>(op);
    Carried integer = in.getType().isInteger(1) ? makeBit(in, isSigned ? -1 : 1)
                      : isSigned                ? getSigned(in)
                                                : getUnsigned(in);
    made = integer ? integer->value : Value();
  } else {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value number = operand.getType().isInteger(1) ? getCondition(operand)
                                                    : getFloat(operand);
      if (!number)
        return {};
      mapping.map(operand, number);
    }
    made = builder.clone(*op, mapping)->getResult(0);
  }
  if (made)
    numbers[value] = {made, {}};
  return made;
}

/// Returns true if an f32 of a body is an integer, or infinite or NaN.
static bool isWhole(Value value) {
  Operation *op = value.getDefiningOp();
  APFloat constant(0.0f);
  if (matchPattern(value, m_ConstantFloat(&constant)))
    return constant.isInteger() || !constant.isFinite();
  if (isa_and_nonnull<math::RoundEvenOp, math::FloorOp, math::CeilOp,
                      math::TruncOp, math::RoundOp, arith::SIToFPOp,
                      arith::UIToFPOp>(op))
    return true;
  return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MaximumFOp,
                         arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(
             op) &&
         llvm::all_of(op->getOperands(), isWhole);
}

/// Converts a conversion of f32 to an integer, which truncates, to f32. Numbers
/// beyond the type of the result may have any result. Returns std::nullopt if
/// the numbers may exceed 2^22.
Carried IntegerBody::makeTruncated(Operation *op) {
  Value in = op->getOperand(0);
  Value x = in.getType().isF32() ? getFloat(in) : Value();
  unsigned bits = getBits(op->getResult(0).getType());
  if (!x)
    return std::nullopt;
  // Roundings keep integer bounds.
  Value rounded = in;
  while (isa_and_nonnull<math::RoundEvenOp, math::FloorOp, math::CeilOp,
                         math::TruncOp, math::RoundOp>(rounded.getDefiningOp()))
    rounded = rounded.getDefiningOp()->getOperand(0);
  FloatRange floats = FloatRanges().get(rounded);
  bool isSigned = isa<arith::FPToSIOp>(op);
  double low = std::max(std::floor(double(floats.low)),
                        isSigned ? -std::ldexp(1.0, int(bits) - 1) : 0.0);
  double high = std::min(std::ceil(double(floats.high)),
                         std::ldexp(1.0, int(bits) - int(isSigned)) - 1);
  if (low > high || std::max(-low, high) >= double(kRoundable))
    return std::nullopt;
  IntegerRange range{int64_t(low), int64_t(high)};
  if (isWhole(in))
    return make(x, range);
  Value whole = nearest(x);
  auto correct = [&](Predicate predicate, float by) {
    Value is = arith::CmpFOp::create(builder, loc, predicate, whole, x);
    return add(whole, mul(oneIf(is), number(by)));
  };
  Value down = correct(Predicate::OGT, -1);
  if (low >= 0)
    return make(down, range);
  Value isPositive =
      arith::CmpFOp::create(builder, loc, Predicate::OGT, x, number(0));
  return make(arith::SelectOp::create(builder, loc, isPositive, down,
                                      correct(Predicate::OLT, 1)),
              range);
}
