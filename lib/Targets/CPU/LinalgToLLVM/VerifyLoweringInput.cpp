//===- VerifyLoweringInput.cpp - Preconditions of the LLVM lowering -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifies what later passes, many of them upstream's, assume. They crash or
// create invalid IR otherwise.
//
//===----------------------------------------------------------------------===//

#include "layout/Support/ConstantBytes.h"
#include "layout/Support/LoweredDialects.h"
#include "layout/Support/StatedSizes.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::layout {
#define GEN_PASS_DEF_VERIFYLOWERINGINPUTPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns the encoding or memory space of a type, or a null attribute if it
/// has none.
static Attribute findExtra(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getEncoding();
  if (auto memref = dyn_cast<BaseMemRefType>(type))
    return memref.getMemorySpace();
  return {};
}

/// Returns true if the byte size of `type` fits in 64 bits, or if `type` has no
/// static shape.
static bool fitsMemory(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape() || layout::hasNoElements(shaped))
    return true;
  Type element = shaped.getElementType();
  int64_t bytes = element.isIntOrFloat()
                      ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                      : 8;
  return llvm::none_of(shaped.getShape(), [&](int64_t extent) {
    return llvm::MulOverflow(bytes, extent, bytes);
  });
}

static LogicalResult checkTypes(Operation *op) {
  bool needsRank = op->hasTrait<OpTrait::Elementwise>();
  auto check = [&](TypeRange types) -> LogicalResult {
    for (Type type : types) {
      if (findExtra(type))
        return op->emitOpError()
               << "has a value of type " << type
               << ", but the CPU has one memory and tensors must be dense "
                  "here; lower layouts with convert-layout-to-linalg, and "
                  "remove other encodings";
      if (!fitsMemory(type))
        return op->emitOpError() << "has a value of type " << type
                                 << ", whose bytes do not fit 64 bits (L1): "
                                    "the tensor is too large";
      if (needsRank && isa<UnrankedTensorType>(type))
        return op->emitOpError()
               << "computes on a value of type " << type
               << ", whose loops are unknown; cast it to a ranked type";
    }
    return success();
  };
  if (failed(check(op->getOperandTypes())) ||
      failed(check(op->getResultTypes())))
    return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(check(block.getArgumentTypes())))
        return failure();
  if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(op))
    if (std::optional<Attribute> space = alloc.getMemorySpace();
        space && *space != Attribute())
      return op->emitOpError()
             << "uses the memory space " << *space
             << ", but the CPU has one memory; remove the memory space";
  return success();
}

/// Emits an error and fails if `op` always runs and casts the result of another
/// cast to sizes that contradict it.
static LogicalResult checkCast(tensor::CastOp op) {
  TensorType contradicted = layout::getContradictedType(op);
  if (!contradicted || !isa<func::FuncOp>(op->getParentOp()))
    return success();
  return op.emitOpError() << "casts a " << contradicted << " to a "
                          << op.getType()
                          << ", which is never valid; remove one of the casts";
}

/// Emits an error at `op` and fails if its value is a resource of rank 0, one
/// that the module does not have, or one with more or fewer bytes than its type
/// needs. Upstream does not check this.
static LogicalResult checkResource(arith::ConstantOp op) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  if (!resource)
    return success();
  ShapedType type = resource.getType();
  if (type.getRank() == 0)
    return op.emitOpError() << "holds one element as a resource, which has no "
                               "lowering; write it as dense<..>";
  std::optional<ArrayRef<char>> data = layout::getConstantBytes(resource);
  if (!data)
    return op.emitOpError()
           << "names the resource '" << resource.getRawHandle().getKey()
           << "', which the module does not have; add it";
  Type element = type.getElementType();
  if (!element.isIntOrIndexOrFloat())
    return success();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  int64_t bytes = type.getNumElements() * llvm::divideCeil(bits, 8);
  if (bits == 1)
    bytes = llvm::divideCeil(type.getNumElements(), 8);
  if (int64_t(data->size()) == bytes)
    return success();
  return op.emitOpError() << "of type " << type << " needs " << bytes
                          << " bytes, but its resource '"
                          << resource.getRawHandle().getKey() << "' holds "
                          << data->size();
}

/// Emits an error and fails if the blocks of `function` form a loop
/// (unstructured control flow), because buffers would not be deallocated.
static LogicalResult checkBlocks(func::FuncOp function) {
  Region &body = function.getBody();
  if (body.empty())
    return success();
  for (auto it = llvm::scc_begin(&body); !it.isAtEnd(); ++it)
    if (it.hasCycle())
      return function.emitOpError()
             << "has a loop of blocks, but deallocation of buffers needs "
                "structured loops; convert it with lift-cf-to-scf";
  return success();
}

static LogicalResult check(Operation *op) {
  if (isOpTriviallyDead(op))
    return success();
  if (!layout::isPlainDialect(op->getName().getDialectNamespace()) &&
      !isa<linalg::AggregatedOpInterface>(op))
    return op->emitOpError("has no lowering to the LLVM dialect here; lower it "
                           "before this pipeline");
  if (failed(checkTypes(op)) || failed(layout::checkStatedSizes(op)))
    return failure();
  if (auto function = dyn_cast<func::FuncOp>(op))
    return checkBlocks(function);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return checkCast(cast);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return checkResource(constant);
  return success();
}

namespace {
struct VerifyLoweringInput
    : layout::impl::VerifyLoweringInputPassBase<VerifyLoweringInput> {
  void runOnOperation() override {
    WalkResult walk = getOperation()->walk([&](FunctionOpInterface function) {
      if (function->getParentOp() != getOperation()) {
        if (!isa<func::FuncOp>(function))
          return WalkResult::advance();
        function->emitOpError("is not in the outermost module, but only that "
                              "module is lowered; move it there");
        return WalkResult::interrupt();
      }
      return !isa<func::FuncOp>(function)
                 ? WalkResult::skip()
                 : function->walk([](Operation *op) {
                     return failed(check(op)) ? WalkResult::interrupt()
                                              : WalkResult::advance();
                   });
    });
    if (walk.wasInterrupted())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
