//===- ExpandMath.cpp - Functions of math as polynomials ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands math functions on f32. libm functions would process the elements of a
// vector one by one. Here, exp, expm1, log, log1p, tanh, erf and powf become
// multiplications, additions and bit operations, the same for vectors and
// scalars, so that the bits of a result do not depend on where a vector ends.
// Products and sums that matter for the error are math.fma, which is not
// reassociated.
//
// The maximum errors over all f32 values, in units in the last place (powf: 40
// million pairs) are as follows. Infinities, NaN, denormal numbers and signed
// zeros are as in C.
//
//   exp 0.99   expm1 1.44   log 0.92   log1p 0.91   tanh 2.19   erf 1.18
//   powf 0.50
//
// `run-math.py` measures them. Upstream's approximations are not used: exp
// returns zero if the result is denormal (an error of 5.9 million units), log
// is similarly wrong for denormal numbers, and the errors of tanh, erf and
// expm1 are 4.1, 4.0 and 3.9 units.
//
// The coefficients minimize the maximum relative error on the stated range.
// They are rounded to f32 one by one, each time refitting the others.
//
//===----------------------------------------------------------------------===//

#include "CpuParams.h"
#include "Kernels/RowMaximum.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "LLVM/ExpandedMath.h"
#include <limits>

namespace mlir::layout {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using P = arith::CmpFPredicate;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// A float near this number has a unit in the last place of 1: kShift as f32,
/// kShiftF64 as f64. Adding a small number to it rounds the number to an
/// integer, which is in the low bits.
constexpr double kShift = 0x1.8p23, kShiftF64 = 0x1.8p52;
/// log(2) as a sum: a number of few significant bits, whose products with small
/// integers are exact, and the remainder.
constexpr double kLog2High = 0x1.62e4p-1, kLog2Low = 0x1.7f7d1cp-20;

/// Emits operations on the float type `element`, and on integers of its width,
/// as scalars or as vectors of the shape of `like`.
class MathEmitter {
public:
  MathEmitter(OpBuilder &builder, Location loc, Type like, FloatType element,
              bool hasLdexp = false)
      : b(loc, builder), real(inShape(like, element)),
        integer(inShape(like, b.getIntegerType(element.getWidth()))),
        hasLdexp(hasLdexp) {}

  static Type inShape(Type like, Type element) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }

