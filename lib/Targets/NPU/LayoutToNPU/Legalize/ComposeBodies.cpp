//===- ComposeBodies.cpp - Expansion of ops without a function ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Law: roundings are exact, and NaN stays NaN. Sines are within 1e-6 for
// arguments up to 10^4. A power is that of products or of exp and log.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Emits f32 and i32 arithmetic in a body.
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
  /// Returns the high (`from` = 16) or low (`from` = 0) 16 bits of a 32-bit
  /// word, as a number from 0 to 65535.
  Value half(Value of, int64_t from) {
    if (from)
      return arith::ShRUIOp::create(builder, loc, of, word(from));
    return arith::AndIOp::create(builder, loc, of, word(0xFFFF));
  }
  Value flip(Value bits, int32_t flipped) {
    return arith::XOrIOp::create(builder, loc, bits, word(flipped));
  }
  Value oneIf(arith::CmpFPredicate predicate, Value a, Value b) {
    return select(predicate, a, b, number(1), number(0));
  }
  Value shortToFloat(Value bits, int64_t offset);
  Value wordToFloat(Value word);
  Value erf(Value x);
  Value nearest(Value x);
  Value roundWhole(Value x, function_ref<Value(Value)> correct);
  Value expandRounding(Operation *op);
  Value sine(Value x, bool isCosine);
};
} // namespace

/// Returns `bits - offset` as f32 for `bits` from 0 to 2^23 - 1, which become
/// the mantissa of 2^23 + `bits`.
Value Formula::shortToFloat(Value bits, int64_t offset) {
  Value behind =
      arith::OrIOp::create(builder, loc, bits, word(0x4B000000)); // 2^23
  Value sum =
      arith::BitcastOp::create(builder, loc, builder.getF32Type(), behind);
  return add(sum, number(-float((1 << 23) + offset)));
}

/// Converts i32 to f32 with one rounding, as high * 65536 + low with the signed
/// high and the unsigned low half.
Value Formula::wordToFloat(Value of) {
  // A right shift by 9 or more leaves at most 23 bits, which need no split.
  APInt by;
  if (auto shift = of.getDefiningOp<arith::ShRUIOp>())
    if (matchPattern(shift.getRhs(), m_ConstantInt(&by)) && by.sge(9) &&
        by.slt(32))
      return shortToFloat(of, 0);
  return add(
      mul(shortToFloat(flip(half(of, 16), 0x8000), 0x8000), number(65536)),
      shortToFloat(half(of, 0), 0));
}

/// Approximates erf by Abramowitz and Stegun 7.1.26, with errors below 1.5e-7.
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
  // The sign of x: 2 if x is positive, else 0, minus 1.
  Value sign =
      add(select(arith::CmpFPredicate::OGT, x, number(0), number(2), number(0)),
          number(-1));
  return mul(positive, sign);
}

/// Returns the integer nearest to x, the even one of two, for |x| below 2^22.
Value Formula::nearest(Value x) {
  return add(add(x, number(12582912)), number(-12582912)); // 1.5 * 2^23
}

/// Returns the integer that `correct` makes of the one nearest to x, or x if |x|
/// is at least 2^23, where all numbers are integers, or if x is NaN.
Value Formula::roundWhole(Value x, function_ref<Value(Value)> correct) {
  constexpr float kWhole = 8388608; // 2^23
  Value size = abs(x);
  Value sum = add(add(size, number(kWhole)), number(-kWhole));
  Value whole = select(arith::CmpFPredicate::OLT, x, number(0), neg(sum), sum);
  return select(arith::CmpFPredicate::OLT, size, number(kWhole), correct(whole),
                x);
}

/// Expands a rounding to an integer, or returns a null value for other ops.
Value Formula::expandRounding(Operation *op) {
  using Predicate = arith::CmpFPredicate;
  Value x = op->getNumOperands() == 1 ? op->getOperand(0) : Value();
  auto floor = [&](Value of, Value whole) {
    return arith::SubFOp::create(builder, loc, whole,
                                 oneIf(Predicate::OGT, whole, of))
        .getResult();
  };
  auto isNegative = [&](Value yes, Value no) {
    return select(Predicate::OLT, x, number(0), yes, no);
  };
  if (isa<math::RoundEvenOp>(op))
    return roundWhole(x, [](Value whole) { return whole; });
  if (isa<math::FloorOp>(op))
    return roundWhole(x, [&](Value whole) { return floor(x, whole); });
  auto ceil = [&](Value whole) {
    return add(whole, oneIf(Predicate::OLT, whole, x));
  };
  if (isa<math::CeilOp>(op))
    return roundWhole(x, ceil);
  if (isa<math::TruncOp>(op))
    return roundWhole(x, [&](Value whole) {
      return isNegative(ceil(whole), floor(x, whole));
    });
  // Halves are rounded away from 0: the rest x - nearest(x) is exact.
  if (isa<math::RoundOp>(op))
    return roundWhole(x, [&](Value whole) {
      Value rest = arith::SubFOp::create(builder, loc, x, whole);
      float below = std::nextafter(0.5f, 0.0f);
      Value up = oneIf(Predicate::OGT, rest, number(below));
      Value down = oneIf(Predicate::OLT, rest, number(-below));
      return isNegative(arith::SubFOp::create(builder, loc, whole, down),
                        add(whole, up));
    });
  return {};
}

