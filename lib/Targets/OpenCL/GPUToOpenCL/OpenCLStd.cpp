//===- OpenCLStd.cpp - Functions without a SPIR-V op ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPatterns.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/OpenCLSpirvPatcher.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::layout;

Value layout::callOpenCLStd(OpBuilder &builder, Location loc, StringRef name,
                            Type resultType, ValueRange operands) {
  Operation *module = builder.getInsertionBlock()->getParentOp();
  while (!isa<spirv::ModuleOp>(module))
    module = module->getParentOp();
  // One declaration per type of the result, or of the first operand.
  std::string symbol = ("__ocl_" + name).str();
  Type named = resultType ? resultType : operands.front().getType();
  if (auto vector = dyn_cast<VectorType>(named))
    symbol += "_v" + std::to_string(vector.getNumElements());
  symbol +=
      "_" + std::to_string(getElementTypeOrSelf(named).getIntOrFloatBitWidth());
  if (!SymbolTable::lookupSymbolIn(module, symbol)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&module->getRegion(0).front());
    auto function = spirv::FuncOp::create(
        builder, module->getLoc(), symbol,
        builder.getFunctionType(operands.getTypes(), resultType
                                                         ? TypeRange(resultType)
                                                         : TypeRange()));
    MLIRContext *context = builder.getContext();
    function.setLinkageAttributesAttr(spirv::LinkageAttributesAttr::get(
        context, builder.getStringAttr(kOpenCLStdPrefix + name),
        spirv::LinkageTypeAttr::get(context, spirv::LinkageType::Import)));
  }
  auto call = spirv::FunctionCallOp::create(builder, loc, resultType, symbol,
                                            operands, /*arg_attrs=*/nullptr,
                                            /*res_attrs=*/nullptr);
  return resultType ? call.getResult(0) : Value();
}

namespace {
template <typename MathOp> struct CallPattern : OpConversionPattern<MathOp> {
  CallPattern(const TypeConverter &converter, MLIRContext *context,
              StringRef name)
      : OpConversionPattern<MathOp>(converter, context, /*benefit=*/10),
        name(name) {}
  LogicalResult
  matchAndRewrite(MathOp op, typename MathOp::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = this->getTypeConverter()->convertType(op.getType());
    rewriter.replaceOp(op, callOpenCLStd(rewriter, op.getLoc(), name, type,
                                         adaptor.getOperands()));
    return success();
  }
  StringRef name;
};

/// Broadcasts the scalar condition of an arith.select of vectors, because
/// SPIR-V 1.0 requires a vector.
struct SelectByVector : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || isa<VectorType>(op.getCondition().getType()))
      return failure();
    Value condition = vector::BroadcastOp::create(
        rewriter, op.getLoc(), type.clone(rewriter.getI1Type()),
        op.getCondition());
    rewriter.modifyOpInPlace(
        op, [&] { op.getConditionMutable().assign(condition); });
    return success();
  }
};

/// Replaces arithmetic on i1 by logic, e.g. arith.addi by arith.xori, because
/// SPIR-V has no 1-bit integers.
template <typename From, typename To>
struct LogicOfBits : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isInteger(1))
      return rewriter.notifyMatchFailure(op, "is not arithmetic on i1");
    rewriter.replaceOpWithNewOp<To>(op, op.getLhs(), op.getRhs());
    return success();
  }
};

/// Replaces math.cttz of x by the number of ones in ~x & (x - 1), because
/// OpenCL 1.2 has no ctz.
struct CountTrailingZeros : OpRewritePattern<math::CountTrailingZerosOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::CountTrailingZerosOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    auto constant = [&](int64_t value) {
      TypedAttr attr =
          rewriter.getIntegerAttr(getElementTypeOrSelf(type), value);
      if (auto vector = dyn_cast<VectorType>(type))
        attr = SplatElementsAttr::get(vector, attr);
      return arith::ConstantOp::create(rewriter, loc, attr);
    };
    Value x = op.getOperand();
    Value flipped = arith::XOrIOp::create(rewriter, loc, x, constant(-1));
    Value below = arith::SubIOp::create(rewriter, loc, x, constant(1));
    Value ones = arith::AndIOp::create(rewriter, loc, flipped, below);
    rewriter.replaceOpWithNewOp<math::CtPopOp>(op, ones);
    return success();
  }
};

