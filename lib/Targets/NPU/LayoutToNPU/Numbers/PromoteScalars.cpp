//===- PromoteScalars.cpp - Runtime scalars as tensors --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Commands contain scalars that are known at compile time. Other scalars become
// tensors of rank 0:
//
//     %n = tensor.extract %x[%c1] : tensor<4xf32>       a slice of %x
//     %m = arith.addf %n, %one : f32                    an op on tensor<f32>
//     %s = tensor.splat %m : tensor<4x8xf32>            a copy along dims
//
// Ops that build tensors from scalars become concatenations and insertions.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
class NumberCarrier {
public:
  void visit(Operation *op);

private:
  Value getTensor(OpBuilder &builder, Value number, unsigned rank);
  void visitNumber(Operation *op);
  void extract(tensor::ExtractOp op);
  void giveOperands(linalg::GenericOp op);
  Value fill(OpBuilder &builder, Location loc, Value number, Value init);
  Value fromElements(OpBuilder &builder, tensor::FromElementsOp op);
  Value insert(OpBuilder &builder, tensor::InsertOp op);
  Value pad(OpBuilder &builder, tensor::PadOp op);

  /// The rank-0 tensor of each scalar that is known at run time only.
  DenseMap<Value, Value> tensors;
};
} // namespace

/// Returns the indices of an element of a tensor of `type`, or std::nullopt
/// unless they are constant and in bounds, and the type is static and has no
/// layout.
static std::optional<SmallVector<OpFoldResult>>
getPlace(OperandRange indices, RankedTensorType type) {
  SmallVector<OpFoldResult> place = getAsOpFoldResult(indices);
  std::optional<SmallVector<int64_t>> at = getConstantIntValues(place);
  if (!at || !type.hasStaticShape() || type.getEncoding())
    return std::nullopt;
  for (auto [index, size] : llvm::zip_equal(*at, type.getShape()))
    if (index < 0 || index >= size)
      return std::nullopt;
  return place;
}

static RankedTensorType getScalar(Type element) {
  return RankedTensorType::get({}, element);
}

static Value makeEmpty(OpBuilder &builder, Location loc,
                       RankedTensorType type) {
  return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                 type.getElementType());
}

/// Reshapes `tensor` to `type`, which has as many elements, by collapsing and
/// expanding all dims.
static Value reshape(OpBuilder &builder, Location loc, Value tensor,
                     RankedTensorType type) {
  auto all = [](RankedTensorType type) {
    SmallVector<ReassociationIndices> groups;
    if (type.getRank())
      groups.emplace_back(llvm::to_vector(llvm::seq(type.getRank())));
    return groups;
  };
  auto from = cast<RankedTensorType>(tensor.getType());
  if (from == type)
    return tensor;
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  if (from.getRank() == 0)
    tensor =
        tensor::ExpandShapeOp::create(builder, loc, flat, tensor, all(from));
  else if (from.getRank() > 1)
    tensor =
        tensor::CollapseShapeOp::create(builder, loc, flat, tensor, all(from));
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, loc, type, tensor,
                                           all(type));
  return type.getRank() == 1 ? tensor
                             : tensor::ExpandShapeOp::create(builder, loc, type,
                                                             tensor, all(type));
}

/// Returns a scalar as a tensor of one element and rank `rank`, or a null value
/// if it is neither a constant nor a run-time scalar that has become a rank-0
/// tensor.
Value NumberCarrier::getTensor(OpBuilder &builder, Value number,
                               unsigned rank) {
  auto type =
      RankedTensorType::get(SmallVector<int64_t>(rank, 1), number.getType());
  if (Value tensor = tensors.lookup(number))
    return reshape(builder, number.getLoc(), tensor, type);
  TypedAttr value;
  if (!matchPattern(number, m_Constant(&value)))
    return {};
  return arith::ConstantOp::create(
      builder, number.getLoc(), DenseElementsAttr::get(type, Attribute(value)));
}