/// Returns sin(x) or cos(x) within 1e-6 for |x| up to 10^4. With k the integer
/// nearest to x / pi, or to x / pi - 1/2 for the cosine,
///
///     r = x - k * pi (- pi / 2),   sin(x) = (-1)^k sin(r),
///     cos(x) = -(-1)^k sin(r)
///
/// pi consists of three numbers whose products with k are exact.
Value Formula::sine(Value x, bool isCosine) {
  Value turns = mul(x, number(0.318309886f));
  Value k = nearest(isCosine ? add(turns, number(-0.5f)) : turns);
  Value times = isCosine ? add(k, number(0.5f)) : k;
  Value r = x;
  for (float part : {3.140625f, 9.67502593994140625e-4f, 1.509957990978376e-7f})
    r = arith::SubFOp::create(builder, loc, r, mul(times, number(part)));
  Value square = mul(r, r), sum = number(-2.5052108e-8f);
  for (float coefficient :
       {2.7557319e-6f, -1.9841270e-4f, 8.3333333e-3f, -1.6666667e-1f, 1.0f})
    sum = add(mul(sum, square), number(coefficient));
  Value half = mul(k, number(0.5f));
  Value odd = arith::SubFOp::create(builder, loc, half, nearest(half));
  // 1 for an even k, and -1 for an odd one, whose rest is 1/2 or -1/2.
  Value sign = mul(mul(odd, odd), number(-8));
  sign = add(sign, number(1));
  if (isCosine)
    sign = neg(sign);
  return mul(mul(r, sum), sign);
}

/// Returns true if `value`, also as an element of a constant input of the op,
/// is a constant without NaN.
static bool isNumber(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto op =
            dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
        op && argument.getArgNumber() < op.getNumDpsInputs())
      value = op->getOperand(argument.getArgNumber());
  APFloat number(0.0f);
  DenseFPElementsAttr numbers;
  if (matchPattern(value, m_ConstantFloat(&number)))
    return !number.isNaN();
  return matchPattern(value, m_Constant(&numbers)) &&
         llvm::none_of(numbers.getValues<APFloat>(),
                       [](const APFloat &each) { return each.isNaN(); });
}

/// Returns `select`, of the larger or smaller of the compared values, as a max
/// or min op with the same result for NaN. Returns a null value for other
/// selects, or if neither value is known not to be NaN.
static Value getExtreme(Formula &f, arith::CmpFOp compare,
                        arith::SelectOp select) {
  using Predicate = arith::CmpFPredicate;
  Predicate predicate = compare.getPredicate();
  Value a = compare.getLhs(), b = compare.getRhs();
  Value yes = select.getTrueValue(), no = select.getFalseValue();
  bool isGreater = llvm::is_contained(
      {Predicate::OGT, Predicate::OGE, Predicate::UGT, Predicate::UGE},
      predicate);
  bool isLess = llvm::is_contained(
      {Predicate::OLT, Predicate::OLE, Predicate::ULT, Predicate::ULE},
      predicate);
  bool isStraight = yes == a && no == b;
  if ((!isGreater && !isLess) || (!isStraight && !(yes == b && no == a)))
    return {};
  Value known = isNumber(b) ? b : isNumber(a) ? a : Value();
  if (!known)
    return {};
  bool isUnordered = llvm::is_contained(
      {Predicate::UGT, Predicate::UGE, Predicate::ULT, Predicate::ULE},
      predicate);
  // The value that is selected if one of the two is NaN.
  Value chosen = isUnordered ? yes : no, other = known == b ? a : b;
  if (isGreater == isStraight)
    return chosen == known
               ? Value(arith::MaxNumFOp::create(f.builder, f.loc, other, known))
               : Value(
                     arith::MaximumFOp::create(f.builder, f.loc, other, known));
  return chosen == known
             ? Value(arith::MinNumFOp::create(f.builder, f.loc, other, known))
             : Value(arith::MinimumFOp::create(f.builder, f.loc, other, known));
}

