//===- BankCommands.cpp - Simultaneous uses of local memory ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankCommands.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

namespace {
/// Collects the commands of a function that access several tensors of local
/// memory at the same time, with the bytes that each accesses.
class CommandCollector {
public:
  CommandCollector(ArrayRef<AllocOp> allocs, ChipAttr chip)
      : chip(chip), times(EngineTimes::inCycles(chip.getClock())) {
    for (auto [i, alloc] : llvm::enumerate(allocs))
      blockOf[alloc] = i;
  }

  void visit(Operation *op) {
    if (auto parallel = dyn_cast<ParallelOp>(op)) {
      BankCommand region;
      Cost transfers = 0, computation = 0;
      for (Operation &inner : parallel.getBody().front()) {
        visit(&inner);
        bool computes = getEngine(&inner) == Engine::Compute;
        Cost &engine = computes ? computation : transfers;
        engine =
            addCosts(engine, computes ? times.getCommands(1, getSteps(&inner))
                                      : getTransferTime(&inner));
        for (OpOperand *operand : getTouched(&inner))
          add(region.uses, operand->get(), computes ? 1 : 0);
      }
      // If they conflict, the engines run one after the other.
      region.cycles = std::min(transfers, computation);
      if (llvm::any_of(region.uses, [&](const BankUse &use) {
            return use.side != region.uses.front().side;
          }))
        commands.push_back(std::move(region));
      return;
    }
    if (getEngine(op) != Engine::Compute)
      return;
    BankCommand command;
    std::vector<BankUse> &uses = command.uses;
    for (OpOperand *operand : getTouched(op)) {
      // Uses that begin at the same byte are one access, e.g. a result in place
      // of an operand.
      unsigned side = uses.size();
      if (!add(uses, operand->get(), side))
        continue;
      BankUse &added = uses.back();
      for (const BankUse &use : ArrayRef<BankUse>(uses).drop_back())
        if (use.block == added.block && use.begin == added.begin)
          added.side = use.side;
    }
    if (uses.size() < 2)
      return;
    int64_t steps = getSteps(op);
    command.cycles = times.getCommands(1, steps, /*usesBankTwice=*/true) -
                     times.getCommands(1, steps);
    commands.push_back(std::move(command));
  }

  std::vector<BankCommand> commands;

private:
  static Engine getEngine(Operation *op) {
    if (auto fill = dyn_cast<FillOp>(op))
      return fill.getEngine();
    return isa<CopyOp>(op) ? Engine::DMA : Engine::Compute;
  }

  /// Returns the operands in local memory whose elements the op reads or
  /// writes.
  static SmallVector<OpOperand *> getTouched(Operation *op) {
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

  /// Returns the steps of the execution units for an op: the bytes of the
  /// result in a core divided by eu_bytes, times the number of reduction
  /// indices.
  int64_t getSteps(Operation *op) {
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

  Cost getTransferTime(Operation *op) {
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

  std::pair<int64_t, int64_t> getReach(Value memref) {
    auto [reach, isNew] = reaches.try_emplace(memref.getType(), 0, 0);
    if (isNew) {
      auto type = cast<MemRefType>(memref.getType());
      FailureOr<Storage> storage = getStorage(
          type, [&] { return memref.getDefiningOp()->emitOpError(); });
      if (succeeded(storage))
        reach->second = {storage->scatter.getOffset(),
                         getReservedBytes(*storage, type.getShape())};
    }
    return reach->second;
  }

  /// Adds to `uses` an access to all bytes of `memref`. It is simultaneous with
  /// the accesses whose number `side` differs. Returns false if `memref` is not
  /// a view of one of the tensors to be placed.
  bool add(std::vector<BankUse> &uses, Value memref, unsigned side) {
    auto alloc = getViewedMemory(memref).getDefiningOp<AllocOp>();
    auto block = blockOf.find(alloc);
    if (!alloc || block == blockOf.end())
      return false;
    auto [begin, end] = getReach(memref);
    uses.push_back({block->second, begin, end, side});
    return true;
  }

  ChipAttr chip;
  EngineTimes times;
  DenseMap<Operation *, size_t> blockOf;
  DenseMap<Type, std::pair<int64_t, int64_t>> reaches;
};
} // namespace

std::vector<BankCommand> npu::getBankCommands(func::FuncOp function,
                                              ArrayRef<AllocOp> allocs,
                                              ChipAttr chip) {
  CommandCollector collector(allocs, chip);
  for (Operation &op : function.getBody().front())
    collector.visit(&op);
  return std::move(collector.commands);
}
