//===- DenseKernels.cpp - Ops as C++ on dense images ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseKernels.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::npu;

DenseKernels::~DenseKernels() = default;

/// Returns the type of the dense copy of an operand of type `type`: row-major,
/// with one dim if the rank is 0.
static MemRefType getImageType(MemRefType type) {
  SmallVector<int64_t> shape(type.getShape());
  if (shape.empty())
    shape.push_back(1);
  return MemRefType::get(shape, type.getElementType());
}

/// Checks that the simulator's C++ has all element types of the op and of its
/// body: i1, i8, i16, i32, i64, index, f16, f32 and f64. Emits an error
/// otherwise.
static LogicalResult checkTypes(linalg::LinalgOp op) {
  auto check = [&](Type type) {
    Type element = getElementTypeOrSelf(type);
    bool isInt = element.isInteger(1) || element.isInteger(8) ||
                 element.isInteger(16) || element.isInteger(32) ||
                 element.isInteger(64) || element.isIndex();
    if (isInt || element.isF16() || element.isF32() || element.isF64())
      return WalkResult::advance();
    op->emitError() << "'" << op->getName()
                    << "' runs on execution units, which compute with f16, "
                       "f32, f64 and integers of 8 to 64 bits, found "
                    << element;
    return WalkResult::interrupt();
  };
  WalkResult result = op->walk([&](Operation *inner) {
    for (Type type : inner->getOperandTypes())
      if (check(type).wasInterrupted())
        return WalkResult::interrupt();
    for (Type type : inner->getResultTypes())
      if (check(type).wasInterrupted())
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Clones the constants from outside of the op that its body uses, and maps
/// them. Emits an error if the body uses any other value from outside.
static LogicalResult captureConstants(linalg::LinalgOp op, IRMapping &mapping,
                                      OpBuilder &builder) {
  llvm::SetVector<Value> outside;
  auto collect = [&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!isa<MemRefType>(operand.getType()) &&
          !op->isAncestor(operand.getParentBlock()->getParentOp()))
        outside.insert(operand);
  };
  op->walk(collect);
  for (Value value : outside) {
    Operation *constant = value.getDefiningOp();
    if (!constant || !matchPattern(constant, m_Constant()))
      return op->emitError() << "'" << op->getName()
                             << "' runs on execution units, which need tensors "
                                "and constants, found another value";
    builder.clone(*constant, mapping);
  }
  return success();
}

/// Replaces the indexing maps of rank-0 operands by maps to index 0, because
/// their images have one dim.
static void giveImagesADim(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [operand, map] : llvm::zip_equal(op->getOpOperands(), maps))
    if (map.getNumResults() == 0 && isa<MemRefType>(operand.get().getType()))
      map = AffineMap::get(map.getNumDims(), 0,
                           getAffineConstantExpr(0, op.getContext()));
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
}

/// Returns a loop order for fast C++: reduction loops before the last parallel
/// loop of the result, whose iterations are independent and contiguous. Returns
/// an empty list, to keep the order, if there is no reduction or no such loop.
static SmallVector<unsigned> getLoopOrder(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  std::optional<unsigned> innermost;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : llvm::reverse(result.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || !linalg::isParallelIterator(kinds[dim.getPosition()]) ||
        ranges[dim.getPosition()] == 1)
      continue;
    innermost = dim.getPosition();
    break;
  }
  if (op.getNumReductionLoops() == 0 || !innermost)
    return {};
  SmallVector<unsigned> order;
  for (bool parallel : {true, false})
    for (auto [d, kind] : llvm::enumerate(kinds))
      if (d != *innermost && linalg::isParallelIterator(kind) == parallel)
        order.push_back(d);
  order.push_back(*innermost);
  return order;
}