/// Returns the f32 number next to `number` in the direction of `to`. Commands
/// flush denormals, so 0 is next to the smallest normal numbers.
static float getNext(float number, float to) {
  float least = std::numeric_limits<float>::min();
  float flushed = std::abs(number) < least ? 0.0f : number;
  if (flushed == 0)
    return std::copysign(least, to);
  float next = std::nextafter(flushed, to);
  return std::abs(next) < least ? 0.0f : next;
}

namespace {
/// Emits selects of `yes` or `no` by a comparison of `a` and `b`, using only
/// comparisons that OKKernel has: OGT, OLT, and, unless `b` is a constant, UEQ.
struct Comparison {
  using Predicate = arith::CmpFPredicate;
  Formula &f;
  Value a, b;
  /// The value of `b` if it is a constant.
  std::optional<float> bound;

  Value isGreater(Value yes, Value no) {
    return f.select(Predicate::OGT, a, b, yes, no);
  }
  Value isLess(Value yes, Value no) {
    return f.select(Predicate::OLT, a, b, yes, no);
  }
  /// Selects `yes` if a == b or one of them is NaN.
  Value isUnorderedOrEqual(Value yes, Value no) {
    return bound ? isGreater(no, isLess(no, yes))
                 : f.select(Predicate::UEQ, a, b, yes, no);
  }
  /// Selects `yes` unless `x` is NaN: each number is above 0 or below 1.
  Value isNumber(Value x, Value yes, Value no) {
    return f.select(Predicate::OGT, x, f.number(0), yes,
                    f.select(Predicate::OLT, x, f.number(1), yes, no));
  }
  Value isOrdered(Value yes, Value no) {
    bool isOne = a == b || bound;
    return isNumber(a, isOne ? yes : isNumber(b, yes, no), no);
  }
  Value isAtLeast(Value yes, Value no) {
    if (!bound)
      return isLess(no, isOrdered(yes, no));
    float infinity = std::numeric_limits<float>::infinity();
    return *bound == -infinity
               ? isOrdered(yes, no)
               : f.select(Predicate::OGT, a,
                          f.number(getNext(*bound, -infinity)), yes, no);
  }
  Value isAtMost(Value yes, Value no) {
    if (!bound)
      return isGreater(no, isOrdered(yes, no));
    float infinity = std::numeric_limits<float>::infinity();
    return *bound == infinity
               ? isOrdered(yes, no)
               : f.select(Predicate::OLT, a,
                          f.number(getNext(*bound, infinity)), yes, no);
  }
  Value isEqual(Value yes, Value no) {
    if (a == b)
      return isOrdered(yes, no);
    if (!bound)
      return isUnorderedOrEqual(isOrdered(yes, no), no);
    if (std::isinf(*bound))
      return *bound > 0 ? isAtLeast(yes, no) : isAtMost(yes, no);
    return isAtLeast(isAtMost(yes, no), no);
  }
  Value expand(Predicate predicate, Value yes, Value no);

  /// Returns true if the predicate holds whenever an operand is NaN.
  static bool isUnordered(Predicate predicate) {
    return llvm::is_contained({Predicate::UEQ, Predicate::UGT, Predicate::UGE,
                               Predicate::ULT, Predicate::ULE, Predicate::UNE,
                               Predicate::UNO, Predicate::AlwaysTrue},
                              predicate);
  }
};
} // namespace

Value Comparison::expand(Predicate predicate, Value yes, Value no) {
  switch (predicate) {
  case Predicate::OGE:
    return isAtLeast(yes, no);
  case Predicate::OLE:
    return isAtMost(yes, no);
  case Predicate::OEQ:
    return isEqual(yes, no);
  case Predicate::ORD:
    return isOrdered(yes, no);
  case Predicate::UEQ:
    return bound ? isUnorderedOrEqual(yes, no) : Value();
  // The other predicates are negations of those above or of OGT and OLT, so
  // `yes` and `no` are swapped.
  case Predicate::ONE:
    return isUnorderedOrEqual(no, yes);
  case Predicate::UGT:
    return isAtMost(no, yes);
  case Predicate::ULT:
    return isAtLeast(no, yes);
  case Predicate::UGE:
    return isLess(no, yes);
  case Predicate::ULE:
    return isGreater(no, yes);
  case Predicate::UNE:
    return isEqual(no, yes);
  case Predicate::UNO:
    return isOrdered(no, yes);
  default:
    return {};
  }
}

