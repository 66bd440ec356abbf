//===- WideArguments.cpp - Arguments of i64 as words ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Execution units know words of 32 bits. An argument of i64 of which a function
// needs nothing but its value as f32 is the same bytes as words, the low one
// first, and becomes f32 at once:
//
//     %m : tensor<1x128xi64>, arith.sitofp of its elements
//     %m : tensor<1x128x2xi32> {npu.element = i64}
//       (high + (low < 0)) * 2^32 + low
//
// Law: values of 32 bits are rounded once, to the nearest, others to within two
// units in the last place.
//
//===----------------------------------------------------------------------===//

#include "PrepareForCores.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// What uses an argument: ops that move its elements, and the conversions of
/// them in bodies.
struct WideUses {
  SmallVector<Operation *> moves;
  SmallVector<std::pair<BlockArgument, arith::SIToFPOp>> casts;
  SmallVector<BlockArgument> elements;

  /// False where something else is done with the tensor.
  bool collect(Value tensor);
};
} // namespace

bool WideUses::collect(Value tensor) {
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
            tensor::ExtractSliceOp>(op)) {
      moves.push_back(op);
      return collect(op->getResult(0));
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.isDpsInit(&use))
      return false;
    BlockArgument element = generic.getMatchingBlockArgument(&use);
    elements.push_back(element);
    return llvm::all_of(element.getUsers(), [&](Operation *user) {
      auto cast = dyn_cast<arith::SIToFPOp>(user);
      casts.push_back({element, cast});
      return cast && cast.getType().isF32();
    });
  });
}

static Value makeFloats(OpBuilder &builder, Value words) {
  Location loc = words.getLoc();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(words.getType()).getShape().drop_back();
  Value init =
      tensor::EmptyOp::create(builder, loc, shape, builder.getF32Type());
  AffineMap all = builder.getMultiDimIdentityMap(shape.size());
  auto getWord = [&](int64_t word) {
    SmallVector<AffineExpr> exprs(all.getResults());
    exprs.push_back(builder.getAffineConstantExpr(word));
    return AffineMap::get(shape.size(), 0, exprs, builder.getContext());
  };
  SmallVector<utils::IteratorType> kinds(shape.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), ValueRange{words, words},
             ValueRange(init), ArrayRef<AffineMap>{getWord(0), getWord(1), all},
             kinds,
             [](OpBuilder &body, Location loc, ValueRange element) {
               auto toFloat = [&](Value word) -> Value {
                 return arith::SIToFPOp::create(body, loc, body.getF32Type(),
                                                word);
               };
               Value most = arith::ConstantOp::create(
                   body, loc, body.getI32IntegerAttr(31));
               Value scale = arith::ConstantOp::create(
                   body, loc, body.getF32FloatAttr(4294967296.0f));
               Value carry =
                   toFloat(arith::ShRUIOp::create(body, loc, element[0], most));
               Value high =
                   arith::AddFOp::create(body, loc, toFloat(element[1]), carry);
               high = arith::MulFOp::create(body, loc, high, scale);
               linalg::YieldOp::create(
                   body, loc,
                   arith::AddFOp::create(body, loc, high, toFloat(element[0]))
                       .getResult());
             })
      .getResult(0);
}

void layout::splitWideArguments(func::FuncOp function) {
  // Callers know the types of the arguments.
  if (function.isExternal() || !function.getBody().hasOneBlock() ||
      !SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()))
    return;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    WideUses uses;
    if (!type || !type.getElementType().isSignlessInteger(64) ||
        !type.hasStaticShape() || type.getEncoding() ||
        type.getNumElements() == 0 || argument.use_empty() ||
        !uses.collect(argument))
      continue;
    OpBuilder builder(function.getContext());
    builder.setInsertionPointToStart(argument.getOwner());
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(2);
    argument.setType(RankedTensorType::get(shape, builder.getI32Type()));
    SmallPtrSet<Operation *, 8> before;
    for (Operation *user : argument.getUsers())
      before.insert(user);
    Value floats = makeFloats(builder, argument);
    argument.replaceUsesWithIf(floats, [&](OpOperand &use) {
      return before.contains(use.getOwner());
    });
    for (Operation *move : uses.moves)
      move->getResult(0).setType(
          cast<RankedTensorType>(move->getResult(0).getType())
              .clone(builder.getF32Type()));
    for (BlockArgument element : uses.elements)
      element.setType(builder.getF32Type());
    for (auto [element, cast] : uses.casts) {
      cast.replaceAllUsesWith(Value(element));
      cast.erase();
    }
    function.setArgAttr(argument.getArgNumber(), npu::kElementArgument,
                        TypeAttr::get(type.getElementType()));
  }
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     function.getResultTypes()));
}
