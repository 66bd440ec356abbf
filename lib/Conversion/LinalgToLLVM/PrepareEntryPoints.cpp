//===- PrepareEntryPoints.cpp - Tensor signatures of public functions -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Conversion/LinalgToLLVM/Passes.h"
#include "layout/Runtime/Signature.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PREPAREENTRYPOINTSPASS
#include "layout/Conversion/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using bufferization::BufferizationDialect;

static bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding();
}

/// What stands for the memory that a result shows: a result that the caller
/// writes to must not be another one's, nor a constant's. Results of an op with
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

/// Gives each returned tensor memory of its own: bufferization takes that for
/// granted where the results of a call are written to.
static void separateResults(func::ReturnOp op) {
  OpBuilder b(op);
  llvm::SmallPtrSet<void *, 4> seen;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    Value memory = findMemory(operand.get());
    if (!seen.insert(memory.getAsOpaquePointer()).second ||
        matchPattern(memory, m_Constant()))
      operand.set(bufferization::AllocTensorOp::create(
          b, op.getLoc(), type, ValueRange(), /*copy=*/operand.get()));
  }
}

namespace {
struct PrepareEntryPoints
    : layout::impl::PrepareEntryPointsPassBase<PrepareEntryPoints> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      function.walk(separateResults);
      if (function.isExternal() || !function.isPublic())
        continue;
      function->setAttr(layout::kCInterfaceAttrName, builder.getUnitAttr());
      FunctionType type = function.getFunctionType();
      // A launcher can only pass arrays. A function with other arguments is
      // still callable, from code that knows them.
      if (llvm::all_of(type.getInputs(), isPlainTensor) &&
          llvm::all_of(type.getResults(), isPlainTensor) &&
          !function->hasAttr(layout::kSignatureAttrName))
        function->setAttr(layout::kSignatureAttrName, TypeAttr::get(type));
      StringRef writable = BufferizationDialect::kWritableAttrName;
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
        if (isa<TensorType>(type.getInput(i)) &&
            !function.getArgAttr(i, writable))
          function.setArgAttr(i, writable, builder.getBoolAttr(false));
    }
  }
};
} // namespace
