//===- BankCommands.cpp - Simultaneous uses of local memory ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankCommands.h"
#include "OpTimes.h"
#include "layout/Dialect/NPU/IR/Storage.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

namespace {
/// Collects the commands of a function that access local memory by several
/// operands at the same time, or in parallel regions by both engines, with the
/// bytes of each access.
class CommandCollector {
public:
  CommandCollector(ArrayRef<AllocOp> allocs, ChipAttr chip) : of(chip) {
    for (auto [i, alloc] : llvm::enumerate(allocs))
      blockOf[alloc] = i;
  }

  void visit(Operation *op) {
    if (auto parallel = dyn_cast<ParallelOp>(op)) {
      BankCommand region;
      Cost transfers = 0, computation = 0;
      for (Operation &inner : parallel.getBody().front()) {
        visit(&inner);
        bool computes = OpTimes::getEngine(&inner) == Engine::Compute;
        Cost &engine = computes ? computation : transfers;
        engine = addCosts(engine, of.getCycles(&inner));
        for (OpOperand *operand : OpTimes::getTouched(&inner))
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
    if (OpTimes::getEngine(op) != Engine::Compute)
      return;
    BankCommand command;
    std::vector<BankUse> &uses = command.uses;
    for (OpOperand *operand : OpTimes::getTouched(op)) {
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
    command.cycles = of.getCommandTime(op).cycles;
    commands.push_back(std::move(command));
  }

  std::vector<BankCommand> commands;

private:
  /// Adds the bytes of a view to `uses`. Returns false, with no change, if it
  /// is not a view of one of the tensors (npu.alloc ops) that were given to the
  /// constructor.
  bool add(std::vector<BankUse> &uses, Value memref, unsigned side) {
    auto alloc = getViewedMemory(memref).getDefiningOp<AllocOp>();
    auto block = blockOf.find(alloc);
    if (!alloc || block == blockOf.end())
      return false;
    auto [begin, end] = of.getReach(memref);
    uses.push_back({block->second, begin, end, side});
    return true;
  }

  OpTimes of;
  DenseMap<Operation *, size_t> blockOf;
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