/// Returns the predicate p' for which a p' b is b p a.
static arith::CmpFPredicate swapSides(arith::CmpFPredicate predicate) {
  using Predicate = arith::CmpFPredicate;
  static constexpr Predicate kSides[][2] = {{Predicate::OGT, Predicate::OLT},
                                            {Predicate::OGE, Predicate::OLE},
                                            {Predicate::UGT, Predicate::ULT},
                                            {Predicate::UGE, Predicate::ULE}};
  for (auto [one, other] : kSides)
    if (predicate == one || predicate == other)
      return predicate == one ? other : one;
  return predicate;
}

/// Returns true if `value` of a body is an element of the maximum, or of the
/// minimum, of another tensor.
static bool isExtreme(Value value, bool isMax) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto op = argument
                ? dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp())
                : linalg::LinalgOp();
  if (!op || argument.getArgNumber() >= op.getNumDpsInputs())
    return false;
  Value tensor = op->getOperand(argument.getArgNumber());
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         tensor::ExtractSliceOp>(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  auto extreme = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!extreme || extreme.getNumReductionLoops() == 0)
    return false;
  Operation *last =
      extreme.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  return isMax ? isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(last)
               : isa_and_nonnull<arith::MinimumFOp, arith::MinNumFOp>(last);
}

/// Expands a select by a comparison of a maximum with -infinity, or of a minimum
/// with infinity. Window functions return the largest finite number in place of
/// an infinity, so both are compared alike.
static Value compareExtreme(Comparison &comparison,
                            arith::CmpFPredicate predicate, Value yes,
                            Value no) {
  using Predicate = arith::CmpFPredicate;
  bool isMax = *comparison.bound < 0;
  if (predicate == Predicate::OEQ || predicate == Predicate::UEQ) {
    bool isOrdered = predicate == Predicate::OEQ;
    predicate = isMax ? (isOrdered ? Predicate::OLE : Predicate::ULE)
                      : (isOrdered ? Predicate::OGE : Predicate::UGE);
  } else if (predicate == Predicate::ONE || predicate == Predicate::UNE) {
    bool isOrdered = predicate == Predicate::ONE;
    predicate = isMax ? (isOrdered ? Predicate::OGT : Predicate::UGT)
                      : (isOrdered ? Predicate::OLT : Predicate::ULT);
  }
  comparison.bound =
      std::copysign(std::numeric_limits<float>::max(), *comparison.bound);
  comparison.b = comparison.f.number(*comparison.bound);
  if (predicate == Predicate::OGT)
    return comparison.isGreater(yes, no);
  if (predicate == Predicate::OLT)
    return comparison.isLess(yes, no);
  return comparison.expand(predicate, yes, no);
}

/// Expands a select by an f32 comparison into selects by comparisons that
/// OKKernel has. Returns a null value if OKKernel has the comparison itself.
static Value expandCompare(Formula &f, arith::CmpFOp compare, Value yes,
                           Value no) {
  APFloat number(0.0f);
  arith::CmpFPredicate predicate = compare.getPredicate();
  Comparison comparison{f, compare.getLhs(), compare.getRhs(), std::nullopt};
  if (matchPattern(comparison.a, m_ConstantFloat(&number))) {
    std::swap(comparison.a, comparison.b);
    predicate = swapSides(predicate);
  }
  if (matchPattern(comparison.b, m_ConstantFloat(&number))) {
    // A comparison with NaN is true for unordered predicates, else false.
    if (number.isNaN())
      return comparison.isUnordered(predicate) ? yes : no;
    comparison.bound = number.convertToFloat();
    if (number.isInfinity() && isExtreme(comparison.a, number.isNegative()))
      return compareExtreme(comparison, predicate, yes, no);
  }
  return comparison.expand(predicate, yes, no);
}

