//===- LayoutAssigner.cpp - Incremental assignment of a module ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/LayoutAssigner.h"
#include "AssignProgram.h"
#include "IncrementalChainModel.h"
#include "ModuleScan.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::layout;

struct LayoutAssigner::Known {
  SmallVector<Operation *, 1> ops;
  std::unique_ptr<Part> part;
  /// Set for a straight function only.
  std::unique_ptr<ProgramReader> reader;
  std::unique_ptr<IncrementalChainModel> sequences;
};

LayoutAssigner::LayoutAssigner(TargetInterface target, Objective objective,
                               CandidateLimits limits, SolveOptions options,
                               CostProvider *provider)
    : target(target), objective(objective), limits(limits),
      options(std::move(options)), provider(provider),
      scan(std::make_unique<ModuleScan>()) {
  weights.memory = getMemoryLimit(CostModel(target, objective, provider));
}
LayoutAssigner::LayoutAssigner(LayoutAssigner &&) = default;
LayoutAssigner::~LayoutAssigner() = default;

RewriterBase::Listener &LayoutAssigner::getListener() { return *scan; }

/// Calls `decide` while `ops` are in a separate module with the attributes of
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

/// Assigns a part, or reports that none within the memory limit is found.
bool LayoutAssigner::assignPart(ModuleOp alone, Program program, Part &part,
                                const Known &known) const {
  if (known.sequences)
    known.sequences->setClasses(known.reader->getNodeClasses(),
                                known.reader->getTensorClasses());
  part.assignment = assignLayouts(alone, std::move(program), part.costs, limits,
                                  options, weights, known.sequences.get());
  if (!part.assignment.leastMemoryBytes)
    return true;
  reportMemory(alone, part.assignment);
  return false;
}

/// Computes the assignment of `ops`, or reports an error and returns null.
std::unique_ptr<LayoutAssigner::Known>
LayoutAssigner::decide(ModuleOp module, ArrayRef<Operation *> ops) {
  auto known = std::make_unique<Known>();
  known->ops.assign(ops.begin(), ops.end());
  known->part = std::make_unique<Part>(target, objective, provider);
  CostModel &costs = known->part->costs;
  bool holds = true;
  withOpsAlone(module, ops, [&](ModuleOp alone) {
    FailureOr<LayoutConstraints> constraints = readConstraints(alone);
    holds = succeeded(constraints);
    if (!holds)
      return;
    auto reader = std::make_unique<ProgramReader>(
        alone, costs.getModel().getAssumedTrips(), *constraints,
        costs.getModel().usesPerElementAddressing());
    Program program = ops.size() == 1 ? reader->runAndKeep() : reader->run();
    if (reader->isKept()) {
      known->reader = std::move(reader);
      known->sequences =
          std::make_unique<IncrementalChainModel>(options.maxTableSize);
    }
    holds = assignPart(alone, std::move(program), *known->part, *known);
  });
  if (!holds)
    return nullptr;
  // Some ops cache attributes on the first query, so their hashes change.
  for (Operation *op : ops)
    (*scan)[op].update(op);
  return known;
}

/// Updates the assignment if only rows of a function changed that stays
/// straight; otherwise returns false. Sets the part to null after an error.
bool LayoutAssigner::decideAgain(ModuleOp module, Known &known) {
  OpScan &rows = (*scan)[known.ops.front()];
  const std::optional<OpScan::LocalChange> &change = rows.getLocalChange();
  if (!known.reader || !change)
    return false;
  SmallVector<Operation *> changed;
  for (ProgramReader::NewRow row : change->rows)
    if (!row.isUnchanged)
      changed.push_back(row.op);
  auto part = std::make_unique<Part>(target, objective, provider);
  bool isDecided = false;
  withOpsAlone(module, known.ops, [&](ModuleOp alone) {
    FailureOr<LayoutConstraints> constraints = readConstraints(alone, changed);
    if (failed(constraints)) {
      part.reset();
      isDecided = true;
      return;
    }
    std::optional<Program> program = known.reader->update(
        std::move(known.part->assignment.program), change->begin,
        change->numBefore, change->rows, *constraints);
    if (!program)
      return;
    isDecided = true;
    if (!assignPart(alone, std::move(*program), *part, known))
      part.reset();
  });
  if (!isDecided)
    return false;
  known.part = std::move(part);
  if (!known.part)
    return true;
  // Updates the hashes of ops that may have cached attributes.
  for (size_t r = 0; r < change->rows.size(); ++r)
    rows.refresh(change->begin + r);
  for (size_t row : known.reader->getFirstOfClasses())
    rows.refresh(row);
  return true;
}

LogicalResult LayoutAssigner::assign(ModuleOp module) {
  scan->update(module, /*isAnnounced=*/false);
  return decideChanged(module);
}

LogicalResult LayoutAssigner::assignAnnounced(ModuleOp module) {
  scan->update(module, /*isAnnounced=*/true);
  return decideChanged(module);
}

LogicalResult LayoutAssigner::decideChanged(ModuleOp module) {
  // Connects ops that refer to each other, or share a limited memory.
  llvm::EquivalenceClasses<Operation *> connected;
  SymbolTable symbols(module);
  for (Operation &op : *module.getBody()) {
    connected.insert(&op);
    if (weights.memory)
      connected.unionSets(&module.getBody()->front(), &op);
    for (auto &[user, names] : (*scan)[&op].getSymbols())
      for (StringAttr name : names)
        if (Operation *other = symbols.lookup(name))
          connected.unionSets(&op, other);
  }

  std::vector<SmallVector<Operation *, 1>> wanted;
  llvm::DenseMap<Operation *, unsigned> partOf;
  for (Operation &op : *module.getBody()) {
    auto [it, isNew] =
        partOf.try_emplace(connected.getLeaderValue(&op), wanted.size());
    if (isNew)
      wanted.emplace_back();
    wanted[it->second].push_back(&op);
  }

  auto before = std::move(known);
  known.clear();
  if (std::exchange(attrs, module->getAttrDictionary()) !=
      module->getAttrDictionary())
    before.clear();
  parts.clear();
  numDecided = numUpdated = 0;
  cost = lowerBound = 0;
  for (ArrayRef<Operation *> ops : wanted) {
    std::unique_ptr<Known> entry = std::move(before[ops.front()]);
    bool isSame = entry && ArrayRef<Operation *>(entry->ops) == ops;
    auto isChanged = [&](Operation *op) { return (*scan)[op].isChanged(); };
    if (!isSame || llvm::any_of(ops, isChanged)) {
      ++numDecided;
      if (isSame && decideAgain(module, *entry))
        ++numUpdated;
      else
        entry = decide(module, ops);
      if (!entry || !entry->part)
        return failure();
    }
    parts.push_back(entry->part.get());
    cost = addCosts(cost, entry->part->assignment.cost);
    lowerBound = addCosts(lowerBound, entry->part->assignment.lowerBound);
    known[ops.front()] = std::move(entry);
  }
  return success();
}
