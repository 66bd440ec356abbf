//===- StructuredPatterns.cpp - linalg and elementwise ops ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "Structured.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/IR/Speculation.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

/// Clones the body of a linalg op. Loop indices are computed by `index`.
/// Returns the yielded values.
static SmallVector<Value> cloneBody(OpBuilder &b, Block &body, ValueRange args,
                                    StructuredOp::Index index) {
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(body.getArguments(), args))
    mapping.map(from, to);
  for (Operation &op : body.without_terminator()) {
    if (auto indexOp = dyn_cast<linalg::IndexOp>(op))
      mapping.map(indexOp.getResult(), index(indexOp.getDim()));
    else
      b.clone(op, mapping);
  }
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

StructuredOp layout::describeLinalgOp(linalg::LinalgOp linalgOp) {
  StructuredOp op;
  for (OpOperand &operand : linalgOp->getOpOperands()) {
    bool isResult = linalgOp.isDpsInit(&operand);
    op.operands.push_back({linalgOp.getMatchingIndexingMap(&operand),
                           dyn_cast<RankedTensorType>(operand.get().getType()),
                           isResult});
    if (isResult)
      op.readsInit.push_back(linalgOp.payloadUsesValueFromOperand(&operand));
  }
  op.iterators = linalgOp.getIteratorTypesArray();
  op.sizes = linalgOp.getStaticLoopRanges();
  op.body.block = linalgOp.getBlock();
  op.mayTrap = mayTrapOnPadding(*op.body.block);
  op.emitBody = [body = op.body.block](OpBuilder &b, Location, ValueRange args,
                                       StructuredOp::Index index) {
    return cloneBody(b, *body, args, index);
  };
  for (NamedAttribute attr : linalgOp->getDiscardableAttrs())
    if (attr.getName() != linalg::LinalgDialect::kMemoizedIndexingMapsAttrName)
      op.attributes.push_back(attr);
  return op;
}

/// Lowers `op` to a linalg.fill of the whole physical tensor, padding included,
/// and returns its result. Returns a null value if the type states padding and
/// the value is not the same constant. Not a pattern, because the driver
/// prefers patterns on interfaces.
static Value lowerFill(OpBuilder &b, linalg::FillOp op,
                       ArrayRef<ValueRange> operands) {
  auto type = dyn_cast<RankedTensorType>(op.getOutputs().front().getType());
  if (!type || isa<ShapedType>(op.getInputs().front().getType()))
    return {};
  if (statesPadding(type)) {
    Attribute value;
    if (!matchPattern(op.getInputs().front(), m_Constant(&value)) ||
        value != getPadding(type))
      return {};
  }
  return linalg::FillOp::create(b, op.getLoc(), operands[0],
                                operands[1].front())
      .getResult(0);
}

namespace {

/// Lowers any linalg op on tensors to loops over the digits of its operands,
/// which its indexing maps determine.
struct LinalgPattern : OpInterfaceConversionPattern<linalg::LinalgOp> {
  LinalgPattern(const TypeConverter &converter, MLIRContext *context,
                Reasons &reasons)
      : OpInterfaceConversionPattern(converter, context), reasons(reasons) {}

  LogicalResult
  matchAndRewrite(linalg::LinalgOp op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return reasons.fail(rewriter, op, "the op does not work on tensors");
    StructuredOp structured = describeLinalgOp(op);
    std::string whyNot;
    FailureOr<SmallVector<Value>> results = failure();
    auto fill = dyn_cast<linalg::FillOp>(op.getOperation());
    if (Value filled = fill ? lowerFill(rewriter, fill, operands) : Value())
      results = SmallVector<Value>{filled};
    else
      results =
          lowerStructured(rewriter, op.getLoc(), structured, operands, whyNot);
    if (failed(results))
      return reasons.fail(rewriter, op, whyNot);
    SmallVector<SmallVector<Value>> replacements;
    for (auto [result, init] :
         llvm::zip_equal(*results, operands.take_back(op.getNumDpsInits()))) {
      // A result has the sizes of its init.
      SmallVector<Value> &values = replacements.emplace_back();
      values.push_back(result);
      llvm::append_range(values, init.drop_front());
    }
    rewriter.replaceOpWithMultiple(op, std::move(replacements));
    return success();
  }

private:
  Reasons &reasons;
};

/// Lowers elementwise ops on tensors, such as those of arith and math, to
/// linalg ops on physical tensors.
struct ElementwisePattern : ConversionPattern {
  ElementwisePattern(const TypeConverter &converter, MLIRContext *context,
                     Reasons &reasons)
      : ConversionPattern(converter, MatchTraitOpTypeTag(),
                          TypeID::get<OpTrait::Elementwise>(), /*benefit=*/1,
                          context),
        reasons(reasons) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override;

private:
  Reasons &reasons;
};

} // namespace

