//===- OpTimes.cpp - The times of ops on the engines ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTimes.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

Engine OpTimes::getEngine(Operation *op) {
  if (auto fill = dyn_cast<FillOp>(op))
    return fill.getEngine();
  return isa<CopyOp>(op) ? Engine::DMA : Engine::Compute;
}

SmallVector<OpOperand *> OpTimes::getTouched(Operation *op) {
  SmallVector<OpOperand *> touched;
  if (isa<AllocOp, DeallocOp, SubViewOp, ViewOp>(op))
    return touched;
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    bool isTouched = !compute || compute.isDpsInit(&operand) ||
                     compute.payloadUsesValueFromOperand(&operand);
    if (type && isLocal(type) && isTouched)
      touched.push_back(&operand);
  }
  return touched;
}

std::pair<int64_t, int64_t> OpTimes::getReach(Value memref) {
  auto [reach, isNew] = reaches.try_emplace(memref.getType(), 0, 0);
  if (isNew) {
    auto type = cast<MemRefType>(memref.getType());
    FailureOr<Storage> storage =
        getStorage(type, [&] { return memref.getDefiningOp()->emitOpError(); });
    if (succeeded(storage))
      reach->second = {storage->scatter.getOffset(),
                       getReservedBytes(*storage, type.getShape())};
  }
  return reach->second;
}

int64_t OpTimes::getSteps(Operation *op) {
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  SmallVector<OpOperand *> touched = getTouched(op);
  if (touched.empty())
    return 0;
  Value result = compute && compute.getNumDpsInits()
                     ? compute.getDpsInitOperand(0)->get()
                     : touched.back()->get();
  auto type = dyn_cast<MemRefType>(result.getType());
  if (!type || !isLocal(type) || type.getNumElements() == 0)
    return 0;
  auto [begin, end] = getReach(result);
  int64_t points = 1;
  if (compute)
    for (int64_t range : compute.getStaticLoopRanges())
      points = scaleCost(points, range);
  return scaleCost(llvm::divideCeil(end - begin, chip.getEuBytes()),
                   std::max<int64_t>(points / type.getNumElements(), 1));
}

Cost OpTimes::getCycles(Operation *op) {
  if (getEngine(op) == Engine::Compute)
    return times.getCommands(1, getSteps(op));
  std::optional<std::vector<Transfer>> plan;
  if (auto copy = dyn_cast<CopyOp>(op))
    plan = planMove(copy, chip, nullptr);
  else if (auto fill = dyn_cast<FillOp>(op))
    plan = planMove(fill, chip, nullptr);
  Cost time = 0;
  for (const Transfer &transfer : plan.value_or(std::vector<Transfer>()))
    time = addCosts(time, times.getTransfers(1, transfer.getBytes()));
  return time;
}