/// Lowers arith.maximumf or minimumf with a constant other than NaN to one
/// comparison and one select. If the other operand is NaN, the comparison is
/// false and the result NaN. Zeros are ordered: -0 < +0.
template <typename From, bool isMaximum>
struct ChooseConstant : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getLhs(), number = op.getRhs();
    APFloat constant(0.0f);
    if (!matchPattern(number, m_ConstantFloat(&constant)))
      std::swap(x, number);
    if (!matchPattern(number, m_ConstantFloat(&constant)) || constant.isNaN())
      return rewriter.notifyMatchFailure(op, "neither operand is a constant");
    using arith::CmpFPredicate;
    bool keepsZero = constant.isZero() && constant.isNegative() == isMaximum;
    CmpFPredicate predicate =
        isMaximum   ? keepsZero ? CmpFPredicate::OLT : CmpFPredicate::OLE
        : keepsZero ? CmpFPredicate::OGT
                    : CmpFPredicate::OGE;
    Value isTaken =
        arith::CmpFOp::create(rewriter, op.getLoc(), predicate, x, number);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isTaken, number, x);
    return success();
  }
};

/// Fuses an addition or subtraction with a product that has no other use to an
/// fma, also across a broadcast. Upstream's pattern requires fast-math flags on
/// each op; here an attribute of the module permits it.
template <typename OpT> struct FuseProduct : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    constexpr bool subtracts = std::is_same_v<OpT, arith::SubFOp>;
    for (bool isRight : {true, false}) {
      Value value = isRight ? op.getRhs() : op.getLhs();
      Value other = isRight ? op.getLhs() : op.getRhs();
      auto lanes = value.getDefiningOp<vector::BroadcastOp>();
      Value scalar = lanes ? lanes.getSource() : value;
      auto product = scalar.getDefiningOp<arith::MulFOp>();
      if (!product || !product->hasOneUse() || !value.hasOneUse())
        continue;
      Value a = product.getLhs(), b = product.getRhs();
      if (subtracts) {
        Value &negated = isRight ? a : other;
        negated = arith::NegFOp::create(rewriter, op.getLoc(), negated);
      }
      for (Value *factor : {&a, &b})
        if (lanes)
          *factor = vector::BroadcastOp::create(rewriter, op.getLoc(),
                                                op.getType(), *factor);
      rewriter.replaceOpWithNewOp<math::FmaOp>(op, a, b, other);
      return success();
    }
    return rewriter.notifyMatchFailure(
        op, "does not add a product that has no other use");
  }
};

/// Replaces an op of the index dialect by that of arith.
template <typename From, typename To>
struct IndexInArith : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op->getResultTypes(),
                                    op->getOperands());
    return success();
  }
};

struct IndexCompareInArith : OpRewritePattern<index::CmpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(index::CmpOp op,
                                PatternRewriter &rewriter) const override {
    // The predicates have the same names.
    std::optional<arith::CmpIPredicate> predicate =
        arith::symbolizeCmpIPredicate(
            index::stringifyIndexCmpPredicate(op.getPred()));
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, *predicate, op.getLhs(),
                                               op.getRhs());
    return success();
  }
};

template <typename From> struct IndexNumberInArith : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, op.getValueAttr());
    return success();
  }
};
} // namespace

