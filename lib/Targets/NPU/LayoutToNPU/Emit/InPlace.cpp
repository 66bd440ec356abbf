//===- InPlace.cpp - Results in the memory of operands --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An elementwise op may reuse the memory of an operand that has no other use
// and the layout of the result:
//
//   %c = linalg.conv_2d_nchw_fchw ..
//   %s = linalg.generic ins(%c, %bias) outs(%empty)   adds
//
// becomes
//
//   %s = linalg.generic ins(%bias) outs(%c)           adds in place
//
// Law: all elements keep their values; an element is overwritten only after its
// last read.
//
//===----------------------------------------------------------------------===//

#include "Tiling/TileAndFuse.h"
#include "layout/Targets/NPU/NpuSeeds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::mayOverwrite(Operation *op) {
  return op->getDialect() && !isa<arith::ConstantOp>(op) &&
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         !isa<math::ExpOp, math::TanhOp, math::SqrtOp, math::RsqrtOp>(op);
}

OpOperand *layout::findOverwritten(Operation *op) {
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  if (!compute || !isForCores(compute) || op->getNumResults() != 1)
    return nullptr;
  // Returns true if cores compute the operand in this block, and only this op
  // uses it.
  auto isOwn = [&](OpOperand &operand) {
    auto maker = operand.get().getDefiningOp<linalg::LinalgOp>();
    return maker && isForCores(maker) && maker->getBlock() == op->getBlock() &&
           operand.get().hasOneUse();
  };
  OpOperand &init = *compute.getDpsInitOperand(0);
  if (compute.payloadUsesValueFromOperand(&init))
    return isOwn(init) ? &init : nullptr;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumReductionLoops() > 0)
    return nullptr;
  SmallVector<Operation *> body;
  for (Operation &inner : generic.getBody()->without_terminator())
    if (!isa<arith::ConstantOp>(inner))
      body.push_back(&inner);
  AffineMap map = generic.getMatchingIndexingMap(&init);
  if (body.size() != 1 || !mayOverwrite(body.front()) || !map.isPermutation())
    return nullptr;
  // The result may be computed in its slice of a concatenation, so that it
  // cannot overwrite an operand.
  for (Operation *user : op->getUsers())
    if (isa<tensor::ConcatOp>(user) && !user->hasAttr(kStored))
      return nullptr;
  for (OpOperand *input : generic.getDpsInputOperands())
    if (isOwn(*input) && input->get().getType() == init.get().getType() &&
        generic.getMatchingIndexingMap(input) == map &&
        generic.payloadUsesValueFromOperand(input))
      return input;
  return nullptr;
}

/// Makes the input `operand` of `op` its init in place of the old init, so that
/// the result overwrites this input.
static void overwrite(linalg::GenericOp op, unsigned operand) {
  OpBuilder builder(op);
  Value init = op->getOperand(operand);
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  inputs.erase(inputs.begin() + operand);
  maps.erase(maps.begin() + operand);
  auto made =
      linalg::GenericOp::create(builder, op.getLoc(), op.getResultTypes(),
                                inputs, init, maps, op.getIteratorTypesArray());
  made.getRegion().takeBody(op.getRegion());
  Block *body = made.getBody();
  body->getArgument(operand).replaceAllUsesWith(body->getArguments().back());
  body->eraseArgument(operand);
  op->replaceAllUsesWith(made);
  op.erase();
}

void layout::makeInPlace(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    if (OpOperand *operand = findOverwritten(op);
        operand && op.isDpsInput(operand))
      overwrite(op, operand->getOperandNumber());
  });
}
