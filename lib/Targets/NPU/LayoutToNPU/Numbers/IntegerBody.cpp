//===- IntegerBody.cpp - Integer arithmetic as exact f32 arithmetic -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers/IntegerBody.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

using Carried = std::optional<CarriedNumber>;

/// The low bits of x + kNearest are the integer nearest to x, for |x| < 2^22.
static constexpr float kNearest = 12582912.0f; // 1.5 * 2^23

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) ||
      constant.getBitWidth() > 64)
    return std::nullopt;
  return constant.getSExtValue();
}

//===----------------------------------------------------------------------===//
// Arithmetic on f32
//===----------------------------------------------------------------------===//

Value IntegerBody::number(float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}
Value IntegerBody::add(Value a, Value b) {
  return builder.createOrFold<arith::AddFOp>(loc, a, b);
}
Value IntegerBody::mul(Value a, Value b) {
  return builder.createOrFold<arith::MulFOp>(loc, a, b);
}
Value IntegerBody::max(Value a, Value b) {
  return arith::MaximumFOp::create(builder, loc, a, b);
}
Value IntegerBody::min(Value a, Value b) {
  return arith::MinimumFOp::create(builder, loc, a, b);
}

Value IntegerBody::nearest(Value x) {
  return add(add(x, number(kNearest)), number(-kNearest));
}

Value IntegerBody::oneWhere(arith::CmpFPredicate predicate, Value x,
                            float than) {
  return oneIf(arith::CmpFOp::create(builder, loc, predicate, x, number(than)));
}

Value IntegerBody::bits(Value x) {
  return arith::BitcastOp::create(builder, loc, builder.getI32Type(),
                                  add(x, number(kNearest)));
}

Value IntegerBody::byte(Value x, unsigned at) {
  auto constant = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  Value word = bits(x);
  if (at != 3)
    word = arith::AndIOp::create(builder, loc, word, constant(255));
  return at ? arith::ShLIOp::create(builder, loc, word, constant(8 * int(at)))
                  .getResult()
            : word;
}

Value IntegerBody::word(Value x, IntegerRange range) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(int32_t(value)));
  };
  // The low 23 bits of x + 1.5 * 2^23 are those of the integer x with its sign
  // bit inverted.
  auto extend = [&](Value of, int64_t by) -> Value {
    Value up = arith::ShLIOp::create(builder, loc, bits(of), constant(9));
    Value turned =
        arith::XOrIOp::create(builder, loc, up, constant(int64_t(1) << 31));
    return arith::ShRSIOp::create(builder, loc, turned, constant(by));
  };
  if (range.getLargest() < int64_t(1) << 22)
    return extend(x, 9);
  // x = 8 * q + l, 0 <= l <= 7.
  Value q = nearest(mul(x, number(0.125f)));
  Value l = add(x, mul(q, number(-8)));
  Value isLess = oneWhere(arith::CmpFPredicate::OLT, l, 0);
  q = arith::SubFOp::create(builder, loc, q, isLess);
  l = add(l, mul(isLess, number(8)));
  Value low = arith::AndIOp::create(builder, loc, bits(l), constant(7));
  return arith::OrIOp::create(builder, loc, extend(q, 6), low);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Returns the range of all `values`, or std::nullopt if one is unknown.
static std::optional<IntegerRange>
getHull(std::initializer_list<std::optional<int64_t>> values) {
  IntegerRange range{INT64_MAX, INT64_MIN};
  for (std::optional<int64_t> value : values) {
    if (!value)
      return std::nullopt;
    range.low = std::min(range.low, *value);
    range.high = std::max(range.high, *value);
  }
  return range;
}

static std::optional<int64_t> multiply(int64_t a, int64_t b) {
  int64_t product;
  if (llvm::MulOverflow(a, b, product))
    return std::nullopt;
  return product;
}
static std::optional<int64_t> difference(int64_t a, int64_t b) {
  int64_t result;
  if (llvm::SubOverflow(a, b, result))
    return std::nullopt;
  return result;
}
static std::optional<int64_t> sum(int64_t a, int64_t b) {
  int64_t result;
  if (llvm::AddOverflow(a, b, result))
    return std::nullopt;
  return result;
}

