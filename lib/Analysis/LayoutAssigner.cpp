//===- LayoutAssigner.cpp - Decisions for a module that changes -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/LayoutAssigner.h"
#include "layout/Analysis/LayoutConstraints.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// All that an op consists of, in words: addresses of what has one, as
/// attributes and types have. On the way, which symbols it names.
class FingerprintWriter {
public:
  FingerprintWriter(std::vector<uintptr_t> &words,
                    function_ref<void(StringAttr)> visitSymbol)
      : words(words), visitSymbol(visitSymbol) {}

  void add(Operation *op);

private:
  void addPointer(const void *pointer) {
    words.push_back(reinterpret_cast<uintptr_t>(pointer));
  }
  void visitSymbols(Operation *op);

  std::vector<uintptr_t> &words;
  function_ref<void(StringAttr)> visitSymbol;
};
} // namespace

void FingerprintWriter::visitSymbols(Operation *op) {
  auto visit = [&](DictionaryAttr attrs) {
    if (attrs && !attrs.empty())
      attrs.walk([&](SymbolRefAttr symbol) {
        visitSymbol(symbol.getRootReference());
      });
  };
  if (isa<SymbolUserOpInterface, CallOpInterface>(op) || !op->isRegistered())
    visit(op->getAttrDictionary());
  else
    visit(op->getDiscardableAttrDictionary());
}

void FingerprintWriter::add(Operation *op) {
  visitSymbols(op);
  addPointer(op);
  addPointer(op->getName().getAsOpaquePointer());
  addPointer(op->getDiscardableAttrDictionary().getAsOpaquePointer());
  words.push_back(op->getName().hashOpProperties(op->getPropertiesStorage()));
  words.push_back(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands()) {
    addPointer(&operand);
    addPointer(operand.get().getAsOpaquePointer());
  }
  for (Type type : op->getResultTypes())
    addPointer(type.getAsOpaquePointer());
  for (Block *successor : op->getSuccessors())
    addPointer(successor);
  words.push_back(op->getNumRegions());
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      addPointer(&block);
      words.push_back(block.getNumArguments());
      for (BlockArgument argument : block.getArguments()) {
        addPointer(argument.getAsOpaquePointer());
        addPointer(argument.getType().getAsOpaquePointer());
      }
      for (Operation &inner : block)
        add(&inner);
      words.push_back(0);
    }
}

/// Calls `decide` while `ops` are alone in a module with the attributes of
/// `module`.
static void withOpsAlone(ModuleOp module, ArrayRef<Operation *> ops,
                         function_ref<void(ModuleOp)> decide) {
  OwningOpRef<ModuleOp> alone = ModuleOp::create(module.getLoc());
  alone.get()->setAttrs(module->getAttrDictionary());
  SmallVector<Operation *> next;
  for (Operation *op : ops) {
    next.push_back(op->getNextNode());
    op->moveBefore(alone->getBody(), alone->getBody()->end());
  }
  decide(*alone);
  for (auto [op, before] : llvm::reverse(llvm::zip_equal(ops, next)))
    op->moveBefore(module.getBody(),
                   before ? before->getIterator() : module.getBody()->end());
}

LogicalResult LayoutAssigner::assign(ModuleOp module) {
  // What refers to each other, and the fingerprint of each op.
  llvm::EquivalenceClasses<Operation *> connected;
  SymbolTable symbols(module);
  std::vector<Fingerprint> fingerprints;
  for (Operation &op : *module.getBody()) {
    connected.insert(&op);
    FingerprintWriter(fingerprints.emplace_back(), [&](StringAttr name) {
      if (Operation *other = symbols.lookup(name))
        connected.unionSets(&op, other);
    }).add(&op);
  }

  std::vector<std::pair<SmallVector<Operation *, 1>, Fingerprint>> wanted;
  llvm::DenseMap<Operation *, unsigned> partOf;
  for (auto [op, fingerprint] : llvm::zip(*module.getBody(), fingerprints)) {
    auto [it, isNew] =
        partOf.try_emplace(connected.getLeaderValue(&op), wanted.size());
    if (isNew)
      wanted.push_back({{&op}, std::move(fingerprint)});
    else {
      wanted[it->second].first.push_back(&op);
      llvm::append_range(wanted[it->second].second, fingerprint);
    }
  }

  llvm::DenseMap<Operation *, Known> before = std::move(known);
  known.clear();
  if (std::exchange(attrs, module->getAttrDictionary()) !=
      module->getAttrDictionary())
    before.clear();
  parts.clear();
  numDecided = 0;
  cost = lowerBound = 0;
  for (auto &[ops, fingerprint] : wanted) {
    Known &entry = known[ops.front()];
    auto it = before.find(ops.front());
    if (it != before.end() && it->second.fingerprint == fingerprint) {
      entry = std::move(it->second);
    } else {
      entry.part = std::make_unique<Part>(target, objective, provider);
      ++numDecided;
      bool holds = true;
      withOpsAlone(module, ops, [&](ModuleOp alone) {
        FailureOr<LayoutConstraints> constraints = readConstraints(alone);
        holds = succeeded(constraints);
        if (holds)
          entry.part->assignment = assignLayouts(alone, entry.part->costs,
                                                 limits, options, *constraints);
      });
      if (!holds) {
        known.erase(ops.front());
        return failure();
      }
      // Some ops make notes for themselves on the first question.
      for (Operation *op : ops)
        FingerprintWriter(entry.fingerprint, [](StringAttr) {}).add(op);
    }
    parts.push_back(entry.part.get());
    cost = addCosts(cost, entry.part->assignment.cost);
    lowerBound = addCosts(lowerBound, entry.part->assignment.lowerBound);
  }
  return success();
}