  Value number(double value) {
    return constant(real, b.getFloatAttr(getElementTypeOrSelf(real), value));
  }
  Value bits(int64_t value) {
    return constant(integer,
                    b.getIntegerAttr(getElementTypeOrSelf(integer), value));
  }
  /// Emits `Op` on `x` and `y`.
  template <typename Op> Value make(Value x, Value y) {
    return Op::create(b, x, y);
  }
  template <typename Op> Value make(Value x, double y) {
    return Op::create(b, x, number(y));
  }
  /// Emits the integer operation `Op` on `x` and the constant `y`.
  template <typename Op> Value makeBits(Value x, int64_t y) {
    return Op::create(b, x, bits(y));
  }
  Value add(Value x, double y) { return make<arith::AddFOp>(x, y); }
  Value mul(Value x, double y) { return make<arith::MulFOp>(x, y); }
  Value mul(Value x, Value y) { return make<arith::MulFOp>(x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value fma(Value x, double y, Value z) { return fma(x, number(y), z); }
  /// Emits the polynomial with `coefficients`, the highest degree first, as a
  /// polynomial in x^2 whose coefficients are a + b x. Its chain of dependent
  /// ops is half as long as with Horner's rule, for one more op.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum;
    if (coefficients.size() % 2 != 0) {
      sum = number(coefficients.front());
      coefficients = coefficients.drop_front();
    }
    Value square = mul(x, x);
    for (; !coefficients.empty(); coefficients = coefficients.drop_front(2)) {
      Value pair = fma(x, coefficients[0], number(coefficients[1]));
      sum = sum ? fma(sum, square, pair) : pair;
    }
    return sum;
  }
  Value is(P predicate, Value x, double y) {
    return arith::CmpFOp::create(b, predicate, x, number(y));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value both(Value x, Value y) { return make<arith::AndIOp>(x, y); }
  /// Returns x, or `bound` if x is less. NaN stays NaN, because all comparisons
  /// with it are false.
  Value atLeast(Value x, double bound) {
    return select(is(P::OLT, x, bound), number(bound), x);
  }
  Value atMost(Value x, double bound) {
    return select(is(P::OGT, x, bound), number(bound), x);
  }
  Value toBits(Value x) { return arith::BitcastOp::create(b, integer, x); }
  Value toReal(Value x) { return arith::BitcastOp::create(b, real, x); }
  Value magnitude(Value x) { return math::AbsFOp::create(b, x); }
  Value negate(Value x) { return arith::NegFOp::create(b, x); }
  Value withSign(Value x, Value sign) {
    return make<math::CopySignOp>(x, sign);
  }
  /// Converts an integer between -2^22 and 2^22 to f32.
  Value fromSmallInteger(Value n) {
    Value shifted = toReal(make<arith::AddIOp>(n, toBits(number(kShift))));
    return add(shifted, -kShift);
  }
  /// Returns the f32 whose exponent bits are the low bits of `exponent`: 2^n
  /// for n + 127, with n from -126 to 127.
  Value fromExponent(Value exponent) {
    return toReal(makeBits<arith::ShLIOp>(exponent, 23));
  }

  ImplicitLocOpBuilder b;
  Type real, integer;
  bool hasLdexp;

private:
  Value constant(Type type, TypedAttr element) {
    if (auto vector = dyn_cast<VectorType>(type))
      element = DenseElementsAttr::get(vector, Attribute(element));
    return arith::ConstantOp::create(b, element);
  }
};

/// The parts of exp(x) with x = n log(2) + r, where r is in [-log(2)/2,
/// log(2)/2].
struct Exponential {
  Value power; // an integer whose low 9 bits are n plus a bias
  Value rest;  // exp(r) - 1
};

/// Splits exp(x) into its parts. `bias`, which is at most 254, is added to n:
/// the low bits of `power` are the exponent bits of 2^(n + bias - 127).
Exponential reduceExponential(MathEmitter &e, Value x, int64_t bias) {
  Value shifted = e.fma(x, 0x1.715476p0, e.number(kShift + bias));
  Value n = e.add(shifted, -(kShift + bias));
  Value r = e.fma(n, -kLog2Low, e.fma(n, -kLog2High, x));
  Value q = e.polynomial(r, {0x1.9e69e6p-13, 0x1.6d3a38p-10, 0x1.1112dcp-7,
                             0x1.5554f8p-5, 0x1.555554p-3, 0.5});
  return {e.toBits(shifted), e.fma(q, e.mul(r, r), r)};
}

/// Returns exp(x). `x` must be NaN or in [-104, 89]. Callers limit it to this
/// range, at whose ends the result is already 0 and infinity.
Value exponential(MathEmitter &e, Value x) {
  auto vector = dyn_cast<VectorType>(x.getType());
  if (e.hasLdexp && (!vector || vector.getRank() == 1)) {
    Exponential parts = reduceExponential(e, x, 0);
    Value n = e.make<arith::SubIOp>(parts.power, e.toBits(e.number(kShift)));
    // The op of the intrinsic supports only one exponent for all lanes.
    return LLVM::CallIntrinsicOp::create(e.b, x.getType(),
                                         e.b.getStringAttr("llvm.ldexp"),
                                         ValueRange{e.add(parts.rest, 1), n})
        .getResult(0);
  }
  // Two factors, because 2^n may be denormal or infinite. Half of the bias of
  // 254 is that of either factor.
  Exponential parts = reduceExponential(e, x, 254);
  Value half = e.makeBits<arith::ShRUIOp>(parts.power, 1);
  Value other = e.make<arith::SubIOp>(parts.power, half);
  return e.mul(e.mul(e.add(parts.rest, 1), e.fromExponent(half)),
               e.fromExponent(other));
}

/// Returns 2^r for r in [-0.5, 0.5].
Value exp2OfFraction(MathEmitter &e, Value r) {
  return e.polynomial(r, {0x1.4176b2p-13, 0x1.5f0964p-10, 0x1.3b2dd6p-7,
                          0x1.c6af7ap-5, 0x1.ebfbdcp-3, 0x1.62e43p-1, 1.0});
}

/// Returns n log(2) + log(1 + m) for m in [-0.25, 0.5].
Value logarithm(MathEmitter &e, Value n, Value m) {
  Value q =
      e.polynomial(m, {0x1.341cc4p-5, -0x1.750608p-4, 0x1.df1c66p-4,
                       -0x1.04ad32p-3, 0x1.246388p-3, -0x1.5519d6p-3,
                       0x1.999764p-3, -0x1.00006ep-2, 0x1.55555ap-2, -0.5});
  Value low = e.fma(n, kLog2Low, e.mul(q, e.mul(m, m)));
  return e.fma(n, kLog2High, e.make<arith::AddFOp>(m, low));
}

/// Returns n * 2^23, i.e. n at the position of the exponent in an f32, for the
/// n with which x / 2^n is in [0.75, 1.5).
Value exponentBits(MathEmitter &e, Value x) {
  Value above = e.make<arith::SubIOp>(e.toBits(x), e.toBits(e.number(0.75)));
  return e.makeBits<arith::AndIOp>(above, int32_t(0xff800000));
}

Value divideByPower(MathEmitter &e, Value x, Value exponent) {
  return e.toReal(e.make<arith::SubIOp>(e.toBits(x), exponent));
}

Value getPower(MathEmitter &e, Value exponent) {
  return e.fromSmallInteger(e.makeBits<arith::ShRSIOp>(exponent, 23));
}

/// Returns what a logarithm with the pole `least` returns outside of its domain
/// and at its ends: -inf at `least`, NaN below it, and `x` for infinity and
/// NaN. The callers do not use the value for other `x`.
Value logarithmAtEnds(MathEmitter &e, Value x, double least) {
  return e.select(e.is(P::OEQ, x, least), e.number(-kInfinity),
                  e.select(e.is(P::OLT, x, least), e.number(kNaN), x));
}

Value isBetween(MathEmitter &e, Value x, double below, double above) {
  return e.both(e.is(P::OGT, x, below), e.is(P::OLT, x, above));
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// Returns true if all uses of `op` add 1, as in a sigmoid.
bool isAddedToOne(math::ExpOp op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto sum = dyn_cast<arith::AddFOp>(use.getOwner());
    return sum && matchPattern(sum->getOperand(1 - use.getOperandNumber()),
                               m_OneFloat());
  });
}

Value expand(MathEmitter &e, math::ExpOp op, Value x) {
  // Denormal results are lost in the sum; the factor 2 produces infinity.
  if (!e.hasLdexp && isAddedToOne(op)) {
    Exponential parts =
        reduceExponential(e, e.atMost(e.atLeast(x, -87), 89), 126);
    Value half = e.fromExponent(parts.power);
    return e.mul(e.mul(e.add(parts.rest, 1), half), 2);
  }
  Value bounded = e.atLeast(x, -104);
  if (!op->hasAttr(layout::kNotPositiveAttr))
    return exponential(e, e.atMost(bounded, 89));
  if (e.hasLdexp)
    return exponential(e, bounded);
  // The first factor, 2^(n + 64), is normal and not infinite.
  Exponential parts = reduceExponential(e, bounded, 127 + 64);
  return e.mul(e.mul(e.add(parts.rest, 1), e.fromExponent(parts.power)),
               0x1p-64);
}

Value expand(MathEmitter &e, math::ExpM1Op, Value x) {
  constexpr int64_t bias = 126;
  Exponential parts =
      reduceExponential(e, e.atMost(e.atLeast(x, -18), 89), bias);
  // Half of 2^n is finite even if the result is infinity.
  Value half = e.fromExponent(parts.power);
  Value scaled = e.mul(e.fma(parts.rest, half, e.add(half, -0.5)), 2);
  Value isSmall =
      arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq, parts.power,
                            e.toBits(e.number(kShift + bias)));
  return e.withSign(e.select(isSmall, parts.rest, scaled), x);
}