void NumberCarrier::extract(tensor::ExtractOp op) {
  RankedTensorType type = op.getTensor().getType();
  std::optional<SmallVector<OpFoldResult>> place =
      getPlace(op.getIndices(), type);
  if (!place || !op.getType().isIntOrFloat())
    return;
  OpBuilder builder(op);
  SmallVector<OpFoldResult> ones(place->size(), builder.getIndexAttr(1));
  tensors[op.getResult()] =
      place->empty() ? op.getTensor()
                     : Value(tensor::ExtractSliceOp::create(
                           builder, op.getLoc(), getScalar(op.getType()),
                           op.getTensor(), *place, ones, ones));
}

/// Rewrites a scalar op as a linalg.generic on rank-0 tensors. Does nothing
/// unless the operands are constants and run-time scalars that have become such
/// tensors, with at least one of the latter.
void NumberCarrier::visitNumber(Operation *op) {
  llvm::SetVector<Value> known;
  for (Value operand : op->getOperands())
    if (tensors.contains(operand))
      known.insert(operand);
    else if (!matchPattern(operand, m_Constant()))
      return;
  Type element = op->getResult(0).getType();
  if (known.empty() || !isPure(op) || !element.isIntOrFloat())
    return;
  OpBuilder builder(op);
  auto inputs = llvm::map_to_vector(
      known, [&](Value number) { return tensors.lookup(number); });
  Value init = makeEmpty(builder, op->getLoc(), getScalar(element));
  SmallVector<AffineMap> maps(known.size() + 1,
                              AffineMap::get(op->getContext()));
  auto generic = linalg::GenericOp::create(
      builder, op->getLoc(), TypeRange(init.getType()), inputs,
      ValueRange(init), maps, ArrayRef<utils::IteratorType>(),
      [&](OpBuilder &body, Location loc, ValueRange values) {
        IRMapping mapping;
        mapping.map(known.getArrayRef(), values.drop_back());
        linalg::YieldOp::create(body, loc,
                                body.clone(*op, mapping)->getResults());
      });
  tensors[op->getResult(0)] = generic.getResult(0);
}

/// Fills `init` with a run-time scalar that has become a rank-0 tensor, and
/// returns the result. Returns a null value for other scalars, or if `init` has
/// dynamic sizes or a layout.
Value NumberCarrier::fill(OpBuilder &builder, Location loc, Value number,
                          Value init) {
  auto type = cast<RankedTensorType>(init.getType());
  Value tensor = tensors.lookup(number);
  if (!tensor || !type.hasStaticShape() || type.getEncoding())
    return {};
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(type), ValueRange(tensor),
             ValueRange(init),
             ArrayRef{AffineMap::get(type.getRank(), 0, builder.getContext()),
                      builder.getMultiDimIdentityMap(type.getRank())},
             kinds,
             [](OpBuilder &body, Location loc, ValueRange values) {
               linalg::YieldOp::create(body, loc, values.front());
             })
      .getResult(0);
}

Value NumberCarrier::fromElements(OpBuilder &builder,
                                  tensor::FromElementsOp op) {
  Type element = op.getType().getElementType();
  SmallVector<Value> parts;
  SmallVector<Attribute> constants;
  auto addConstants = [&] {
    if (constants.empty())
      return;
    auto type = RankedTensorType::get({int64_t(constants.size())}, element);
    parts.push_back(arith::ConstantOp::create(
        builder, op.getLoc(), DenseElementsAttr::get(type, constants)));
    constants.clear();
  };
  for (Value number : op.getElements()) {
    TypedAttr value;
    if (matchPattern(number, m_Constant(&value))) {
      constants.push_back(value);
      continue;
    }
    addConstants();
    parts.push_back(getTensor(builder, number, 1));
    if (!parts.back())
      return {};
  }
  addConstants();
  if (parts.empty())
    return {};
  Value all = parts.size() == 1
                  ? parts.front()
                  : tensor::ConcatOp::create(builder, op.getLoc(), 0, parts);
  return reshape(builder, op.getLoc(), all, op.getType());
}

