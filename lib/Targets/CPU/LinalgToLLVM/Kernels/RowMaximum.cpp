//===- RowMaximum.cpp - Distances from the maximum of a row ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/RowMaximum.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

/// Returns the operand of `op` that is `argument` of its body, or nullptr if
/// `argument` is another value.
static OpOperand *findInput(linalg::LinalgOp op, Value argument) {
  auto block = dyn_cast<BlockArgument>(argument);
  if (!block || block.getOwner() != op.getBlock() ||
      block.getArgNumber() >= op.getNumDpsInputs())
    return nullptr;
  return op.getDpsInputOperand(block.getArgNumber());
}

/// Returns true if `rows` is a maximum over dims of `elements`, at the same
/// position of the other dims.
static bool isMaximumOf(linalg::LinalgOp op, OpOperand &rows,
                        OpOperand &elements) {
  auto maximum = rows.get().getDefiningOp<linalg::LinalgOp>();
  if (!maximum || maximum.getNumDpsInputs() != 1 ||
      maximum.getNumDpsInits() != 1 || maximum.getNumReductionLoops() == 0 ||
      maximum.getDpsInputOperand(0)->get() != elements.get())
    return false;
  Operation *yield = maximum.getBlock()->getTerminator();
  Operation *larger = yield->getOperand(0).getDefiningOp();
  Value element = maximum.getBlock()->getArgument(0);
  if (!isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(larger) ||
      !llvm::is_contained(larger->getOperands(), element) ||
      !llvm::is_contained(larger->getOperands(),
                          maximum.getRegionOutputArgs()[0]))
    return false;
  AffineMap from =
      maximum.getMatchingIndexingMap(maximum.getDpsInputOperand(0));
  AffineMap to = maximum.getMatchingIndexingMap(maximum.getDpsInitOperand(0));
  if (!from.isPermutation())
    return false;
  AffineMap row = to.compose(inversePermutation(from))
                      .compose(op.getMatchingIndexingMap(&elements));
  return row == op.getMatchingIndexingMap(&rows);
}

void layout::markDistancesFromMaximum(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  for (auto exp : op.getBlock()->getOps<math::ExpOp>()) {
    auto distance = exp.getOperand().getDefiningOp<arith::SubFOp>();
    if (!distance)
      continue;
    OpOperand *elements = findInput(op, distance.getLhs());
    OpOperand *rows = findInput(op, distance.getRhs());
    if (elements && rows && isMaximumOf(op, *rows, *elements))
      exp->setAttr(kNotPositiveAttr, UnitAttr::get(op.getContext()));
  }
}