Value expand(MathEmitter &e, math::LogOp, Value x) {
  Value isDenormal = e.is(P::OLT, x, 0x1p-126);
  Value normal = e.select(isDenormal, e.mul(x, 0x1p23), x);
  Value exponent = exponentBits(e, normal);
  Value n = getPower(e, exponent);
  n = e.select(isDenormal, e.add(n, -23), n);
  Value m = e.add(divideByPower(e, normal, exponent), -1);
  return e.select(isBetween(e, x, 0, kInfinity), logarithm(e, n, m),
                  logarithmAtEnds(e, x, 0));
}

Value expand(MathEmitter &e, math::Log1pOp, Value x) {
  Value exponent = exponentBits(e, e.add(x, 1));
  // Computes (1 + x) / 2^n - 1 without the rounding error of 1 + x. 4 / 2^n is
  // normal for all n, but 1 / 2^n is not.
  Value four = divideByPower(e, e.number(4), exponent);
  Value m = e.make<arith::AddFOp>(divideByPower(e, x, exponent),
                                  e.fma(four, 0.25, e.number(-1)));
  Value result = e.withSign(logarithm(e, getPower(e, exponent), m), x);
  return e.select(isBetween(e, x, -1, kInfinity), result,
                  logarithmAtEnds(e, x, -1));
}

