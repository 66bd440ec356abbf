//===- KernelsToEmitC.cpp - Loops over dense images as C++ ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Applies upstream's conversions to emitc, with patterns for the math functions
// that bodies of networks use. f16 functions are computed in f32.
//
//===----------------------------------------------------------------------===//

#include "DenseKernels.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToEmitC/ArithToEmitC.h"
#include "mlir/Conversion/FuncToEmitC/FuncToEmitC.h"
#include "mlir/Conversion/MemRefToEmitC/MemRefToEmitC.h"
#include "mlir/Conversion/SCFToEmitC/SCFToEmitC.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/EmitC/Transforms/Transforms.h"
#include "mlir/Dialect/EmitC/Transforms/TypeConversions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::npu;

LogicalResult npu::removeDeadReads(ModuleOp functions) {
  RewritePatternSet patterns(functions.getContext());
  return applyPatternsGreedily(functions, std::move(patterns));
}

namespace {
/// Converts a math op on floats to a call of a function of <cmath>. f16 is
/// computed in f32.
template <typename Op> struct MathCall : OpConversionPattern<Op> {
  MathCall(MLIRContext *context, const TypeConverter &converter,
           StringRef callee)
      : OpConversionPattern<Op>(converter, context), callee(callee) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!type.isF16() && !type.isF32() && !type.isF64())
      return rewriter.notifyMatchFailure(op, "does not have a C++ type");
    Type computed = type.isF16() ? rewriter.getF32Type() : type;
    SmallVector<Value> operands;
    for (auto [operand, original] :
         llvm::zip_equal(adaptor.getOperands(), op->getOperands()))
      operands.push_back(
          original.getType().isF16()
              ? emitc::CastOp::create(rewriter, op.getLoc(), computed, operand)
              : operand);
    Value result = emitc::CallOpaqueOp::create(rewriter, op.getLoc(), computed,
                                               callee, operands)
                       .getResult(0);
    if (type != computed)
      result = emitc::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }

  StringRef callee;
};

/// Expands rsqrt to 1 / sqrt(x).
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(op.getType()))
      return failure();
    Value one = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getFloatAttr(op.getType(), 1));
    Value root = math::SqrtOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, one, root);
    return success();
  }
};

/// Expands absi to max(x, 0 - x). The smallest integer stays itself, as `0 - x`
/// wraps.
struct ExpandAbsI : OpRewritePattern<math::AbsIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::AbsIOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<IntegerType>(op.getType()))
      return failure();
    Value zero = arith::ConstantOp::create(
        rewriter, op.getLoc(), rewriter.getIntegerAttr(op.getType(), 0));
    Value minus =
        arith::SubIOp::create(rewriter, op.getLoc(), zero, op.getOperand());
    rewriter.replaceOpWithNewOp<arith::MaxSIOp>(op, op.getOperand(), minus);
    return success();
  }
};

/// Expands extsi of i1 to a select of -1 and 0.
struct ExpandExtSIOfBit : OpRewritePattern<arith::ExtSIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtSIOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIn().getType().isInteger(1))
      return failure();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(
          rewriter, op.getLoc(), rewriter.getIntegerAttr(op.getType(), value));
    };
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, op.getIn(), constant(-1),
                                                 constant(0));
    return success();
  }
};

/// Converts arith.bitcast to a call of okk_sim_bitcast, a function template
/// that calls memcpy.
struct ConvertBitcast : OpConversionPattern<arith::BitcastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::BitcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = getTypeConverter()->convertType(op.getType());
    auto call = emitc::CallOpaqueOp::create(
        rewriter, op.getLoc(), type, "okk_sim_bitcast", adaptor.getIn(),
        /*args=*/ArrayAttr(), rewriter.getArrayAttr({TypeAttr::get(type)}));
    rewriter.replaceOp(op, call.getResult(0));
    return success();
  }
};
} // namespace

template <typename Op>
static void addCall(RewritePatternSet &patterns, const TypeConverter &converter,
                    StringRef callee) {
  patterns.add<MathCall<Op>>(patterns.getContext(), converter, callee);
}

