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
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Hashes all that an op consists of: addresses of what has one, as attributes
/// and types have. On the way, which symbols it names.
class FingerprintWriter {
public:
  explicit FingerprintWriter(function_ref<void(StringAttr)> visitSymbol)
      : visitSymbol(visitSymbol) {}

  std::pair<uint64_t, uint64_t> get(Operation *op) {
    words.clear();
    add(op);
    hash();
    return {words[0], words[1]};
  }

private:
  void add(Operation *op);
  void addPointer(const void *pointer) {
    words.push_back(reinterpret_cast<uintptr_t>(pointer));
  }
  /// Puts the hash of all words in their place.
  void hash() {
    llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(words.data()),
                 words.size() * sizeof(uint64_t)));
    words.assign({hash.low64, hash.high64});
  }
  void visitSymbols(Operation *op);

  /// Hashed now and then, so that they stay in the caches.
  static constexpr size_t kManyWords = 896;
  SmallVector<uint64_t, 1024> words;
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
  if (words.size() > kManyWords)
    hash();
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
    auto visitSymbol = [&](StringAttr name) {
      if (Operation *other = symbols.lookup(name))
        connected.unionSets(&op, other);
    };
    fingerprints.push_back(FingerprintWriter(visitSymbol).get(&op));
  }

  std::vector<std::pair<SmallVector<Operation *, 1>, Fingerprints>> wanted;
  llvm::DenseMap<Operation *, unsigned> partOf;
  for (auto [op, fingerprint] : llvm::zip(*module.getBody(), fingerprints)) {
    auto [it, isNew] =
        partOf.try_emplace(connected.getLeaderValue(&op), wanted.size());
    if (isNew)
      wanted.emplace_back();
    wanted[it->second].first.push_back(&op);
    wanted[it->second].second.push_back(fingerprint);
  }

  llvm::DenseMap<Operation *, Known> before = std::move(known);
  known.clear();
  if (std::exchange(attrs, module->getAttrDictionary()) !=
      module->getAttrDictionary())
    before.clear();
  parts.clear();
  numDecided = 0;
  cost = lowerBound = 0;
  for (auto &[ops, itsFingerprints] : wanted) {
    Known &entry = known[ops.front()];
    auto it = before.find(ops.front());
    if (it != before.end() && it->second.fingerprints == itsFingerprints) {
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
      auto ignoreSymbol = [](StringAttr) {};
      for (Operation *op : ops)
        entry.fingerprints.push_back(FingerprintWriter(ignoreSymbol).get(op));
    }
    parts.push_back(entry.part.get());
    cost = addCosts(cost, entry.part->assignment.cost);
    lowerBound = addCosts(lowerBound, entry.part->assignment.lowerBound);
  }
  return success();
}