Value expand(MathEmitter &e, math::TanhOp, Value x) {
  // tanh(a) = b / (b + 2) with b = exp(2a) - 1. It is 1 for 10 and above.
  Value doubled = e.atMost(e.mul(e.magnitude(x), 2), 20);
  Exponential parts = reduceExponential(e, doubled, /*bias=*/127);
  Value power = e.fromExponent(parts.power);
  Value b = e.fma(parts.rest, power, e.add(power, -1));
  return e.withSign(e.make<arith::DivFOp>(b, e.add(b, 2)), x);
}

Value expand(MathEmitter &e, math::ErfOp, Value x) {
  // For 4 and above, 1 - erf is less than half of the last digit of 1.
  Value a = e.atMost(e.magnitude(x), 4);
  Value q =
      e.polynomial(e.mul(a, a), {-0x1.30afa8p-11, 0x1.44c994p-8, -0x1.b6198ap-6,
                                 0x1.ce12p-4, -0x1.8126aep-2, 0x1.06eba4p-3});
  Value small = e.fma(q, a, a);
  Value log2OfRest = e.polynomial(
      a, {0x1.21b2f4p-12, -0x1.1b99e4p-8, 0x1.049f7p-5, -0x1.3200cp-3,
          -0x1.d6f832p-1, -0x1.a06468p+0, -0x1.83ee5ap-12});
  Value shifted = e.add(log2OfRest, kShift + 127);
  Value r = e.make<arith::SubFOp>(log2OfRest, e.add(shifted, -(kShift + 127)));
  Value large = e.fma(e.negate(exp2OfFraction(e, r)),
                      e.fromExponent(e.toBits(shifted)), e.number(1));
  return e.withSign(e.select(e.is(P::OLT, a, 0.95), small, large), x);
}

/// Returns log2 of the magnitude of `x`, an f32 value that was extended to f64.
/// Zero becomes -inf; infinity and NaN have the results infinity and NaN.
Value log2Magnitude(MathEmitter &e, Value x) {
  Value a = e.magnitude(x), all = e.toBits(a);
  // a = 2^(n - 1022) m with m in [sqrt(1/2), sqrt(2)).
  Value above = e.makeBits<arith::SubIOp>(all, 0x6a09e667f3bcd);
  Value n = e.makeBits<arith::ShRUIOp>(above, 52);
  Value exponent =
      e.makeBits<arith::ShLIOp>(e.makeBits<arith::SubIOp>(n, 1022), 52);
  Value m = e.toReal(e.make<arith::SubIOp>(all, exponent));
  Value power =
      e.add(e.toReal(e.make<arith::OrIOp>(n, e.toBits(e.number(0x1p52)))),
            -(0x1p52 + 1022));
  Value s = e.make<arith::DivFOp>(e.add(m, -1), e.add(m, 1));
  Value q =
      e.polynomial(e.mul(s, s), {0x1.21b2070b964d6p-2, 0x1.4795453e5dc07p-2,
                                 0x1.a61a2f1eb17b7p-2, 0x1.2776c292ee4ffp-1,
                                 0x1.ec709dc53ca9fp-1, 0x1.71547652b8251p+1});
  Value log = e.fma(q, s, power);
  log = e.select(e.is(P::OEQ, a, 0), e.number(-kInfinity), log);
  return e.select(e.is(P::OLT, a, kInfinity), log, a);
}

