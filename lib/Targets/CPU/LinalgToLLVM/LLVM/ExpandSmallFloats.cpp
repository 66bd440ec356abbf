//===- ExpandSmallFloats.cpp - Floats of at most 8 bits as integers -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands floats of 4, 6 and 8 bits, which LLVM does not have: in memory, they
// are integers. Conversions become integer operations, by the format that
// APFloat describes:
//
//   to f32     The digits are moved to their position in f16, whose conversion
//              to f32 is fast for denormal numbers, too, and multiplied by the
//              power of two between the biases, which is exact. A format with
//              exponents beyond those of f16 is moved to f32 instead.
//   from f32   A normal number is rounded to nearest, ties to even, by adding
//              half of the last digit. A denormal number is rounded by adding
//              the number whose last digit is that of a denormal number.
//
// A value of f8E8M0FNU is the exponent of a power of two. Its conversions move
// the exponent. Ties are rounded up, because each significand is 1.
//
// Other operations are computed in f32, and each result is rounded.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>

namespace mlir::layout {
#define GEN_PASS_DEF_EXPANDSMALLFLOATSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using llvm::APFloat;

namespace {
constexpr int64_t kHalfMantissa = 10, kHalfBias = 15;

/// Describes a float type of at most 8 bits. `largest`, `nan` and `infinity`
/// are bit patterns.
struct SmallFloat {
  unsigned width;
  bool isExponent;  // f8E8M0FNU: neither a sign nor a mantissa, nor a zero
  int64_t mantissa; // bits
  int64_t bias;
  int64_t largest;            // bit patterns without a sign
  std::optional<int64_t> nan; // the sign bit if there is no negative zero
  std::optional<int64_t> infinity;

  static std::optional<SmallFloat> get(Type type) {
    auto floatType = dyn_cast<FloatType>(type);
    if (!floatType || floatType.getWidth() > 8)
      return std::nullopt;
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    auto bits = [](const APFloat &value) -> int64_t {
      return value.bitcastToAPInt().getZExtValue();
    };
    SmallFloat format;
    format.width = floatType.getWidth();
    format.isExponent = !APFloat::semanticsHasSignedRepr(semantics);
    format.mantissa = APFloat::semanticsPrecision(semantics) - 1;
    // The bias is that of the exponent 1, or of 0 if 0 is not denormal.
    format.bias = !format.isExponent - APFloat::semanticsMinExponent(semantics);
    format.largest = bits(APFloat::getLargest(semantics));
    if (APFloat::semanticsHasNaN(semantics))
      format.nan = bits(APFloat::getNaN(semantics));
    if (APFloat::semanticsHasInf(semantics))
      format.infinity = bits(APFloat::getInf(semantics));
    return format;
  }