/// Expands a select by an i32 comparison. By eq or ne, it becomes a select of 1
/// or 0 by eq, which OKKernel has, and a select by that number. By others, it
/// becomes selects by f32 comparisons of the 16-bit halves of the integers.
static Value expandCompare(Formula &f, arith::CmpIOp compare, Value yes,
                           Value no) {
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  Value a = compare.getLhs(), b = compare.getRhs();
  if (predicate == Predicate::eq || predicate == Predicate::ne) {
    if (predicate == Predicate::ne)
      std::swap(yes, no);
    Value is = arith::CmpIOp::create(f.builder, f.loc, Predicate::eq, a, b);
    Value one =
        arith::SelectOp::create(f.builder, f.loc, is, f.number(1), f.number(0));
    return f.select(arith::CmpFPredicate::OGT, one, f.number(0), yes, no);
  }
  // All predicates are a < b with swapped operands or results.
  if (llvm::is_contained(
          {Predicate::sgt, Predicate::sle, Predicate::ugt, Predicate::ule},
          predicate))
    std::swap(a, b);
  if (llvm::is_contained(
          {Predicate::sge, Predicate::sle, Predicate::uge, Predicate::ule},
          predicate))
    std::swap(yes, no);
  bool isSigned = llvm::is_contained(
      {Predicate::slt, Predicate::sgt, Predicate::sle, Predicate::sge},
      predicate);
  auto getHalf = [&](Value of, int64_t from) {
    Value bits = f.half(of, from);
    return f.shortToFloat(isSigned && from ? f.flip(bits, 0x8000) : bits, 0);
  };
  Value highA = getHalf(a, 16), highB = getHalf(b, 16);
  Value low = f.select(arith::CmpFPredicate::OLT, getHalf(a, 0), getHalf(b, 0),
                       yes, no);
  return f.select(arith::CmpFPredicate::OLT, highA, highB, yes,
                  f.select(arith::CmpFPredicate::UEQ, highA, highB, low, no));
}

/// Expands a select: one by and, or, xor or select of conditions into several
/// selects, one by a comparison without OKKernel function into others, and one
/// of the larger or smaller compared value into max or min. Returns a null
/// value if it stays.
static Value expandSelect(Formula &f, arith::SelectOp select) {
  Operation *condition = select.getCondition().getDefiningOp();
  Value yes = select.getTrueValue(), no = select.getFalseValue();
  if (!condition)
    return {};
  auto choose = [&](Value bit, Value yes, Value no) -> Value {
    return arith::SelectOp::create(f.builder, f.loc, bit, yes, no);
  };
  APInt bit;
  if (matchPattern(condition, m_ConstantInt(&bit)))
    return bit.isZero() ? no : yes;
  if (auto both = dyn_cast<arith::AndIOp>(condition))
    return choose(both.getLhs(), choose(both.getRhs(), yes, no), no);
  if (auto any = dyn_cast<arith::OrIOp>(condition))
    return choose(any.getLhs(), yes, choose(any.getRhs(), yes, no));
  if (auto differ = dyn_cast<arith::XOrIOp>(condition))
    return choose(differ.getLhs(), choose(differ.getRhs(), no, yes),
                  choose(differ.getRhs(), yes, no));
  if (auto chosen = dyn_cast<arith::SelectOp>(condition))
    return choose(chosen.getCondition(), choose(chosen.getTrueValue(), yes, no),
                  choose(chosen.getFalseValue(), yes, no));
  if (npu::selectsByEqualWords(select))
    return {};
  if (auto compare = dyn_cast<arith::CmpIOp>(condition))
    return compare.getLhs().getType().isInteger(32)
               ? expandCompare(f, compare, yes, no)
               : Value();
  auto compare = dyn_cast<arith::CmpFOp>(condition);
  if (!compare || !compare.getLhs().getType().isF32())
    return {};
  if (Value extreme =
          select.getType().isF32() ? getExtreme(f, compare, select) : Value())
    return extreme;
  return expandCompare(f, compare, yes, no);
}