Value NumberCarrier::insert(OpBuilder &builder, tensor::InsertOp op) {
  std::optional<SmallVector<OpFoldResult>> place =
      getPlace(op.getIndices(), op.getDest().getType());
  Value number =
      place ? getTensor(builder, op.getScalar(), place->size()) : Value();
  if (!number || place->empty())
    return number;
  SmallVector<OpFoldResult> ones(place->size(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(builder, op.getLoc(), number,
                                       op.getDest(), *place, ones, ones);
}

/// Rewrites a pad with a run-time scalar: fills the result with it and inserts
/// the source. Returns a null value for other pads.
Value NumberCarrier::pad(OpBuilder &builder, tensor::PadOp op) {
  Value number = op.getConstantPaddingValue();
  if (!number || !op.getSourceType().hasStaticShape())
    return {};
  Location loc = op.getLoc();
  Value all =
      fill(builder, loc, number, makeEmpty(builder, loc, op.getResultType()));
  if (!all)
    return {};
  SmallVector<OpFoldResult> ones(op.getSourceType().getRank(),
                                 builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(
      builder, loc, op.getSource(), all, op.getMixedLowPad(),
      getAsIndexOpFoldResult(op.getContext(), op.getSourceType().getShape()),
      ones);
}

/// Replaces the run-time scalars that a linalg.generic reads, as inputs or in
/// its body, by the rank-0 tensors that they have become, as inputs.
void NumberCarrier::giveOperands(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape())
    return;
  for (OpOperand &input : op->getOpOperands().take_front(op.getNumDpsInputs()))
    if (Value tensor = tensors.lookup(input.get()))
      input.set(tensor);
  llvm::SetVector<Value> read;
  op.getBlock()->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (tensors.contains(operand))
        read.insert(operand);
  });
  AffineMap none = AffineMap::get(op.getNumLoops(), 0, op.getContext());
  for (Value number : read) {
    Value element = addOperand(op, tensors.lookup(number), none);
    number.replaceUsesWithIf(element, [&](OpOperand &use) {
      return op.getRegion().isAncestor(use.getOwner()->getParentRegion());
    });
  }
}

void NumberCarrier::visit(Operation *op) {
  OpBuilder builder(op);
  Value made =
      TypeSwitch<Operation *, Value>(op)
          .Case([&](tensor::ExtractOp op) { return extract(op), Value(); })
          .Case([&](linalg::GenericOp op) { return giveOperands(op), Value(); })
          .Case([&](linalg::FillOp op) {
            return fill(builder, op.getLoc(), op.getInputs().front(),
                        op.getOutputs().front());
          })
          .Case([&](tensor::SplatOp op) {
            return op.getType().hasStaticShape()
                       ? fill(builder, op.getLoc(), op.getInput(),
                              makeEmpty(builder, op.getLoc(), op.getType()))
                       : Value();
          })
          .Case([&](tensor::FromElementsOp op) {
            return fromElements(builder, op);
          })
          .Case([&](tensor::InsertOp op) { return insert(builder, op); })
          .Case([&](tensor::PadOp op) { return pad(builder, op); })
          .Case([&](tensor::ReshapeOp op) {
            auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
            auto to = dyn_cast<RankedTensorType>(op.getType());
            bool isKnown = from && to && from.hasStaticShape() &&
                           to.hasStaticShape() && !from.getEncoding() &&
                           !to.getEncoding() && to.getNumElements();
            return isKnown ? reshape(builder, op.getLoc(), op.getSource(), to)
                           : Value();
          })
          .Default([&](Operation *op) {
            if (op->getNumResults() == 1 && op->getNumRegions() == 0 &&
                llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TensorType>))
              visitNumber(op);
            return Value();
          });
  if (made)
    op->replaceAllUsesWith(ValueRange(made));
}

void layout::promoteScalarsToTensors(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return;
  NumberCarrier carrier;
  SmallVector<Operation *> ops = llvm::to_vector(llvm::make_pointer_range(
      function.getBody().front().without_terminator()));
  for (Operation *op : ops)
    carrier.visit(op);
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}
