//===- BankCommands.cpp - What a program uses at once ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankCommands.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::npu;

namespace {
/// Finds what is used at once.
class CommandCollector {
public:
  explicit CommandCollector(ArrayRef<AllocOp> allocs) {
    for (auto [i, alloc] : llvm::enumerate(allocs))
      blockOf[alloc] = i;
  }

  void visit(Operation *op) {
    if (auto parallel = dyn_cast<ParallelOp>(op)) {
      BankCommand region;
      for (Operation &inner : parallel.getBody().front()) {
        visit(&inner);
        bool computes = getEngine(&inner) == Engine::Compute;
        for (OpOperand *operand : getTouched(&inner))
          add(region, operand->get(), computes ? 1 : 0);
      }
      if (llvm::any_of(region, [&](const BankUse &use) {
            return use.side != region.front().side;
          }))
        commands.push_back(std::move(region));
      return;
    }
    if (getEngine(op) != Engine::Compute)
      return;
    BankCommand command;
    for (OpOperand *operand : getTouched(op)) {
      // What begins at one byte is one access: a result in an operand's place.
      unsigned side = command.size();
      if (!add(command, operand->get(), side))
        continue;
      BankUse &added = command.back();
      for (const BankUse &use : ArrayRef<BankUse>(command).drop_back())
        if (use.block == added.block && use.begin == added.begin)
          added.side = use.side;
    }
    if (command.size() > 1)
      commands.push_back(std::move(command));
  }

  std::vector<BankCommand> commands;

private:
  static Engine getEngine(Operation *op) {
    if (auto fill = dyn_cast<FillOp>(op))
      return fill.getEngine();
    return isa<CopyOp>(op) ? Engine::DMA : Engine::Compute;
  }

  /// The operands in local memory whose elements the op reads or writes.
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

  /// Adds the bytes of a view; false where it is of no tensor that is placed.
  bool add(BankCommand &command, Value memref, unsigned side) {
    auto alloc = getViewedMemory(memref).getDefiningOp<AllocOp>();
    auto block = blockOf.find(alloc);
    if (!alloc || block == blockOf.end())
      return false;
    auto [reach, isNew] = reaches.try_emplace(memref.getType(), 0, 0);
    if (isNew) {
      auto type = cast<MemRefType>(memref.getType());
      FailureOr<Storage> storage = getStorage(
          type, [&] { return memref.getDefiningOp()->emitOpError(); });
      if (succeeded(storage))
        reach->second = {storage->scatter.getOffset(),
                         getReservedBytes(*storage, type.getShape())};
    }
    command.push_back(
        {block->second, reach->second.first, reach->second.second, side});
    return true;
  }

  DenseMap<Operation *, size_t> blockOf;
  DenseMap<Type, std::pair<int64_t, int64_t>> reaches;
};
} // namespace

std::vector<BankCommand> npu::getBankCommands(func::FuncOp function,
                                              ArrayRef<AllocOp> allocs) {
  CommandCollector collector(allocs);
  for (Operation &op : function.getBody().front())
    collector.visit(&op);
  return std::move(collector.commands);
}
