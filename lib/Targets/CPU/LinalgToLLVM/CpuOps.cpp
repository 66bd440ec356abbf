//===- CpuOps.cpp - Loops as an op on tensors -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

#include "layout/Targets/CPU/LinalgToLLVM/CpuDialect.cpp.inc"

#define GET_OP_CLASSES
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.cpp.inc"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::cpu;

void CpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.cpp.inc"
      >();
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getNumOperands())
    return emitOpError("has ")
           << getNumOperands() << " tensors, but its body has "
           << block.getNumArguments() << " buffers; it needs one for each";
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), getOperands())) {
    auto tensor = cast<RankedTensorType>(operand.getType());
    auto buffer = dyn_cast<MemRefType>(argument.getType());
    if (!buffer || buffer.getElementType() != tensor.getElementType() ||
        buffer.getShape() != tensor.getShape())
      return emitOpError("has a body with ")
             << argument.getType() << " for " << tensor
             << "; a buffer must have the shape and the element type of its "
                "tensor";
  }
  return success();
}

/// Returns true if an op in the body of the cpu.kernel, or in a function that
/// it calls, may read `buffer`, an argument of the body. An op of unknown
/// effects counts as a read.
static bool isRead(BlockArgument buffer) {
  return llvm::any_of(buffer.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      return !callee || callee.isExternal() ||
             isRead(callee.getArgument(use.getOperandNumber()));
    }
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    return !effects ||
           effects.getEffectOnValue<MemoryEffects::Read>(buffer).has_value();
  });
}

bool KernelOp::bufferizesToMemoryRead(OpOperand &operand,
                                      const AnalysisState &state) {
  return isRead(getBody().getArgument(operand.getOperandNumber()));
}

bool KernelOp::bufferizesToMemoryWrite(OpOperand &operand,
                                       const AnalysisState &state) {
  return isDpsInit(&operand);
}

AliasingValueList KernelOp::getAliasingValues(OpOperand &operand,
                                              const AnalysisState &state) {
  if (!isDpsInit(&operand))
    return {};
  return {{getTiedOpResult(&operand), BufferRelation::Equivalent}};
}

LogicalResult KernelOp::bufferize(RewriterBase &rewriter,
                                  const BufferizationOptions &options,
                                  BufferizationState &state) {
  SmallVector<Value> buffers, given;
  Block &block = getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), getOperands())) {
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
    given.push_back(*buffer);
    if (argument.getType() == buffer->getType())
      continue;
    // layout-cpu-bufferize changes the type of the function afterwards.
    if (llvm::any_of(argument.getUsers(), llvm::IsaPred<func::CallOp>))
      given.back() = UnrealizedConversionCastOp::create(
                         rewriter, getLoc(), argument.getType(), *buffer)
                         .getResult(0);
    else
      argument.setType(buffer->getType());
  }
  rewriter.inlineBlockBefore(&block, *this, given);
  replaceOpWithBufferizedValues(
      rewriter, *this, ValueRange(buffers).take_front(getOutputs().size()));
  return success();
}