  int64_t getSignBit() const { return int64_t(1) << (width - 1); }
  bool hasNegativeZero() const { return nan != getSignBit(); }
  /// Returns true if each number, divided by 2^(15 - bias), is an f16 with the
  /// same exponent field.
  bool fitsHalf() const {
    int64_t exponent = width - 1 - mantissa;
    return !isExponent && (exponent < 5 || (exponent == 5 && infinity));
  }
  /// Returns the bits that a number beyond the largest one is converted to:
  /// infinity, else NaN, else the largest number.
  int64_t getOverflow() const {
    return infinity.value_or(nan.value_or(largest));
  }
};

/// Emits operations on one integer type and on the float type of its width, or
/// on f32 if it has 16 bits.
class SmallFloatEmitter {
public:
  SmallFloatEmitter(OpBuilder &builder, Location loc, unsigned width)
      : b(loc, builder), integer(b.getIntegerType(width)),
        real(width == 64 ? Type(b.getF64Type()) : Type(b.getF32Type())) {}

  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(integer, value));
  }
  Value powerOfTwo(int64_t exponent) {
    return arith::ConstantOp::create(
        b, b.getFloatAttr(real, std::ldexp(1.0, static_cast<int>(exponent))));
  }
  template <typename Op> Value make(Value x, int64_t y) {
    return Op::create(b, x, constant(y));
  }
  Value is(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return arith::CmpIOp::create(b, predicate, x, constant(y));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value toBits(Value x) { return arith::BitcastOp::create(b, integer, x); }
  Value toReal(Value x) { return arith::BitcastOp::create(b, real, x); }

  ImplicitLocOpBuilder b;
  Type integer, real;
};

/// Returns the power of two with the biased exponent `byte` as f32, or NaN if
/// `byte` stands for NaN.
Value extendExponent(SmallFloatEmitter &e, Value byte) {
  // The bits of 2^-127, and the one that makes the infinity of the byte 255 NaN.
  // There is no selection, which LLVM would emit on vectors.
  constexpr int64_t denormal = 0x400000;
  Value number =
      e.make<arith::MaxUIOp>(e.make<arith::ShLIOp>(byte, 23), denormal);
  Value isNaN = e.make<arith::ShRUIOp>(e.make<arith::AddIOp>(byte, 1), 8);
  return e.toReal(
      arith::OrIOp::create(e.b, number, e.make<arith::ShLIOp>(isNaN, 22)));
}

/// Returns the bits of the f16 with the sign, the digits and the exponent field
/// of `x`, which has a small float type. Its value is that of `x` divided by
/// 2^(15 - bias). Infinity and NaN become those of f16.
Value moveToHalf(SmallFloatEmitter &e, const SmallFloat &format, Value x) {
  constexpr int64_t sign = INT16_MIN, infinity = 0x7c00, nan = 0x7e00;
  using P = arith::CmpIPredicate;
  int64_t by = kHalfMantissa - format.mantissa,
          digits = (format.getSignBit() - 1) << by;
  Value code = arith::ExtSIOp::create(
      e.b, e.integer,
      arith::BitcastOp::create(e.b, e.b.getIntegerType(format.width), x));
  // The sign is in all bits above the digits.
  Value moved = e.make<arith::ShLIOp>(code, by),
        number = e.make<arith::AndIOp>(moved, sign | digits);
  if (format.nan && !format.hasNegativeZero())
    return e.select(e.is(P::eq, code, -format.getSignBit()), e.constant(nan),
                    number);
  int64_t special = format.infinity.value_or(format.nan.value_or(0)) << by;
  if (special == 0 || special == infinity)
    return number;
  Value isSpecial = e.is(P::uge, e.make<arith::AndIOp>(moved, digits), special);
  return e.select(
      isSpecial, e.make<arith::OrIOp>(number, format.infinity ? infinity : nan),
      number);
}

/// Returns `x`, which has a small float type, as f32.
Value extend(OpBuilder &builder, Location loc, Value x) {
  SmallFloat format = *SmallFloat::get(x.getType());
  if (format.fitsHalf()) {
    SmallFloatEmitter e(builder, loc, 16);
    Value half = arith::BitcastOp::create(e.b, e.b.getF16Type(),
                                          moveToHalf(e, format, x));
    Value number = arith::ExtFOp::create(e.b, e.real, half);
    return format.bias == kHalfBias
               ? number
               : arith::MulFOp::create(e.b, number,
                                       e.powerOfTwo(kHalfBias - format.bias));
  }
  SmallFloatEmitter e(builder, loc, 32);
  Value byte = arith::ExtUIOp::create(
      e.b, e.integer,
      arith::BitcastOp::create(e.b, e.b.getIntegerType(format.width), x));
  if (format.isExponent)
    return extendExponent(e, byte);
  Value digits = e.make<arith::AndIOp>(byte, format.getSignBit() - 1);
  Value moved = e.make<arith::ShLIOp>(digits, 23 - format.mantissa);
  Value number = e.toBits(arith::MulFOp::create(
      e.b, e.toReal(moved), e.powerOfTwo(127 - format.bias)));
  constexpr int64_t nan = 0x7fc00000;
  using P = arith::CmpIPredicate;
  if (format.nan)
    number = e.select(
        e.is(P::eq, format.hasNegativeZero() ? digits : byte, *format.nan),
        e.constant(nan), number);
  Value sign = e.make<arith::ShLIOp>(
      e.make<arith::AndIOp>(byte, format.getSignBit()), 32 - format.width);
  return e.toReal(arith::OrIOp::create(e.b, number, sign));
}

/// Returns the number of `type` nearest to `x`. Both may be any float types of
/// at most 64 bits, and neither needs to be small.
Value convert(OpBuilder &builder, Location loc, Type type, Value x);

/// Returns the bits of the power of two nearest to an f64 number, given its
/// bits with and without the sign. Zero becomes the smallest power of two. A
/// negative number, NaN, and one beyond the largest power become NaN.
Value roundToExponent(SmallFloatEmitter &e, const SmallFloat &format,
                      Value bits, Value digits) {
  using P = arith::CmpIPredicate;
  constexpr int64_t mantissa = 52, bias = 1023;
  Value raised = e.make<arith::AddIOp>(digits, int64_t(1) << (mantissa - 1));
  Value exponent = e.make<arith::SubIOp>(
      e.make<arith::ShRUIOp>(raised, mantissa), bias - format.bias);
  exponent = e.make<arith::MaxSIOp>(exponent, 0);
  Value isNaN = e.is(P::sgt, exponent, format.largest);
  Value isNegative =
      arith::AndIOp::create(e.b, e.is(P::slt, bits, 0), e.is(P::ne, digits, 0));
  return e.select(arith::OrIOp::create(e.b, isNaN, isNegative),
                  e.constant(*format.nan), exponent);
}

/// Returns the bits, without the sign, of the small float nearest to the number
/// with the bits `digits`, also without the sign. A tie is rounded to an even
/// last digit. A number beyond the largest one becomes getOverflow(), and NaN
/// becomes NaN, or zero if the type has none.
Value roundDigits(SmallFloatEmitter &e, const SmallFloat &format,
                  Value digits) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(e.real).getFloatSemantics();
  int64_t mantissa = APFloat::semanticsPrecision(semantics) - 1;
  int64_t bias = 1 - APFloat::semanticsMinExponent(semantics);
  int64_t infinity = APFloat::getInf(semantics).bitcastToAPInt().getZExtValue();
  int64_t drop = mantissa - format.mantissa;
  using P = arith::CmpIPredicate;