/// Emits ops with OKKernel functions that compute the result of `op`, an op of
/// a body, and returns it, or a null value if `op` is not expanded.
static Value expand(Operation *op) {
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  if (!type || (!type.isF32() && !type.isInteger(32)))
    return {};
  OpBuilder builder(op);
  Formula f{builder, op->getLoc()};
  if (auto erf = dyn_cast<math::ErfOp>(op))
    return f.erf(erf.getOperand());
  if (auto abs = dyn_cast<math::AbsFOp>(op))
    return f.abs(abs.getOperand());
  if (isa<math::SinOp, math::CosOp>(op))
    return f.sine(op->getOperand(0), isa<math::CosOp>(op));
  if (Value whole = f.expandRounding(op))
    return whole;
  if (auto fma = dyn_cast<math::FmaOp>(op))
    return f.add(f.mul(fma.getA(), fma.getB()), fma.getC());
  if (auto cast = dyn_cast<arith::SIToFPOp>(op);
      cast && cast.getIn().getType().isInteger(32))
    return f.wordToFloat(cast.getIn());
  // A conversion of i1 to f32 or i32 becomes a select of 1 (-1 if signed) or 0.
  if (isa<arith::UIToFPOp, arith::SIToFPOp, arith::ExtUIOp, arith::ExtSIOp>(
          op) &&
      op->getOperand(0).getType().isInteger(1)) {
    int sign = isa<arith::SIToFPOp, arith::ExtSIOp>(op) ? -1 : 1;
    bool isFloat = type.isF32();
    return arith::SelectOp::create(builder, op->getLoc(), op->getOperand(0),
                                   isFloat ? f.number(sign) : f.word(sign),
                                   isFloat ? f.number(0) : f.word(0));
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return expandSelect(f, select);
  return {};
}

namespace {
/// Expands powers of f32. A constant integer exponent of at most 16 becomes
/// products. Others become
///
///     |x|^y = exp(y * log(|x|)),   negated for an odd y if x is negative,
///
/// NaN if x is negative and y is not an integer, and 1 if y is 0.
struct ExpandPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  static Value makeProduct(Formula &f, Value x, int64_t exponent) {
    Value product;
    for (uint64_t rest = std::abs(exponent); rest; rest >>= 1) {
      if (rest & 1)
        product = product ? f.mul(product, x) : x;
      if (rest > 1)
        x = f.mul(x, x);
    }
    if (!product)
      return f.number(1);
    return exponent < 0
               ? arith::DivFOp::create(f.builder, f.loc, f.number(1), product)
                     .getResult()
               : product;
  }

  static Value makePower(Formula &f, Value x, Value y) {
    using Predicate = arith::CmpFPredicate;
    Value size = f.abs(x);
    Value power = math::ExpOp::create(
        f.builder, f.loc,
        f.mul(y, math::LogOp::create(f.builder, f.loc, size)));
    Value whole = math::RoundEvenOp::create(f.builder, f.loc, y);
    Value half = f.mul(y, f.number(0.5f));
    Value even = math::RoundEvenOp::create(f.builder, f.loc, half);
    Value nan = f.number(std::numeric_limits<float>::quiet_NaN());
    Value ofNegative =
        f.select(Predicate::OEQ, half, even, power,
                 f.select(Predicate::OEQ, y, whole, f.neg(power), nan));
    Value result = f.select(Predicate::OLT, x, f.number(0), ofNegative, power);
    return f.select(Predicate::OEQ, y, f.number(0), f.number(1), result);
  }

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Formula f{rewriter, op.getLoc()};
    APFloat exponent(0.0f);
    bool isProduct = matchPattern(op.getRhs(), m_ConstantFloat(&exponent)) &&
                     exponent.isInteger() &&
                     std::abs(exponent.convertToFloat()) <= 16;
    rewriter.replaceOp(op, isProduct
                               ? makeProduct(f, op.getLhs(),
                                             int64_t(exponent.convertToFloat()))
                               : makePower(f, op.getLhs(), op.getRhs()));
    return success();
  }
};
} // namespace

LogicalResult layout::expandMath(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  patterns.add<ExpandPower>(function.getContext(), /*benefit=*/0);
  populateMathAlgebraicSimplificationPatterns(patterns);
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::LogOp::getOperationName() ||
           name == math::Log2Op::getOperationName() ||
           name == math::Log1pOp::getOperationName() ||
           name == math::ExpM1Op::getOperationName();
  });
  // Only the bodies of linalg.generic are expanded, because the body of a named
  // op must match its name.
  SmallVector<Operation *> ops;
  function.walk([&](linalg::GenericOp op) {
    for (Operation &inner : *op.getBlock())
      if (isa_and_present<math::MathDialect>(inner.getDialect()))
        ops.push_back(&inner);
  });
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  return applyOpPatternsGreedily(ops, std::move(patterns), config);
}

void layout::composeBody(linalg::GenericOp op) {
  // The ops of an expansion are inserted before `inner`, and may be expanded,
  // too.
  for (Operation *inner = &op.getBlock()->front(); inner;) {
    Operation *before = inner->getPrevNode(), *next = inner->getNextNode();
    if (Value value = expand(inner)) {
      inner->getResult(0).replaceAllUsesWith(value);
      inner->erase();
      next = before ? before->getNextNode() : &op.getBlock()->front();
    }
    inner = next;
  }
  // Erase ops without uses, which would keep the body from matching an OKKernel
  // function.
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}
