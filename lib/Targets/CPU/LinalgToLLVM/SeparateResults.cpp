//===- SeparateResults.cpp - Memory of its own for each result ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::layout {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// What stands for the memory that a result shows. Results of an op with
/// regions may be one value on some way through them.
static Value findMemory(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<RegionBranchOpInterface>(op))
      return op->getResult(0);
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Whether what `op` gives is carried to the next turn of a loop.
static bool endsTurn(Operation *op) {
  return isa<RegionBranchTerminatorOpInterface>(op) &&
         isa<LoopLikeOpInterface>(op->getParentOp());
}

namespace {
struct SeparateResults
    : layout::impl::SeparateResultsPassBase<SeparateResults> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (!isa<func::ReturnOp>(op) && !endsTurn(op))
        return;
      OpBuilder b(op);
      llvm::SmallPtrSet<void *, 4> seen;
      for (OpOperand &operand : op->getOpOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        if (!type)
          continue;
        Value memory = findMemory(operand.get());
        if (!seen.insert(memory.getAsOpaquePointer()).second ||
            (isa<func::ReturnOp>(op) && matchPattern(memory, m_Constant())))
          operand.set(bufferization::AllocTensorOp::create(
              b, op->getLoc(), type, ValueRange(), /*copy=*/operand.get()));
      }
    });
  }
};
} // namespace