  Value odd = e.make<arith::AndIOp>(e.make<arith::ShRUIOp>(digits, drop), 1);
  Value half = e.make<arith::AddIOp>(digits, (int64_t(1) << (drop - 1)) - 1);
  Value normal = e.make<arith::SubIOp>(
      e.make<arith::ShRUIOp>(arith::AddIOp::create(e.b, half, odd), drop),
      (bias - format.bias) << format.mantissa);

  Value magic = e.powerOfTwo(1 - format.bias + drop);
  Value sum = arith::AddFOp::create(e.b, e.toReal(digits), magic);
  Value denormal = arith::SubIOp::create(e.b, e.toBits(sum), e.toBits(magic));

  int64_t smallest = (bias + 1 - format.bias) << mantissa;
  Value result = e.select(e.is(P::ult, digits, smallest), denormal, normal);
  result = e.select(e.is(P::ugt, result, format.largest),
                    e.constant(format.getOverflow()), result);
  // A type without NaN represents it by zero.
  return e.select(e.is(P::ugt, digits, infinity),
                  e.constant(format.nan.value_or(0)), result);
}

/// Returns the number of the small float type `type` nearest to `x`, a number
/// of any float type of at most 64 bits.
Value round(OpBuilder &builder, Location loc, Type type, Value x) {
  SmallFloat format = *SmallFloat::get(type);
  // Powers of two that are denormal in f32 are normal in f64.
  unsigned width = x.getType().isF64() || format.isExponent ? 64 : 32;
  SmallFloatEmitter e(builder, loc, width);
  Value bits = e.toBits(convert(builder, loc, e.real, x));
  Value digits =
      e.make<arith::AndIOp>(bits, llvm::maskTrailingOnes<uint64_t>(width - 1));
  Value result;
  if (format.isExponent) {
    result = roundToExponent(e, format, bits, digits);
  } else {
    result = roundDigits(e, format, digits);
    Value sign = e.make<arith::AndIOp>(
        e.make<arith::ShRUIOp>(bits, width - format.width),
        format.getSignBit());
    if (!format.hasNegativeZero())
      sign = e.select(e.is(arith::CmpIPredicate::eq, result, 0), e.constant(0),
                      sign);
    result = arith::OrIOp::create(e.b, result, sign);
  }
  Value byte =
      arith::TruncIOp::create(e.b, e.b.getIntegerType(format.width), result);
  return arith::BitcastOp::create(e.b, type, byte);
}

Value convert(OpBuilder &builder, Location loc, Type type, Value x) {
  if (x.getType() == type)
    return x;
  if (SmallFloat::get(x.getType()))
    return convert(builder, loc, type, extend(builder, loc, x));
  if (SmallFloat::get(type))
    return round(builder, loc, type, x);
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  return from < to ? Value(arith::ExtFOp::create(builder, loc, type, x))
                   : Value(arith::TruncFOp::create(builder, loc, type, x));
}

