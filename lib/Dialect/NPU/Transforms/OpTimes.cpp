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

CommandTime OpTimes::getCommandTime(Operation *op) const {
  constexpr int64_t kWordBytes = 4;
  auto compute = dyn_cast<linalg::LinalgOp>(op);
  SmallVector<OpOperand *> touched = getTouched(op);
  if (touched.empty())
    return {};
  OpOperand *result = compute && compute.getNumDpsInits()
                          ? compute.getDpsInitOperand(0)
                          : touched.back();
  SmallVector<NpuScatterAttr> layouts(op->getNumOperands());
  for (OpOperand *operand : touched)
    layouts[operand->getOperandNumber()] = dyn_cast<NpuScatterAttr>(
        cast<MemRefType>(operand->get().getType()).getLayout());
  unsigned number = result->getOperandNumber();
  auto type = dyn_cast<MemRefType>(result->get().getType());
  if (!type || !layouts[number] || type.getNumElements() == 0)
    return {};
  std::optional<ResultForm> form =
      getResultForm(layouts, number, type.getShape(),
                    llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  if (!form)
    return {};
  std::optional<CommandTime> time;
  if (compute)
    time = npu::getCommandTime(compute, compute.getStaticLoopRanges(), *form,
                               clock, chip);
  if (time)
    return *time;
  // Ops without a function count as one for each point of their loops.
  ChipClock::Work work;
  int64_t points = 1;
  if (compute)
    for (int64_t range : compute.getStaticLoopRanges())
      points = scaleCost(points, range);
  else
    work.function = isa<FillOp>(op) ? "32bit_set_C" : "32bit_cpy";
  return {1, scaleCost(clock.getCycles(work, form->planes, kWordBytes,
                                       chip.getEuBytes()),
                       std::max<int64_t>(points / type.getNumElements(), 1))};
}

Cost OpTimes::getCycles(Operation *op) {
  if (getEngine(op) == Engine::Compute)
    return getCommandTime(op).getCycles(clock);
  std::optional<std::vector<Transfer>> plan;
  auto fill = dyn_cast<FillOp>(op);
  if (auto copy = dyn_cast<CopyOp>(op))
    plan = planMove(copy, chip, nullptr);
  else if (fill)
    plan = planMove(fill, chip, nullptr);
  Cost time = 0;
  for (const Transfer &transfer : plan.value_or(std::vector<Transfer>())) {
    Direction direction = fill ? getFillDirection(transfer.dest.isLocal())
                               : transfer.getCopyDirection();
    time = addCosts(time, clock.getStart(direction));
    time = addCosts(time,
                    clock.getRowTime(direction, transfer.getRows(direction)));
  }
  return time;
}
