//===- Layers.cpp - Functions of whole layers -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Layers.h"
#include "FunctionEmitter.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"

using namespace mlir;
using namespace mlir::npu;

int64_t npu::getStep(AffineExpr index, unsigned numLoops, unsigned loop) {
  SmallVector<int64_t> at(numLoops, 0);
  AffineMap map = AffineMap::get(numLoops, 0, index, index.getContext());
  int64_t first = map.compose(at)[0];
  at[loop] = 1;
  return map.compose(at)[0] - first;
}

std::optional<std::pair<unsigned, unsigned>>
npu::getFactors(linalg::LinalgOp op) {
  std::optional<ElementFunction> function = getElementFunction(op);
  if (!function || function->name != "mac" || op.getNumDpsInits() != 1)
    return std::nullopt;
  unsigned a = function->arguments[0].operand,
           b = function->arguments[1].operand;
  unsigned out = op.getDpsInitOperand(0)->getOperandNumber();
  if (a == b || a == out || b == out)
    return std::nullopt;
  return std::pair(a, b);
}

std::optional<TransferSide>
FunctionEmitter::findBox(const Operand &operand, AffineMap index,
                         const LoopSizes &ranges) const {
  CommandOperand there{operand.storage.map,
                       SmallVector<int64_t>(operand.type.getShape()), index};
  return getBox(there, ranges, getComputeLimits(chip));
}

std::optional<TransferSide>
FunctionEmitter::findAligned(const Operand &operand, AffineMap index,
                             const LoopSizes &ranges) const {
  std::optional<TransferSide> box = findBox(operand, index, ranges);
  if (!box || !isAligned(*box, ranges, /*elementBytes=*/4, chip.getEuBytes(),
                         getComputeLimits(chip)))
    return std::nullopt;
  return box;
}

bool FunctionEmitter::emitAsLayer(linalg::LinalgOp op,
                                  ArrayRef<Operand> operands) {
  for (OpOperand &operand : op->getOpOperands())
    if (!isa<MemRefType>(operand.get().getType()))
      return false;
  return emitAsConvolution(op, operands) || emitAsProduct(op, operands) ||
         emitAsWindows(op, operands);
}