/// Returns 2^x as f64. `x` is limited to [-300, 300], beyond which the f32
/// results are 0 and infinity.
Value exp2(MathEmitter &e, Value x) {
  x = e.atMost(e.atLeast(x, -300), 300);
  Value shifted = e.add(x, kShiftF64);
  Value r = e.make<arith::SubFOp>(x, e.add(shifted, -kShiftF64));
  Value q = e.polynomial(r, {0x1.61c503d8a882dp-20, 0x1.00d853b0e428bp-16,
                             0x1.430aa8733c38ap-13, 0x1.5d874d0650c34p-10,
                             0x1.3b2ab5ed77681p-7, 0x1.c6b08dced3df4p-5,
                             0x1.ebfbdff8ede3bp-3, 0x1.62e42fef89d1ep-1, 1.0});
  Value exponent = e.makeBits<arith::ShLIOp>(e.toBits(shifted), 52);
  return e.toReal(e.make<arith::AddIOp>(e.toBits(q), exponent));
}

Value expand(MathEmitter &e, math::PowFOp op, Value x) {
  Value y = op.getRhs();
  APFloat constant(0.0f);
  if (matchPattern(y, m_ConstantFloat(&constant))) {
    if (constant.isExactlyValue(2))
      return e.mul(x, x);
    if (constant.isExactlyValue(3))
      return e.mul(e.mul(x, x), x);
  }
  MathEmitter wide(e.b, op.getLoc(), x.getType(), e.b.getF64Type());
  auto extend = [&](Value each) -> Value {
    return arith::ExtFOp::create(e.b, wide.real, each);
  };
  Value log = log2Magnitude(wide, extend(x));
  // The magnitude 1 stays 1, even to the power of infinity.
  Value isOne = e.both(wide.is(P::OEQ, log, 0), e.is(P::ORD, y, 0));
  Value product = wide.select(isOne, wide.number(0), wide.mul(extend(y), log));
  Value result = arith::TruncFOp::create(e.b, e.real, exp2(wide, product));

  // A negative number has a power if the exponent is an integer; odd ones keep
  // the sign.
  auto isInteger = [&](P predicate, Value each) -> Value {
    return arith::CmpFOp::create(e.b, predicate,
                                 math::TruncOp::create(e.b, each), each);
  };
  Value isOdd = e.both(isInteger(P::OEQ, y), isInteger(P::ONE, e.mul(y, 0.5)));
  result = e.select(isOdd, e.withSign(result, x), result);
  Value isOutside =
      e.both(isBetween(e, x, -kInfinity, 0), isInteger(P::UNE, y));
  result = e.select(isOutside, e.number(kNaN), result);
  Value isUnit = e.make<arith::OrIOp>(e.is(P::OEQ, x, 1), e.is(P::OEQ, y, 0));
  return e.select(isUnit, e.number(1), result);
}

template <typename OpTy> struct Expand : OpRewritePattern<OpTy> {
  Expand(MLIRContext *context, bool hasLdexp)
      : OpRewritePattern<OpTy>(context), hasLdexp(hasLdexp) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32() || isa<TensorType>(type))
      return rewriter.notifyMatchFailure(op, "is not of f32");
    MathEmitter e(rewriter, op.getLoc(), type, rewriter.getF32Type(), hasLdexp);
    rewriter.replaceOp(op, expand(e, op, op->getOperand(0)));
    return success();
  }

  bool hasLdexp;
};

template <typename... Ops>
void populate(layout::OpSet<Ops...>, RewritePatternSet &patterns,
              bool hasLdexp) {
  patterns.add<Expand<Ops>...>(patterns.getContext(), hasLdexp);
  populateMathF32ExpansionPatterns(patterns, [](StringRef name) {
    return llvm::is_contained({Ops::getOperationName()...}, name);
  });
}

struct ExpandMath : layout::impl::ExpandMathPassBase<ExpandMath> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populate(layout::ExpandedMath(), patterns,
             layout::isAVX512(layout::getCpuParams(getOperation())));
    GreedyRewriteConfig config;
    config.enableFolding(false);
    // Only math ops are rewritten; other ops are many.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
    if (failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
      return signalPassFailure();
    getOperation()->walk(layout::expandMaxima);
  }
};
} // namespace
