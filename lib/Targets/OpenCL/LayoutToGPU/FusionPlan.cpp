//===- FusionPlan.cpp - Choose the tensors to inline ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FusionPlan.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"

using namespace mlir;
using namespace mlir::layout;

static bool onlyCopies(Block &body) {
  return llvm::all_of(body.getTerminator()->getOperands(), [&](Value value) {
    return !value.getDefiningOp() || value.getParentBlock() != &body;
  });
}

ComputeKind layout::getComputeKind(Operation *op) {
  if (op->getNumResults() == 0 ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return ComputeKind::None;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = cast<ElementsAttr>(constant.getValue());
    bool isComputed = isa<SplatElementsAttr>(elements) || elements.empty();
    return isComputed ? ComputeKind::Move : ComputeKind::None;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (!linalgOp.hasPureTensorSemantics())
      return ComputeKind::None;
    if (linalgOp.getNumReductionLoops() > 0)
      return ComputeKind::Reduction;
    return onlyCopies(*linalgOp.getBlock()) ? ComputeKind::Move
                                            : ComputeKind::Pointwise;
  }
  if (isa<tensor::PadOp>(op)) {
    auto pad = cast<tensor::PadOp>(op);
    return pad.getConstantPaddingValue() ? ComputeKind::Move
                                         : ComputeKind::None;
  }
  if (isa<tensor::ConcatOp, tensor::InsertSliceOp>(op))
    return ComputeKind::Choose;
  if (isa<ConvertOp, StorageViewOp, tensor::CastOp, tensor::ExtractSliceOp,
          tensor::EmptyOp, tensor::SplatOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp>(op) ||
      std::holds_alternative<ViewRule>(getLayoutRule(op)))
    return ComputeKind::Move;
  if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumRegions() == 0)
    return ComputeKind::Pointwise;
  return ComputeKind::None;
}

/// Returns true if the op reads no element of the operand twice: it is not a
/// linalg op, or has no reduction loops and indexes the operand by a
/// permutation of its loops.
static bool readsOnce(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(user))
    return linalgOp.getNumReductionLoops() == 0 &&
           linalgOp.getMatchingIndexingMap(&use).isPermutation();
  return true;
}

/// The maximal number of inlined tensors in a chain of producers, which bounds
/// kernel size and recursion.
constexpr unsigned kMaxDepth = 64;

void FusionPlan::decide(Value tensor, ComputeKind kind) {
  kernelOf[tensor] = tensor;
  if (isa<ConvertOp, StorageViewOp>(tensor.getDefiningOp())) {
    stored.insert(tensor);
    return;
  }
  OpOperand *reader = nullptr;
  unsigned numReaders = 0, depth = 0;
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue;
    // An op that does not become a kernel needs the tensor in memory, e.g. a
    // tensor.extract in the body of a linalg op.
    ComputeKind userKind = getComputeKind(user);
    if (userKind == ComputeKind::None || isa<StorageViewOp>(user)) {
      stored.insert(tensor);
      if (kind != ComputeKind::Move)
        return;
      continue;
    }
    reader = &use;
    ++numReaders;
    for (Value result : user->getResults())
      if (inlined.contains(result))
        depth = std::max(depth, depths.lookup(result) + 1);
  }
  depths[tensor] = depth;
  bool isDeep = depth >= kMaxDepth && tensor.getDefiningOp()->getNumOperands();
  if (kind == ComputeKind::Move && isDeep) {
    stored.insert(tensor);
    return;
  }
  if (kind == ComputeKind::Move)
    inlined.insert(tensor);
  if (!reader)
    return;

  Operation *user = reader->getOwner();
  Value read = user->getResult(0);
  bool isOnce = numReaders == 1 && readsOnce(*reader) &&
                user->getNumResults() == 1 &&
                user->getBlock() == tensor.getParentBlock() &&
                !stored.contains(tensor) && !repeated.contains(read) &&
                !(stored.contains(read) && inlined.contains(read));
  auto encodingOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getEncoding();
  };
  bool isPointwise = getComputeKind(user) == ComputeKind::Pointwise;
  bool isRelaid = relaid.contains(read) ||
                  (isPointwise && encodingOf(tensor) != encodingOf(read));
  if (kind == ComputeKind::Move) {
    if (!isOnce)
      repeated.insert(tensor);
    else
      kernelOf[tensor] = kernelOf[read];
    if (isRelaid)
      relaid.insert(tensor);
    return;
  }
  bool canInline = isOnce && !isDeep && !isa<ConvertOp>(user) &&
                   tensor.getDefiningOp()->getNumResults() == 1;
  if (canInline && kind == ComputeKind::Reduction)
    canInline =
        isPointwise && !isRelaid && reducing.insert(kernelOf[read]).second;
  if (!canInline) {
    stored.insert(tensor);
    if (kind == ComputeKind::Reduction)
      reducing.insert(tensor);
    return;
  }
  inlined.insert(tensor);
  kernelOf[tensor] = kernelOf[read];
  if (isRelaid)
    relaid.insert(tensor);
}

FusionPlan::FusionPlan(Operation *root) {
  // Readers are visited before the ops that they read.
  root->walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    ComputeKind kind = getComputeKind(op);
    if (kind == ComputeKind::None)
      return;
    for (Value result : op->getResults())
      decide(result, kind);
  });
}
