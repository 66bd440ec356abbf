//===- CpuOps.cpp - Loops as an op on tensors -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "layout/Support/Kernels/ByteProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

#include "layout/Targets/CPU/LinalgToLLVM/CpuDialect.cpp.inc"

#define GET_OP_CLASSES
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.cpp.inc"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::cpu;
using layout::kWordBytes;

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

//===----------------------------------------------------------------------===//
// Words of four bytes
//===----------------------------------------------------------------------===//

LogicalResult ViewWordsOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  SmallVector<int64_t> shape(source.getShape());
  int64_t &last = shape.back();
  if (ShapedType::isDynamic(last) || last % kWordBytes != 0)
    return emitOpError("needs a static last dim that is a multiple of ")
           << kWordBytes << ", not that of " << source;
  last /= kWordBytes;
  auto result = RankedTensorType::get(
      shape, IntegerType::get(getContext(), 8 * kWordBytes));
  if (getType() != result)
    return emitOpError("has a result of type ")
           << getType() << "; its words are of type " << result;
  return success();
}

bool ViewWordsOp::bufferizesToMemoryRead(OpOperand &, const AnalysisState &) {
  return false;
}

bool ViewWordsOp::bufferizesToMemoryWrite(OpOperand &, const AnalysisState &) {
  return false;
}

AliasingValueList ViewWordsOp::getAliasingValues(OpOperand &,
                                                 const AnalysisState &) {
  return {{getOperation()->getResult(0), BufferRelation::Unknown}};
}

LogicalResult ViewWordsOp::bufferize(RewriterBase &rewriter,
                                     const BufferizationOptions &options,
                                     BufferizationState &state) {
  FailureOr<Value> source = getBuffer(rewriter, getSource(), options, state);
  if (failed(source))
    return failure();
  Location loc = getLoc();
  Value bytes = *source;
  auto type = cast<MemRefType>(bytes.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(rewriter, loc, bytes, dim));
  if (!type.getLayout().isIdentity()) {
    FailureOr<Value> copy = options.createAlloc(
        rewriter, loc, MemRefType::get(type.getShape(), type.getElementType()),
        sizes);
    if (failed(copy) ||
        failed(options.createMemCpy(rewriter, loc, bytes, *copy)))
      return failure();
    bytes = *copy;
  }
  if (type.getRank() != 1)
    bytes = memref::CollapseShapeOp::create(
        rewriter, loc, bytes,
        ArrayRef<ReassociationIndices>{
            llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))});
  auto words = cast<RankedTensorType>(getType());
  Value start = arith::ConstantIndexOp::create(rewriter, loc, 0);
  replaceOpWithNewBufferizedOp<memref::ViewOp>(
      rewriter, *this,
      MemRefType::get(words.getShape(), words.getElementType()), bytes, start,
      sizes);
  return success();
}

/// Checks that a sum of products of the parts of words is of i32.
static LogicalResult verifyWords(Operation *op) {
  Type type = op->getResult(0).getType();
  if (!getElementTypeOrSelf(type).isInteger(8 * kWordBytes))
    return op->emitOpError("has operands of type ")
           << type << "; words of four bytes are of type i32";
  return success();
}

LogicalResult DotBytesOp::verify() { return verifyWords(*this); }

LogicalResult DotHalvesOp::verify() { return verifyWords(*this); }