Carried IntegerBody::get(Value value) {
  if (auto known = numbers.find(value); known != numbers.end())
    return known->second;
  Carried made;
  if (std::optional<int64_t> constant = getConstant(value)) {
    made = CarriedNumber{{}, {*constant, *constant}};
    if (made->range.isExact())
      made->value = number(float(*constant));
  } else if (Operation *op = value.getDefiningOp()) {
    made = convert(op);
  }
  if (made)
    numbers[value] = *made;
  return made;
}

Carried IntegerBody::getExact(Value value) {
  Carried number = get(value);
  if (number && number->window)
    return std::nullopt;
  return number;
}

/// Converts an addition, subtraction or multiplication of integers to f32. The
/// result has a range but no value if that range exceeds 2^24 or an operand has
/// no value. Returns std::nullopt if the range of an operand is unknown, or if
/// the result may overflow its type and is not exact.
Carried IntegerBody::makeSum(Operation *op) {
  Carried a = getExact(op->getOperand(0)), b = getExact(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  auto [al, ah] = std::pair(a->range.low, a->range.high);
  auto [bl, bh] = std::pair(b->range.low, b->range.high);
  std::optional<IntegerRange> range =
      isa<arith::AddIOp>(op) ? getHull({sum(al, bl), sum(ah, bh)})
      : isa<arith::SubIOp>(op)
          ? getHull({difference(al, bh), difference(ah, bl)})
          : getHull({multiply(al, bl), multiply(al, bh), multiply(ah, bl),
                     multiply(ah, bh)});
  if (!range)
    return std::nullopt;
  Type type = op->getResult(0).getType();
  CarriedNumber made{{}, *range};
  if (!a->value || !b->value || !range->isExact())
    return wrap(made, type);
  if (isa<arith::AddIOp>(op))
    made.value = add(a->value, b->value);
  else if (isa<arith::SubIOp>(op))
    made.value = builder.createOrFold<arith::SubFOp>(loc, a->value, b->value);
  else
    made.value = mul(a->value, b->value);
  return wrap(made, type);
}

/// Converts a comparison of integers that are exact as f32. Returns a null
/// value for others.
/// Neither f32 is NaN, so unordered predicates are used if they expand to fewer
/// selects.
Value IntegerBody::makeComparison(arith::CmpIOp op) {
  using Integer = arith::CmpIPredicate;
  using Float = arith::CmpFPredicate;
  Integer predicate = op.getPredicate();
  bool isUnsigned = llvm::is_contained(
      {Integer::ult, Integer::ule, Integer::ugt, Integer::uge}, predicate);
  if (op.getLhs().getType().isInteger(1) && !isUnsigned &&
      predicate != Integer::eq && predicate != Integer::ne)
    return {};
  Carried a = getExact(op.getLhs()), b = getExact(op.getRhs());
  // Equal integers are compared as they are carried if both have no sign.
  isUnsigned |= (predicate == Integer::eq || predicate == Integer::ne) && a &&
                b && a->range.low >= 0 && b->range.low >= 0;
  auto read = [&](Value value) {
    return isUnsigned ? getUnsigned(value) : getSigned(value);
  };
  a = read(op.getLhs());
  b = read(op.getRhs());
  if (!a || !b || !a->value || !b->value)
    return {};
  auto getPredicate = [&] {
    switch (predicate) {
    case Integer::eq:
      return Float::UEQ;
    case Integer::ne:
      return Float::ONE;
    case Integer::slt:
    case Integer::ult:
      return Float::OLT;
    case Integer::sgt:
    case Integer::ugt:
      return Float::OGT;
    case Integer::sle:
    case Integer::ule:
      return Float::ULE;
    case Integer::sge:
    case Integer::uge:
      return Float::UGE;
    }
    llvm_unreachable("unknown predicate");
  };
  return builder.createOrFold<arith::CmpFOp>(loc, getPredicate(), a->value,
                                             b->value);
}

Carried IntegerBody::makeSelect(arith::SelectOp op) {
  Value condition = getCondition(op.getCondition());
  Carried yes = getExact(op.getTrueValue()), no = getExact(op.getFalseValue());
  if (!condition || !yes || !no || !yes->value || !no->value)
    return std::nullopt;
  return make(builder.createOrFold<arith::SelectOp>(loc, condition, yes->value,
                                                    no->value),
              {std::min(yes->range.low, no->range.low),
               std::max(yes->range.high, no->range.high)});
}

/// Converts an integer maximum or minimum to f32. If the f32 of one operand
/// equals its integer only within a range, the other operand must be a constant
/// in that range, as in a clamp. The f32 of a maximum then equals its integer
/// also below the range, that of a minimum also above it. Otherwise returns
/// std::nullopt.
Carried IntegerBody::makeExtreme(Operation *op, bool isMax) {
  auto read = [&](Value value) {
    Carried number = get(value);
    return number && !number->window ? getSigned(value) : number;
  };
  Carried a = read(op->getOperand(0)), b = read(op->getOperand(1));
  if (!a || !b || !a->value || !b->value)
    return std::nullopt;
  if (b->window)
    std::swap(a, b);
  if (b->window)
    return std::nullopt;
  auto limit = [&](int64_t x, int64_t y) {
    return isMax ? std::max(x, y) : std::min(x, y);
  };
  CarriedNumber result;
  result.range = {limit(a->range.low, b->range.low),
                  limit(a->range.high, b->range.high)};
  if (a->window) {
    int64_t at = b->range.low;
    if (at != b->range.high || at < a->window->low || at > a->window->high)
      return std::nullopt;
    result.window = a->window;
    (isMax ? result.window->low : result.window->high) =
        isMax ? INT64_MIN : INT64_MAX;
    if (result.window->low == INT64_MIN && result.window->high == INT64_MAX)
      result.window.reset();
  }
  result.value = isMax ? max(a->value, b->value) : min(a->value, b->value);
  return result;
}

/// Returns floor(x / divisor) as f32 for x from 0 to 2^20 and a constant
/// `divisor` from 1 to 2^24, or std::nullopt for others.
Carried IntegerBody::makeQuotient(const CarriedNumber &x,
                                  const CarriedNumber &divisor) {
  int64_t by = divisor.range.low;
  if (by != divisor.range.high || by < 1 || by > kExactInteger ||
      x.range.low < 0 || x.range.high > int64_t(1) << 20)
    return std::nullopt;
  // x / by + 1 / (2 by) - 1/2 is at least 1 / (2 by) away from a rounding
  // boundary, which exceeds the error of the product with 1 / by.
  Value shifted = add(mul(x.value, number(1.0f / float(by))),
                      number(0.5f / float(by) - 0.5f));
  return make(nearest(shifted), {x.range.low / by, x.range.high / by});
}

Carried IntegerBody::makeShift(arith::ShRSIOp op) {
  std::optional<int64_t> shift = getConstant(op.getRhs());
  if (!shift || *shift < 1 || *shift > 24)
    return std::nullopt;
  auto sum = op.getLhs().getDefiningOp<arith::AddIOp>();
  Value offset = sum ? sum.getRhs() : Value(), product;
  if (sum)
    product = sum.getLhs();
  if (sum && getConstant(product))
    std::swap(product, offset);
  auto multiplied =
      product ? product.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (multiplied && getConstant(offset) == int64_t(1) << (*shift - 1)) {
    Carried a = get(multiplied.getLhs()), b = get(multiplied.getRhs());
    auto isKnown = [](const Carried &m) {
      return m->constants || m->range.low == m->range.high;
    };
    // The op requantizes only if the sum does not wrap.
    if (a && b && get(op.getLhs()) && (isKnown(a) || isKnown(b)))
      if (Carried made = isKnown(a)
                             ? makeRequantized(multiplied.getRhs(), *a, *shift)
                             : makeRequantized(multiplied.getLhs(), *b, *shift))
        return made;
  }
  Carried x = getSigned(op.getLhs());
  if (!x || !x->value || x->range.getLargest() >= int64_t(1) << 23)
    return std::nullopt;
  // x * part + part / 2 - 1/2 is an odd multiple of part / 2, so it is never
  // halfway between two integers.
  float part = std::ldexp(1.0f, -int(*shift));
  Value shifted = add(mul(x->value, number(part)), number(part / 2 - 0.5f));
  return make(nearest(shifted),
              {x->range.low >> *shift, x->range.high >> *shift});
}

namespace {
/// The multiplier m / 2^s of a requantization (t * m) >> s as the sum of three
/// f32 numbers, and the bound to which |t| is clamped before the
/// multiplication.
struct Multiplier {
  float high = 0, middle = 0, low = 0, most = 0;
};
} // namespace

/// Splits the multiplier of a requantization, size / 2^shift with size = (a *
/// 2^k + b) * 2^l + c for the given k and l, into f32 numbers for a, b and c.
/// Returns std::nullopt unless their products with integers t, |t| <= `most`,
/// are exact as f32. Those of b and c must stay exact when the fraction of the
/// sum before them, at most 1/2, is added.
static std::optional<Multiplier> splitAt(int64_t size, int64_t shift,
                                         int64_t most, int k, int l) {
  auto divide = [](int64_t x, int by) { return (x + (1 << by) / 2) >> by; };
  int64_t upper = divide(size, l), c = size - (upper << l);
  int64_t a = divide(upper, k), b = upper - (a << k);
  auto isExact = [&](int64_t part, int64_t unit) {
    // The product is added to a remainder of at most 1/2; `unit` is 1 in units
    // of the product.
    return most * std::abs(part) + unit / 2 <= kExactInteger;
  };
  int64_t one = int64_t(1) << shift;
  if (!isExact(a, 0) || !isExact(b, one >> l) ||
      !isExact(c, std::min(one, kExactInteger)) || most * std::abs(c) >= one)
    return std::nullopt;
  return Multiplier{std::ldexp(float(a), k + l - int(shift)),
                    std::ldexp(float(b), l - int(shift)),
                    std::ldexp(float(c), -int(shift)), float(most)};
}

/// Splits the multiplier `m` of a requantization t * m >> shift into f32
/// numbers whose products with t are exact. This holds for |t| up to `largest`,
/// or, if less, up to the first |t| whose result exceeds 8 bits. The middle
/// number is 0 if possible. Returns std::nullopt if there are none.
static std::optional<Multiplier> splitMultiplier(int64_t m, int64_t shift,
                                                 int64_t largest) {
  int64_t size = std::abs(m), most = largest;
  if (size >= int64_t(1) << 31)
    return std::nullopt;
  if (size)
    most = std::min(most, llvm::divideCeilSigned(int64_t(128) << shift, size));
  std::optional<Multiplier> parts;
  for (int k = 0; k <= 12 && !parts; ++k)
    for (int l = 0; l <= 24 && !parts; ++l)
      parts = splitAt(size, shift, most, k, l);
  if (parts && m < 0)
    for (float *part : {&parts->high, &parts->middle, &parts->low})
      *part = -*part;
  return parts;
}

/// Emits a requantization, (t * m + 2^(shift - 1)) >> shift with t = `of`, as
/// f32 ops. If t must be clamped for exact products, the f32 equals the integer
/// within -128 to 127 only. Returns std::nullopt if a product is not exact.
Carried IntegerBody::makeRequantized(Value of, CarriedNumber m, int64_t shift) {
  Carried t = get(of);
  if (!t || !t->value || t->window)
    return std::nullopt;
  std::vector<int64_t> multipliers{m.range.low};
  if (m.constants)
    multipliers = *m.constants;
  auto input = [&](ArrayRef<float> each) {
    return m.constants ? addInput(m.input, each) : number(each.front());
  };
  int64_t largest = t->range.getLargest(), reach = 0;
  std::vector<float> high, middle, low, most, least;
  bool isClamped = false;
  for (int64_t each : multipliers) {
    std::optional<Multiplier> parts = splitMultiplier(each, shift, largest);
    if (!parts)
      return std::nullopt;
    high.push_back(parts->high);
    middle.push_back(parts->middle);
    low.push_back(parts->low);
    most.push_back(parts->most);
    least.push_back(-parts->most);
    isClamped |= int64_t(parts->most) < largest;
    reach =
        std::max(reach, (int64_t(parts->most) * std::abs(each) >> shift) + 1);
  }
  if (reach >= int64_t(1) << 21) // too large for `nearest`
    return std::nullopt;
  Value x = t->value;
  if (isClamped) {
    x = max(x, input(least));
    x = arith::MinimumFOp::create(builder, loc, x, input(most));
  }
  Value product = mul(x, input(high));
  Value whole = nearest(product);
  Value rest = arith::SubFOp::create(builder, loc, product, whole);
  if (llvm::any_of(middle, [](float part) { return part != 0; })) {
    Value sum = add(rest, mul(x, input(middle)));
    Value next = nearest(sum);
    rest = arith::SubFOp::create(builder, loc, sum, next);
    whole = add(whole, next);
  }
  rest = add(rest, mul(x, input(low)));
  Value up =
      oneWhere(arith::CmpFPredicate::OGT, rest, std::nextafter(0.5f, 0.0f));
  Value down = oneWhere(arith::CmpFPredicate::OLT, rest, -0.5f);
  Value result = arith::SubFOp::create(builder, loc, add(whole, up), down);
  CarriedNumber made{result, {-reach, reach}};
  if (isClamped)
    made.window = IntegerRange{-128, 127};
  return made;
}

Carried IntegerBody::convert(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<IntegerType, IndexType>(op->getResult(0).getType()))
    return std::nullopt;
  if (op->getResult(0).getType().isInteger(1))
    return makeBit(op->getResult(0), 1);
  return TypeSwitch<Operation *, Carried>(op)
      .Case<arith::ExtSIOp>([&](auto op) {
        return op.getIn().getType().isInteger(1) ? makeBit(op.getIn(), -1)
                                                 : getSigned(op.getIn());
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](Operation *op) {
        Value in = op->getOperand(0);
        return in.getType().isInteger(1) ? makeBit(in, 1) : getUnsigned(in);
      })
      .Case<arith::TruncIOp>(
          [&](auto op) { return wrap(getExact(op.getIn()), op.getType()); })
      .Case<arith::IndexCastOp>(
          [&](auto op) { return wrap(getSigned(op.getIn()), op.getType()); })
      .Case<arith::FPToSIOp, arith::FPToUIOp>(
          [&](Operation *op) { return makeTruncated(op); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>(
          [&](Operation *op) { return makeSum(op); })
      .Case<arith::SelectOp>([&](auto op) { return makeSelect(op); })
      .Case<arith::MaxSIOp>([&](auto op) { return makeExtreme(op, true); })
      .Case<arith::MinSIOp>([&](auto op) { return makeExtreme(op, false); })
      .Case<arith::ShRSIOp>([&](auto op) { return makeShift(op); })
      .Case<arith::MaxUIOp>(
          [&](auto op) { return makeUnsignedExtreme(op, true); })
      .Case<arith::MinUIOp>(
          [&](auto op) { return makeUnsignedExtreme(op, false); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(
          [&](Operation *op) { return makeDivision(op); })
      .Default([](Operation *) { return std::nullopt; });
}
