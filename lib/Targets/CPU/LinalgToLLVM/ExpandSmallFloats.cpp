//===- ExpandSmallFloats.cpp - Floats of 8 bits as integers ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM has no floats of 8 bits: in memory they are i8. Their conversions become
// operations on integers, with what APFloat says of the format:
//
//   to f32     The digits are moved to where f32 has them and multiplied by the
//              power of two between the biases, which is exact, also for
//              denormal numbers.
//   from f32   A normal number is rounded to nearest, ties to even, by adding
//              half of the last digit; a denormal one by adding the number
//              whose last digit is that of a denormal number.
//
// Other operations are done in f32, and each result is rounded.
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
/// A float type of 8 bits with a sign.
struct SmallFloat {
  int64_t mantissa; // bits
  int64_t bias;
  int64_t largest; // bit patterns without a sign
  int64_t nan;     // 0x80 where there is no negative zero
  std::optional<int64_t> infinity;

  static std::optional<SmallFloat> get(Type type) {
    auto floatType = dyn_cast<FloatType>(type);
    if (!floatType || floatType.getWidth() != 8)
      return std::nullopt;
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (!APFloat::semanticsHasSignedRepr(semantics) ||
        !APFloat::semanticsHasNaN(semantics))
      return std::nullopt;
    auto bits = [](const APFloat &value) -> int64_t {
      return value.bitcastToAPInt().getZExtValue();
    };
    SmallFloat format;
    format.mantissa = APFloat::semanticsPrecision(semantics) - 1;
    format.bias = 1 - APFloat::semanticsMinExponent(semantics);
    format.largest = bits(APFloat::getLargest(semantics));
    format.nan = bits(APFloat::getNaN(semantics));
    if (APFloat::semanticsHasInf(semantics))
      format.infinity = bits(APFloat::getInf(semantics));
    return format;
  }
};

/// Writes operations on one integer type and on the float type of its width.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, unsigned width)
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

/// The number that converts to `type` without loss or is of it already.
Value convert(OpBuilder &builder, Location loc, Type type, Value x) {
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from == to)
    return x;
  return from < to ? Value(arith::ExtFOp::create(builder, loc, type, x))
                   : Value(arith::TruncFOp::create(builder, loc, type, x));
}

struct ExpandExtension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<SmallFloat> format = SmallFloat::get(op.getIn().getType());
    if (!format || !isa<FloatType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "is not of a small float");
    Emitter e(rewriter, op.getLoc(), 32);
    Value byte = arith::ExtUIOp::create(
        e.b, e.integer,
        arith::BitcastOp::create(e.b, e.b.getI8Type(), op.getIn()));
    Value digits = e.make<arith::AndIOp>(byte, 0x7f);
    Value moved = e.make<arith::ShLIOp>(digits, 23 - format->mantissa);
    Value number = e.toBits(arith::MulFOp::create(
        e.b, e.toReal(moved), e.powerOfTwo(127 - format->bias)));
    constexpr int64_t infinity = 0x7f800000, nan = 0x7fc00000;
    using P = arith::CmpIPredicate;
    if (format->infinity)
      number = e.select(e.is(P::uge, digits, *format->infinity),
                        e.make<arith::OrIOp>(moved, infinity), number);
    else
      number = e.select(format->nan == 0x80 ? e.is(P::eq, byte, 0x80)
                                            : e.is(P::eq, digits, format->nan),
                        e.constant(nan), number);
    Value sign =
        e.make<arith::ShLIOp>(e.make<arith::AndIOp>(byte, 0x80), 32 - 8);
    Value result = e.toReal(arith::OrIOp::create(e.b, number, sign));
    rewriter.replaceOp(op,
                       convert(rewriter, op.getLoc(), op.getType(), result));
    return success();
  }
};

struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<SmallFloat> format = SmallFloat::get(op.getType());
    auto rounding =
        op.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
    auto type = dyn_cast<FloatType>(op.getIn().getType());
    if (!format || !type || type.getWidth() > 64 ||
        rounding != arith::RoundingMode::to_nearest_even)
      return rewriter.notifyMatchFailure(op, "is not to a small float");
    unsigned width = type.getWidth() == 64 ? 64 : 32;
    Emitter e(rewriter, op.getLoc(), width);
    const llvm::fltSemantics &semantics =
        cast<FloatType>(e.real).getFloatSemantics();
    int64_t mantissa = APFloat::semanticsPrecision(semantics) - 1;
    int64_t bias = 1 - APFloat::semanticsMinExponent(semantics);
    int64_t infinity =
        APFloat::getInf(semantics).bitcastToAPInt().getZExtValue();
    int64_t drop = mantissa - format->mantissa;
    using P = arith::CmpIPredicate;

    Value bits = e.toBits(convert(rewriter, op.getLoc(), e.real, op.getIn()));
    Value sign =
        e.make<arith::AndIOp>(e.make<arith::ShRUIOp>(bits, width - 8), 0x80);
    Value digits = e.make<arith::AndIOp>(
        bits, llvm::maskTrailingOnes<uint64_t>(width - 1));

    Value odd = e.make<arith::AndIOp>(e.make<arith::ShRUIOp>(digits, drop), 1);
    Value half = e.make<arith::AddIOp>(digits, (int64_t(1) << (drop - 1)) - 1);
    Value normal = e.make<arith::SubIOp>(
        e.make<arith::ShRUIOp>(arith::AddIOp::create(e.b, half, odd), drop),
        (bias - format->bias) << format->mantissa);

    Value magic = e.powerOfTwo(1 - format->bias + drop);
    Value sum = arith::AddFOp::create(e.b, e.toReal(digits), magic);
    Value denormal = arith::SubIOp::create(e.b, e.toBits(sum), e.toBits(magic));

    int64_t smallest = (bias + 1 - format->bias) << mantissa;
    Value result = e.select(e.is(P::ult, digits, smallest), denormal, normal);
    result =
        e.select(e.is(P::ugt, result, format->largest),
                 e.constant(format->infinity.value_or(format->nan)), result);
    result = e.select(e.is(P::ugt, digits, infinity), e.constant(format->nan),
                      result);
    if (format->nan == 0x80) // no negative zero
      sign = e.select(e.is(P::eq, result, 0), e.constant(0), sign);
    Value byte = arith::TruncIOp::create(
        e.b, e.b.getI8Type(), arith::OrIOp::create(e.b, result, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), byte);
    return success();
  }
};

/// Between bf16 and f64 by way of f32. The lowest bit of the number between
/// says whether anything was lost, so that the second rounding is the only one.
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

struct ExpandBF16Truncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isF64() || !op.getType().isBF16())
      return rewriter.notifyMatchFailure(op, "is not from f64 to bf16");
    Emitter e(rewriter, op.getLoc(), 32);
    Value exact = op.getIn();
    Value number = arith::TruncFOp::create(e.b, e.real, exact);
    Value back = arith::ExtFOp::create(e.b, exact.getType(), number);
    Value bits = e.toBits(number);
    auto magnitude = [&](Value x) {
      return math::AbsFOp::create(e.b, x).getResult();
    };
    // A number with an even lowest bit goes one step towards the exact one.
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

/// The body of a named op is what its name says: one that computes with small
/// floats cannot be changed, and has to be that of a generic op.
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
                 ExpandBF16Truncation>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