LogicalResult
ElementwisePattern::matchAndRewrite(Operation *op,
                                    ArrayRef<ValueRange> operands,
                                    ConversionPatternRewriter &rewriter) const {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0)
    return rewriter.notifyMatchFailure(op, "not elementwise");
  auto shaped = llvm::find_if(op->getOperandTypes(), [](Type type) {
    return isa<RankedTensorType>(type);
  });
  if (shaped == op->getOperandTypes().end() ||
      !llvm::all_of(op->getResultTypes(),
                    [](Type type) { return isa<RankedTensorType>(type); }))
    return rewriter.notifyMatchFailure(op, "does not work on tensors");
  unsigned rank = cast<RankedTensorType>(*shaped).getRank();

  MLIRContext *context = op->getContext();
  StructuredOp structured;
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, context);
  AffineMap scalar = AffineMap::get(rank, 0, context);
  structured.sizes.assign(rank, ShapedType::kDynamic);
  auto addOperand = [&](Type type, bool isResult) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    structured.operands.push_back(
        {tensor ? identity : scalar, tensor, isResult});
    for (unsigned d = 0; tensor && d < rank; ++d)
      if (!tensor.isDynamicDim(d))
        structured.sizes[d] = tensor.getDimSize(d);
  };
  SmallVector<Type> elements;
  for (Type type : op->getOperandTypes())
    addOperand(type, false);
  for (Type type : op->getResultTypes()) {
    addOperand(type, true);
    elements.push_back(getElementTypeOrSelf(type));
    structured.readsInit.push_back(false);
  }
  structured.iterators.assign(rank, utils::IteratorType::parallel);
  structured.body.op = op;
  structured.mayTrap = !canSpeculate(op);
  structured.emitBody = [op, elements](OpBuilder &b, Location loc,
                                       ValueRange args, StructuredOp::Index) {
    OperationState state(loc, op->getName(),
                         args.take_front(op->getNumOperands()), elements,
                         op->getAttrs());
    return SmallVector<Value>(b.create(state)->getResults());
  };

  std::string whyNot;
  if (failed(checkStructured(structured, whyNot)))
    return reasons.fail(rewriter, op, whyNot);
  Location loc = op->getLoc();
  unsigned first = shaped - op->getOperandTypes().begin();
  SmallVector<OpFoldResult> sizes = getLogicalSizes(
      rewriter, loc, cast<RankedTensorType>(*shaped), operands[first]);
  SmallVector<Value> inits;
  SmallVector<ValueRange> all(operands);
  for (auto [r, type] : llvm::enumerate(op->getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    inits.push_back(statesPadding(tensor) && !coversStorage(structured, r)
                        ? createPadded(rewriter, loc, tensor, sizes)
                        : createEmpty(rewriter, loc, tensor, sizes));
  }
  for (Value &init : inits)
    all.push_back(ValueRange(init));
  FailureOr<SmallVector<Value>> results =
      lowerStructured(rewriter, loc, structured, all, whyNot);
  assert(succeeded(results) && "checked above");
  SmallVector<SmallVector<Value>> replacements;
  for (auto [type, result] : llvm::zip_equal(op->getResultTypes(), *results))
    replacements.push_back(withCarriedSizes(
        rewriter, loc, cast<RankedTensorType>(type), result, sizes));
  rewriter.replaceOpWithMultiple(op, std::move(replacements));
  return success();
}

void layout::populateStructuredPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns,
                                        Reasons &reasons) {
  patterns.add<LinalgPattern, ElementwisePattern>(
      converter, patterns.getContext(), reasons);
}
