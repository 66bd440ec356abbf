//===- PartsInPlace.cpp - In-place concatenation and accumulation ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/PartsInPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if `init` is uninitialized, constant, or filled.
static bool isFresh(Value init) {
  Operation *op = init.getDefiningOp();
  return op && isa<tensor::EmptyOp, arith::ConstantOp, linalg::FillOp>(op);
}

bool layout::mayBeMadeInPlace(OpOperand &part) {
  auto concat = dyn_cast<tensor::ConcatOp>(part.getOwner());
  if (!concat || !concat.getResultType().hasStaticShape())
    return false;
  for (OpOperand &other : part.get().getUses()) {
    if (!isa<tensor::ConcatOp>(other.getOwner()))
      continue;
    bool isSame = other.getOwner() == concat;
    if (isSame ? other.getOperandNumber() < part.getOperandNumber()
               : other.getOwner()->getBlock() != concat->getBlock() ||
                     other.getOwner()->isBeforeInBlock(concat))
      return false;
  }
  Operation *producer = part.get().getDefiningOp();
  if (!producer)
    return true; // read through a conversion
  if (producer->getBlock() != concat->getBlock() ||
      isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::InsertSliceOp,
          tensor::CastOp>(producer))
    return false;
  if (auto compute = dyn_cast<linalg::LinalgOp>(producer)) {
    unsigned number = cast<OpResult>(part.get()).getResultNumber();
    OpOperand &init = compute.getDpsInitsMutable()[number];
    return !compute.payloadUsesValueFromOperand(&init) || isFresh(init.get());
  }
  return true;
}

bool layout::isStoredAtOnce(OpOperand &part) {
  if (!isa<tensor::ConcatOp>(part.getOwner()) || !part.get().hasOneUse())
    return false;
  Operation *maker = part.get().getDefiningOp();
  if (auto slice = dyn_cast_if_present<tensor::ExtractSliceOp>(maker))
    maker = slice.getSource().getDefiningOp();
  return isa_and_present<linalg::LinalgOp>(maker) &&
         !isa<linalg::FillOp, linalg::CopyOp, linalg::TransposeOp>(maker);
}

bool layout::isMadeInResult(OpOperand &init) {
  return isFresh(init.get()) || (init.get().hasOneUse() &&
                                 init.get().getDefiningOp<linalg::LinalgOp>());
}
