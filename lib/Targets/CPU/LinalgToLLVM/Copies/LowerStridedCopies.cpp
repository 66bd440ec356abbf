//===- LowerStridedCopies.cpp - Copies of non-contiguous buffers ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream lowers copies between non-contiguous buffers to calls of memrefCopy,
// which copies one element at a time:
// docs/upstream/memref-copy-of-strided-buffers.mlir.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERSTRIDEDCOPIESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns true if the buffer is known by its type to be row-major without
/// gaps, as memcpy requires.
static bool isDense(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return false;
  if (type.getLayout().isIdentity())
    return true;
  return type.hasStaticShape() &&
         type.areTrailingDimsContiguous(type.getRank());
}

/// Emits and returns two values: the condition that `buffer` is row-major
/// without gaps, from its strides, and the number of its elements.
static std::pair<Value, Value> seeDense(OpBuilder &b, Location loc,
                                        Value buffer) {
  auto parts = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
  Value dense = arith::ConstantIntOp::create(b, loc, 1, /*width=*/1);
  Value count = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<OpFoldResult> sizes = parts.getConstifiedMixedSizes();
  SmallVector<OpFoldResult> strides = parts.getConstifiedMixedStrides();
  for (size_t d = sizes.size(); d-- > 0;) {
    if (isConstantIntValue(sizes[d], 1))
      continue;
    Value isNext = b.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, count,
        getValueOrCreateConstantIndexOp(b, loc, strides[d]));
    dense = b.createOrFold<arith::AndIOp>(loc, dense, isNext);
    count = b.createOrFold<arith::MulIOp>(
        loc, count, getValueOrCreateConstantIndexOp(b, loc, sizes[d]));
  }
  return {dense, count};
}

/// Emits one memcpy under the run-time condition that both sides are dense, and
/// sets the insertion point to the other branch. Emits no branch, and keeps the
/// insertion point, if both shapes are static, if a side is known not to be
/// dense, or if elements are not integers or floats of 1, 2, 4, .. bytes.
static void emitDenseCopy(OpBuilder &b, memref::CopyOp op) {
  auto type = cast<MemRefType>(op.getSource().getType());
  Type element = type.getElementType();
  bool isStatic = llvm::all_of(op->getOperandTypes(), [](Type side) {
    return cast<MemRefType>(side).hasStaticShape();
  });
  // LLVM may pad elements of other sizes.
  if (isStatic || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() < 8 ||
      !llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()))
    return;
  Location loc = op.getLoc();
  auto [sourceIsDense, count] = seeDense(b, loc, op.getSource());
  Value targetIsDense = seeDense(b, loc, op.getTarget()).first;
  Value isDense =
      b.createOrFold<arith::AndIOp>(loc, sourceIsDense, targetIsDense);
  if (matchPattern(isDense, m_Zero()))
    return;
  auto branch = scf::IfOp::create(b, loc, isDense, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  LLVMTypeConverter converter(b.getContext());
  auto getPointer = [&](Value side) {
    Value parts = UnrealizedConversionCastOp::create(
                      b, loc, converter.convertType(side.getType()), side)
                      .getResult(0);
    return MemRefDescriptor(parts).bufferPtr(b, loc, converter,
                                             cast<MemRefType>(side.getType()));
  };
  Value bytes = arith::IndexCastOp::create(
      b, loc, b.getI64Type(),
      b.createOrFold<arith::MulIOp>(
          loc, count,
          arith::ConstantIndexOp::create(b, loc,
                                         element.getIntOrFloatBitWidth() / 8)));
  Value target = getPointer(op.getTarget());
  LLVM::MemcpyOp::create(b, loc, target, getPointer(op.getSource()), bytes,
                         /*isVolatile=*/false);
  b.setInsertionPointToStart(branch.elseBlock());
}

namespace {
struct LowerStridedCopies
    : layout::impl::LowerStridedCopiesPassBase<LowerStridedCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) {
      if (isa<MemRefType>(op.getSource().getType()) &&
          isa<MemRefType>(op.getTarget().getType()) &&
          !(isDense(op.getSource()) && isDense(op.getTarget())))
        copies.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::CopyOp copy : copies) {
      if (copy.getSource() == copy.getTarget()) {
        rewriter.eraseOp(copy);
        continue;
      }
      rewriter.setInsertionPoint(copy);
      emitDenseCopy(rewriter, copy);
      auto structured = linalg::CopyOp::create(
          rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
      rewriter.setInsertionPoint(structured);
      if (failed(linalg::linalgOpToLoops(
              rewriter, cast<linalg::LinalgOp>(structured.getOperation())))) {
        structured->emitError(
            "layout-cpu-lower-strided-copies: cannot lower this "
            "copy to loops");
        return signalPassFailure();
      }
      rewriter.eraseOp(structured);
    }
  }
};
} // namespace