struct ExpandExtension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!SmallFloat::get(op.getIn().getType()) || !isa<FloatType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "is not of a small float");
    rewriter.replaceOp(
        op, convert(rewriter, op.getLoc(), op.getType(), op.getIn()));
    return success();
  }
};

struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    auto rounding =
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
    auto type = dyn_cast<FloatType>(op.getIn().getType());
    if (!SmallFloat::get(op.getType()) || !type || type.getWidth() > 64 ||
        rounding != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "is not to a small float");
    rewriter.replaceOp(
        op, convert(rewriter, op.getLoc(), op.getType(), op.getIn()));
    return success();
  }
};

/// Extends bf16 to f64 through f32.
struct ExpandBF16Extension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isBF16() || !op.getType().isF64())
      return rewriter.notifyMatchFailure(op, "is not from bf16 to f64");
    Value number = arith::ExtFOp::create(rewriter, op.getLoc(),
                                         rewriter.getF32Type(), op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), number);
    return success();
  }
};

/// Rounds f64 to f16 and bf16 through f32, because no CPU does it directly and
/// the function that LLVM calls instead (__truncdfhf2, __truncdfbf2) is not
/// linked into every program. The lowest bit of the intermediate number is set
/// if the first rounding was inexact, so that only the second one rounds.
struct ExpandHalfTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isF64() ||
        !(op.getType().isF16() || op.getType().isBF16()))
      return rewriter.notifyMatchFailure(op, "is not from f64 to 16 bits");
    SmallFloatEmitter e(rewriter, op.getLoc(), 32);
    Value exact = op.getIn();
    Value number = arith::TruncFOp::create(e.b, e.real, exact);
    Value back = arith::ExtFOp::create(e.b, exact.getType(), number);
    Value bits = e.toBits(number);
    auto magnitude = [&](Value x) {
      return math::AbsFOp::create(e.b, x).getResult();
    };
    // If inexact and even, the number moves one step toward the exact one.
    Value isLost =
        arith::CmpFOp::create(e.b, arith::CmpFPredicate::ONE, back, exact);
    Value isEven =
        e.is(arith::CmpIPredicate::eq, e.make<arith::AndIOp>(bits, 1), 0);
    Value isAbove = arith::CmpFOp::create(e.b, arith::CmpFPredicate::OGT,
                                          magnitude(back), magnitude(exact));
    Value odd = e.select(isAbove, e.make<arith::SubIOp>(bits, 1),
                         e.make<arith::AddIOp>(bits, 1));
    Value rounded =
        e.select(arith::AndIOp::create(e.b, isLost, isEven), odd, bits);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 e.toReal(rounded));
    return success();
  }
};

/// Generalizes named ops that compute with small floats, because the body of a
/// named op cannot be changed.
void generalizeNamedOps(Operation *root) {
  IRRewriter rewriter(root->getContext());
  root->walk([&](linalg::LinalgOp op) {
    bool computes = llvm::any_of(*op.getBlock(), [](Operation &each) {
      return !isa<arith::ExtFOp>(each) &&
             !each.hasTrait<OpTrait::IsTerminator>() &&
             llvm::any_of(each.getOperandTypes(), SmallFloat::get);
    });
    rewriter.setInsertionPoint(op);
    if (computes)
      (void)linalg::generalizeNamedOp(rewriter, op); // fails for generic ones
  });
}

LogicalResult computeInF32(Operation *root) {
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](FloatType type) -> std::optional<Type> {
    if (!SmallFloat::get(type))
      return std::nullopt;
    return Float32Type::get(type.getContext());
  });
  converter.addTargetMaterialization(
      [](OpBuilder &builder, Type type, ValueRange small, Location loc) {
        return arith::ExtFOp::create(builder, loc, type, small);
      });
  RewritePatternSet patterns(root->getContext());
  ConversionTarget target(*root->getContext());
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  math::populateExtendToSupportedTypesPatterns(patterns, converter);
  math::populateExtendToSupportedTypesConversionTarget(target, converter);
  return applyPartialConversion(root, target, std::move(patterns));
}

struct ExpandSmallFloats
    : layout::impl::ExpandSmallFloatsPassBase<ExpandSmallFloats> {
  void runOnOperation() override {
    generalizeNamedOps(getOperation());
    if (failed(computeInF32(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtension, ExpandTruncation, ExpandBF16Extension,
                 ExpandHalfTruncation>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