/// Adds to `functions` a function with the op as a linalg.generic as its body.
/// Its parameters are dense row-major copies of the memref operands. Emits an
/// error if the op has no generic form or uses a value from outside that is not
/// constant.
static FailureOr<func::FuncOp> makeFunction(linalg::LinalgOp op,
                                            ModuleOp functions) {
  SmallVector<Type> images;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType())) {
      images.push_back(getImageType(type));
      operands.push_back(operand);
    }
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPointToEnd(functions.getBody());
  auto function = func::FuncOp::create(rewriter, op.getLoc(), "kernel",
                                       rewriter.getFunctionType(images, {}));
  function.setPrivate();
  Block *block = function.addEntryBlock();
  rewriter.setInsertionPointToStart(block);
  IRMapping mapping;
  // Each operand has its own image, even if a memref is several operands.
  if (failed(captureConstants(op, mapping, rewriter)))
    return failure();
  auto clone = cast<linalg::LinalgOp>(rewriter.clone(*op, mapping));
  func::ReturnOp::create(rewriter, op.getLoc());
  unsigned next = 0;
  for (OpOperand &operand : clone->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()))
      operand.set(block->getArgument(next++));
  // Discardable attributes do not affect what the op computes, so ops that
  // differ only in these share a function.
  clone->setDiscardableAttrs(DictionaryAttr::get(op.getContext()));
  auto generic = dyn_cast<linalg::GenericOp>(clone.getOperation());
  rewriter.setInsertionPoint(clone);
  if (!generic) {
    FailureOr<linalg::GenericOp> general =
        linalg::generalizeNamedOp(rewriter, clone);
    if (failed(general))
      return op->emitError() << "'" << op->getName()
                             << "' has no loops to run on execution units";
    generic = *general;
  }
  giveImagesADim(generic);
  SmallVector<unsigned> order = getLoopOrder(generic);
  if (!order.empty())
    (void)linalg::interchangeGenericOp(rewriter, generic, order);
  return function;
}

/// The attribute of parameters that are erased after lowering, because the body
/// does not use the operand.
static constexpr StringLiteral kUntouched = "npu.untouched";

FailureOr<const DenseKernels::Kernel *> DenseKernels::get(linalg::LinalgOp op) {
  if (failed(checkTypes(op)))
    return failure();
  if (!functions)
    functions = ModuleOp::create(module.getLoc());
  FailureOr<func::FuncOp> function = makeFunction(op, *functions);
  if (failed(function))
    return failure();
  auto kernel = std::make_unique<Kernel>();
  unsigned image = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand))
      kernel->parameters.push_back(operand.getOperandNumber());
    else
      function->setArgAttr(image, kUntouched, UnitAttr::get(op.getContext()));
    ++image;
  }
  std::string structure;
  llvm::raw_string_ostream(structure) << *function;
  auto [place, isNew] = kernels.try_emplace(structure);
  if (!isNew) {
    function->erase();
    return place->second.get();
  }
  do
    kernel->name = "layout_kernel_" + std::to_string(next++);
  while (module.lookupSymbol(kernel->name));
  function->setName(kernel->name);
  place->second = std::move(kernel);
  return place->second.get();
}

LogicalResult DenseKernels::emit(Operation *anchor) {
  if (!functions)
    return success();
  IRRewriter rewriter(module.getContext());
  SmallVector<linalg::GenericOp> ops;
  functions->walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op.emitError() << "has no loops to run on execution units";
    rewriter.eraseOp(op);
  }
  if (failed(removeDeadReads(*functions)))
    return failure();
  for (auto function : functions->getOps<func::FuncOp>()) {
    BitVector untouched(function.getNumArguments());
    for (unsigned i = 0; i < untouched.size(); ++i)
      untouched[i] = function.removeArgAttr(i, kUntouched) != nullptr;
    if (failed(function.eraseArguments(untouched)))
      return failure();
  }
  if (failed(lowerKernelsToEmitC(*functions)))
    return failure();
  for (Operation &function :
       llvm::make_early_inc_range(functions->getBody()->getOperations()))
    function.moveBefore(anchor);
  return success();
}
