//===- OverlapTransfers.cpp - Transfers while units compute
//-----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveTensors.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::npu {
#define GEN_PASS_DEF_NPUOVERLAPTRANSFERSPASS
#include "layout/Dialect/NPU/Transforms/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;

namespace {
class Overlapper {
public:
  Overlapper(func::FuncOp function, bool reusesHoles)
      : function(function), block(function.getBody().front()),
        builder(function.getContext()), tensors(reusesHoles) {}

  LogicalResult run();

private:
  SmallVector<CopyOp> getLoads(linalg::LinalgOp compute);
  SmallVector<CopyOp> getStores(linalg::LinalgOp compute);
  bool moveLoad(CopyOp load, Operation *before);
  FailureOr<bool> fits();
  void join(linalg::LinalgOp compute, ArrayRef<CopyOp> transfers);

  func::FuncOp function;
  Block &block;
  OpBuilder builder;
  LiveTensors tensors;
};
} // namespace

/// Between two ops that compute: what the second one loads.
SmallVector<CopyOp> Overlapper::getLoads(linalg::LinalgOp compute) {
  SmallVector<CopyOp> loads;
  Operation *op = compute->getNextNode();
  for (; op && !isa<linalg::LinalgOp, ParallelOp>(op); op = op->getNextNode()) {
    auto copy = dyn_cast<CopyOp>(op);
    if (copy && copy.getDest().getDefiningOp<AllocOp>() &&
        !isLocal(copy.getSource().getType()) && isUnchanging(copy.getSource()))
      loads.push_back(copy);
  }
  return loads;
}

/// What is stored to a result between the op that computes before and this one.
SmallVector<CopyOp> Overlapper::getStores(linalg::LinalgOp compute) {
  SmallVector<CopyOp> stores;
  Operation *op = compute->getPrevNode();
  for (; op && !isa<linalg::LinalgOp, ParallelOp>(op); op = op->getPrevNode()) {
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy || !isLocal(copy.getSource().getType()) ||
        isLocal(copy.getDest().getType()))
      continue;
    // Read by nobody else in the program.
    auto argument = dyn_cast<BlockArgument>(copy.getDest());
    Value source = getViewedMemory(copy.getSource());
    bool isWritten = llvm::any_of(compute.getDpsInits(), [&](Value init) {
      return getViewedMemory(init) == source;
    });
    if (argument && argument.hasOneUse() && !isWritten)
      stores.push_back(copy);
  }
  std::reverse(stores.begin(), stores.end());
  return stores;
}

/// Whether all that lives still has a place.
FailureOr<bool> Overlapper::fits() {
  if (failed(tensors.collect(function)))
    return failure();
  return boundBlocks(tensors.blocks).lowerBound <=
             tensors.chip.getBytesPerNpu() &&
         placeBlocks(tensors.blocks, /*anyWillDo=*/true).has_value();
}

/// Puts a load and what it takes before an op; false where something of that
/// depends on the op or on what comes after it.
bool Overlapper::moveLoad(CopyOp load, Operation *before) {
  SmallVector<Operation *> needed{load};
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands()) {
      Operation *op = operand.getDefiningOp();
      if (!op || op->isBeforeInBlock(before))
        continue;
      if (!isa<AllocOp>(op) && !isMemoryEffectFree(op))
        return false;
      if (!llvm::is_contained(needed, op))
        needed.push_back(op);
    }
  for (Operation *op : llvm::reverse(needed))
    op->moveBefore(before);
  return true;
}

void Overlapper::join(linalg::LinalgOp compute, ArrayRef<CopyOp> transfers) {
  builder.setInsertionPoint(compute);
  auto parallel = ParallelOp::create(builder, compute.getLoc());
  Block *body = &parallel.getBody().emplaceBlock();
  compute->moveBefore(body, body->end());
  for (CopyOp transfer : transfers)
    transfer->moveBefore(body, body->end());
}

LogicalResult Overlapper::run() {
  int64_t numTransfers = 0, numRegions = 0;
  SmallVector<linalg::LinalgOp> computes(block.getOps<linalg::LinalgOp>());
  for (linalg::LinalgOp compute : computes) {
    SmallVector<CopyOp> taken;
    for (CopyOp store : getStores(compute)) {
      // The tensor lives as long as this op runs.
      DeallocOp dealloc;
      for (Operation *user : getViewedMemory(store.getSource()).getUsers())
        if (auto end = dyn_cast<DeallocOp>(user))
          dealloc = end;
      Operation *next = dealloc ? dealloc->getNextNode() : nullptr;
      Operation *after = store->getNextNode();
      if (dealloc && dealloc->isBeforeInBlock(compute))
        dealloc->moveAfter(compute);
      store->moveBefore(compute);
      FailureOr<bool> good = fits();
      if (failed(good))
        return failure();
      if (*good) {
        taken.push_back(store);
        continue;
      }
      store->moveBefore(after);
      if (dealloc && next)
        dealloc->moveBefore(next);
    }
    for (CopyOp load : getLoads(compute)) {
      // Order of the block, to go back to.
      SmallVector<Operation *> order;
      for (Operation &op : block)
        order.push_back(&op);
      if (!moveLoad(load, compute))
        continue;
      FailureOr<bool> good = fits();
      if (failed(good))
        return failure();
      if (*good) {
        taken.push_back(load);
        continue;
      }
      for (Operation *op : order)
        op->moveBefore(&block, block.end());
    }
    if (taken.empty())
      continue;
    join(compute, taken);
    numTransfers += taken.size();
    ++numRegions;
  }
  if (numRegions)
    remark::passed(function.getLoc(),
                   remark::RemarkOpts::name("Overlap").category("npu").function(
                       function.getName()))
        << "transfers overlap with compute"
        << remark::metric("Transfers", numTransfers)
        << remark::metric("Regions", numRegions);
  return success();
}

namespace {
struct NPUOverlapTransfersPass
    : public npu::impl::NPUOverlapTransfersPassBase<NPUOverlapTransfersPass> {
  using NPUOverlapTransfersPassBase::NPUOverlapTransfersPassBase;

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    if (!getOperation().getBody().hasOneBlock())
      return;
    if (failed(Overlapper(getOperation(), reuseHoles).run()))
      signalPassFailure();
  }
};
} // namespace