static void populateIndexInArith(RewritePatternSet &patterns) {
  patterns.add<IndexInArith<index::AddOp, arith::AddIOp>,
               IndexInArith<index::SubOp, arith::SubIOp>,
               IndexInArith<index::MulOp, arith::MulIOp>,
               IndexInArith<index::DivSOp, arith::DivSIOp>,
               IndexInArith<index::DivUOp, arith::DivUIOp>,
               IndexInArith<index::CeilDivSOp, arith::CeilDivSIOp>,
               IndexInArith<index::CeilDivUOp, arith::CeilDivUIOp>,
               IndexInArith<index::FloorDivSOp, arith::FloorDivSIOp>,
               IndexInArith<index::RemSOp, arith::RemSIOp>,
               IndexInArith<index::RemUOp, arith::RemUIOp>,
               IndexInArith<index::MaxSOp, arith::MaxSIOp>,
               IndexInArith<index::MaxUOp, arith::MaxUIOp>,
               IndexInArith<index::MinSOp, arith::MinSIOp>,
               IndexInArith<index::MinUOp, arith::MinUIOp>,
               IndexInArith<index::ShlOp, arith::ShLIOp>,
               IndexInArith<index::ShrSOp, arith::ShRSIOp>,
               IndexInArith<index::ShrUOp, arith::ShRUIOp>,
               IndexInArith<index::AndOp, arith::AndIOp>,
               IndexInArith<index::OrOp, arith::OrIOp>,
               IndexInArith<index::XOrOp, arith::XOrIOp>,
               IndexInArith<index::CastSOp, arith::IndexCastOp>,
               IndexInArith<index::CastUOp, arith::IndexCastUIOp>,
               IndexCompareInArith, IndexNumberInArith<index::ConstantOp>,
               IndexNumberInArith<index::BoolConstantOp>>(
      patterns.getContext());
}

void layout::populateOpenCLStdPatterns(const SPIRVTypeConverter &converter,
                                       RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<CallPattern<math::CbrtOp>>(converter, context, "cbrt");
  patterns.add<CallPattern<math::CtPopOp>>(converter, context, "popcount");
  patterns.add<CallPattern<math::ErfcOp>>(converter, context, "erfc");
  patterns.add<CallPattern<math::Exp2Op>>(converter, context, "exp2");
  // Upstream's patterns for these two lose the precision for which they exist.
  patterns.add<CallPattern<math::ExpM1Op>>(converter, context, "expm1");
  patterns.add<CallPattern<math::Log1pOp>>(converter, context, "log1p");
  patterns.add<CallPattern<math::Log2Op>>(converter, context, "log2");
  patterns.add<CallPattern<math::Log10Op>>(converter, context, "log10");
  patterns.add<CallPattern<math::TruncOp>>(converter, context, "trunc");
}

LogicalResult layout::legalizeForOpenCL(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  math::populateExpansionPatterns(patterns, {"clampf", "ctlz", "fpowi"});
  // Rounding to bf16 becomes bit arithmetic on f32.
  arith::populateExpandBFloat16Patterns(patterns);
  arith::BitcastOp::getCanonicalizationPatterns(patterns, module.getContext());
  patterns.add<SelectByVector, CountTrailingZeros>(module.getContext());
  if (module->hasAttr(kFmaAttrName))
    patterns.add<FuseProduct<arith::AddFOp>, FuseProduct<arith::SubFOp>>(
        module.getContext());
  populateIndexInArith(patterns);
  patterns.add<ChooseConstant<arith::MaximumFOp, true>,
               ChooseConstant<arith::MinimumFOp, false>>(module.getContext());
  // As an i1, true is 1 if unsigned and -1 if signed.
  patterns.add<LogicOfBits<arith::AddIOp, arith::XOrIOp>,
               LogicOfBits<arith::SubIOp, arith::XOrIOp>,
               LogicOfBits<arith::MulIOp, arith::AndIOp>,
               LogicOfBits<arith::MinUIOp, arith::AndIOp>,
               LogicOfBits<arith::MaxUIOp, arith::OrIOp>,
               LogicOfBits<arith::MinSIOp, arith::OrIOp>,
               LogicOfBits<arith::MaxSIOp, arith::AndIOp>>(module.getContext());
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  WalkResult walked =
      module.walk([](Operation *op) {
        for (Type type : op->getOperandTypes())
          if (getElementTypeOrSelf(type).isBF16()) {
            op->emitError()
                << "computes with bf16, but OpenCL kernels only round to it: "
                   "compute with f32, between arith.extf and arith.truncf";
            return WalkResult::interrupt();
          }
        return WalkResult::advance();
      });
  return failure(walked.wasInterrupted());
}
