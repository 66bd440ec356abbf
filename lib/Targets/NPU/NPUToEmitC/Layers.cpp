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
