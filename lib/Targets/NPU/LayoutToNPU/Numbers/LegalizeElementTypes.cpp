//===- LegalizeElementTypes.cpp - Legalization of i1 and index elements ---===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns the element type that a tensor has in memory, i8 for i1 and i64 for
/// index, or a null type for types that stay.
static Type getStored(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  return {};
}

static RankedTensorType getStoredTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type stored = tensor ? getStored(tensor.getElementType()) : Type();
  return stored ? tensor.clone(stored) : RankedTensorType();
}

static bool isStoredOtherwise(Value value) {
  return bool(getStoredTensor(value.getType()));
}

static Value toStored(OpBuilder &builder, Location loc, Value value) {
  Type stored = getStored(value.getType());
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, stored, value);
  return builder.createOrFold<arith::ExtUIOp>(loc, stored, value);
}

static Value fromStored(OpBuilder &builder, Location loc, Type type,
                        Value value) {
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return arith::TruncIOp::create(builder, loc, type, value);
}

/// Returns true if the element types of the op's tensors can be changed to
/// those in memory, i1 to i8 and index to i64.
static bool isKnown(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue());
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasPureTensorSemantics();
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp,
             tensor::DimOp, tensor::EmptyOp, tensor::ExpandShapeOp,
             tensor::ExtractOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
             tensor::PadOp, tensor::SplatOp>(op);
}

/// Converts operand `number` of a linalg.yield or tensor.yield to its type in
/// memory, e.g. i1 to i8.
static void storeYielded(Operation *terminator, unsigned number) {
  OpBuilder builder(terminator);
  OpOperand &yielded = terminator->getOpOperand(number);
  yielded.set(toStored(builder, terminator->getLoc(), yielded.get()));
}

static void changeLinalg(linalg::LinalgOp op) {
  OpBuilder builder(op);
  if (isa<linalg::FillOp>(*op)) {
    op->setOperand(0, toStored(builder, op.getLoc(), op->getOperand(0)));
    linalg::FillOp fresh = linalg::FillOp::create(
        builder, op.getLoc(), op->getOperand(0), op->getOperand(1));
    op->replaceAllUsesWith(fresh);
    return op.erase();
  }
  IRRewriter rewriter(builder);
  linalg::GenericOp generic = dyn_cast<linalg::GenericOp>(*op);
  if (!generic) {
    // Generalize named ops, whose bodies cannot convert element types.
    FailureOr<linalg::GenericOp> general =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(general))
      return;
    generic = *general;
  }
  Block *body = generic.getBlock();
  builder.setInsertionPointToStart(body);
  for (OpOperand &operand : generic->getOpOperands()) {
    BlockArgument element = generic.getMatchingBlockArgument(&operand);
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || type.getElementType() == element.getType())
      continue;
    Type before = element.getType();
    element.setType(type.getElementType());
    if (element.use_empty())
      continue;
    Value value = fromStored(builder, generic.getLoc(), before, element);
    element.replaceAllUsesExcept(value, value.getDefiningOp());
  }
  for (auto [i, result] : llvm::enumerate(generic.getResults()))
    if (getElementTypeOrSelf(result) !=
        body->getTerminator()->getOperand(i).getType())
      storeYielded(body->getTerminator(), i);
}

/// Updates the body or value of an op whose operands and results have got
/// stored types, so that it is valid again.
static void changeOp(Operation *op) {
  OpBuilder builder(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto type = cast<RankedTensorType>(constant.getResult().getType());
    auto values = cast<DenseElementsAttr>(constant.getValue());
    unsigned width = type.getElementTypeBitWidth();
    constant.setValueAttr(
        values.mapValues(type.getElementType(), [&](const APInt &value) {
          return value.zextOrTrunc(width);
        }));
  } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    changeLinalg(linalgOp);
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    storeYielded(pad.getBody()->getTerminator(), 0);
  } else if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    splat.getInputMutable().set(
        toStored(builder, op->getLoc(), splat.getInput()));
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Type before = extract.getType();
    extract.getResult().setType(
        cast<RankedTensorType>(extract.getTensor().getType()).getElementType());
    builder.setInsertionPointAfter(op);
    Value value = fromStored(builder, op->getLoc(), before, extract);
    extract.getResult().replaceAllUsesExcept(value, value.getDefiningOp());
  }
}

/// Lets the function take i8 arguments for i1, and return i8 results for i1,
/// with the types of its callers as attributes.
static void changeSignature(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (RankedTensorType stored = getStoredTensor(argument.getType())) {
      function.setArgAttr(argument.getArgNumber(), npu::kElementArgument,
                          TypeAttr::get(argument.getType()));
      argument.setType(stored);
    }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (getStoredTensor(type))
      function.setResultAttr(i, npu::kElementArgument, TypeAttr::get(type));
}

void layout::legalizeElementTypes(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return;
  SmallVector<Operation *> ops;
  bool areKnown = true;
  Operation *terminator = function.getBody().front().getTerminator();
  function.walk([&](Operation *op) {
    if (op == function || op == terminator ||
        (llvm::none_of(op->getOperands(), isStoredOtherwise) &&
         llvm::none_of(op->getResults(), isStoredOtherwise)))
      return;
    areKnown &= isKnown(op);
    ops.push_back(op);
  });
  // Callers pass i1 as bytes, but index arguments, empty i1 ones, and those with
  // a layout in no known type. The lowering reports these.
  SmallVector<Type> passed(function.getArgumentTypes());
  llvm::append_range(passed, function.getResultTypes());
  bool isPassed = llvm::any_of(
      passed, [](Type type) { return bool(getStoredTensor(type)); });
  areKnown &= llvm::none_of(passed, [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && (tensor.getElementType().isIndex() ||
                      (getStoredTensor(type) &&
                       (tensor.getEncoding() || !tensor.hasStaticShape() ||
                        tensor.getNumElements() == 0)));
  });
  // The types of a function with callers cannot change.
  areKnown &= !isPassed || SymbolTable::symbolKnownUseEmpty(
                               function, function->getParentOp());
  if (!areKnown)
    return;
  if (isPassed)
    changeSignature(function);
  for (Operation *op : ops)
    for (OpResult result : op->getResults())
      if (RankedTensorType stored = getStoredTensor(result.getType()))
        result.setType(stored);
  llvm::for_each(ops, changeOp);
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     terminator->getOperandTypes()));
}