static void addMath(RewritePatternSet &patterns, const TypeConverter &types) {
  addCall<math::AbsFOp>(patterns, types, "std::fabs");
  addCall<math::Atan2Op>(patterns, types, "std::atan2");
  addCall<math::AtanOp>(patterns, types, "std::atan");
  addCall<math::CbrtOp>(patterns, types, "std::cbrt");
  addCall<math::CeilOp>(patterns, types, "std::ceil");
  addCall<math::CopySignOp>(patterns, types, "std::copysign");
  addCall<math::CosOp>(patterns, types, "std::cos");
  addCall<math::ErfOp>(patterns, types, "std::erf");
  addCall<math::ErfcOp>(patterns, types, "std::erfc");
  addCall<math::Exp2Op>(patterns, types, "std::exp2");
  addCall<math::ExpM1Op>(patterns, types, "std::expm1");
  addCall<math::ExpOp>(patterns, types, "std::exp");
  addCall<math::FloorOp>(patterns, types, "std::floor");
  addCall<math::FmaOp>(patterns, types, "std::fma");
  addCall<math::Log10Op>(patterns, types, "std::log10");
  addCall<math::Log1pOp>(patterns, types, "std::log1p");
  addCall<math::Log2Op>(patterns, types, "std::log2");
  addCall<math::LogOp>(patterns, types, "std::log");
  addCall<math::PowFOp>(patterns, types, "std::pow");
  // Programs keep the default rounding mode, to nearest even.
  addCall<math::RoundEvenOp>(patterns, types, "std::nearbyint");
  addCall<math::RoundOp>(patterns, types, "std::round");
  addCall<math::SinOp>(patterns, types, "std::sin");
  addCall<math::SqrtOp>(patterns, types, "std::sqrt");
  addCall<math::TanhOp>(patterns, types, "std::tanh");
  addCall<math::TruncOp>(patterns, types, "std::trunc");
  addCall<arith::RemFOp>(patterns, types, "std::fmod");
}

LogicalResult npu::lowerKernelsToEmitC(ModuleOp functions) {
  MLIRContext *context = functions.getContext();
  RewritePatternSet expansions(context);
  arith::populateArithExpandOpsPatterns(expansions);
  populateAffineToStdConversionPatterns(expansions);
  expansions.add<ExpandRsqrt, ExpandAbsI, ExpandExtSIOfBit>(context);
  if (failed(applyPatternsGreedily(functions, std::move(expansions))))
    return failure();

  TypeConverter types;
  types.addConversion([](Type type) -> std::optional<Type> {
    if (emitc::isSupportedEmitCType(type))
      return type;
    return std::nullopt;
  });
  populateMemRefToEmitCTypeConversion(types);
  populateEmitCSizeTTypeConversions(types);
  RewritePatternSet patterns(context);
  populateMemRefToEmitCConversionPatterns(patterns, types);
  populateSCFToEmitCConversionPatterns(patterns, types);
  populateArithToEmitCPatterns(types, patterns);
  populateFuncToEmitCPatterns(types, patterns);
  patterns.add<ConvertBitcast>(types, context);
  addMath(patterns, types);
  ConversionTarget target(*context);
  target.addLegalDialect<emitc::EmitCDialect>();
  target.addLegalOp<ModuleOp>();
  if (failed(applyFullConversion(functions, target, std::move(patterns))))
    return failure();
  // C++17 has no f16 literals: f32 literals are cast.
  functions.walk([&](emitc::ConstantOp constant) {
    auto value = dyn_cast<FloatAttr>(constant.getValue());
    if (!value || !value.getType().isF16())
      return;
    APFloat number = value.getValue();
    SmallString<24> digits;
    number.toString(digits, /*FormatPrecision=*/0, /*FormatMaxPadding=*/0);
    std::string text =
        number.isFinite()     ? digits.str().str() + "f"
        : number.isNaN()      ? "std::numeric_limits<float>::quiet_NaN()"
        : number.isNegative() ? "-std::numeric_limits<float>::infinity()"
                              : "std::numeric_limits<float>::infinity()";
    if (number.isFinite() && !digits.str().contains_insensitive('e') &&
        !digits.str().contains('.'))
      text.insert(text.size() - 1, ".0");
    constant.setValueAttr(
        emitc::OpaqueAttr::get(context, "static_cast<_Float16>(" + text + ")"));
  });
  // Form expressions as upstream's form-expressions pass does.
  OpBuilder builder(context);
  SmallVector<Operation *> operators;
  functions.walk([&](Operation *op) {
    if (isa<emitc::CExpressionInterface>(op) && op->getNumResults() == 1 &&
        !op->getParentOfType<emitc::ExpressionOp>() &&
        !isa<emitc::ExpressionOp>(op))
      operators.push_back(op);
  });
  for (Operation *op : operators)
    emitc::createExpression(op, builder);
  RewritePatternSet expressions(context);
  emitc::populateExpressionPatterns(expressions);
  return applyPatternsGreedily(functions, std::move(expressions));
}
