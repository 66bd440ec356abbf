//===- LayoutAssigner.cpp - Decisions for a module that changes -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Analysis/LayoutAssigner.h"
#include "AssignProgram.h"
#include "ProgramReader.h"
#include "layout/Solver/SequenceSolver.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// 128 bits of a hash of what an op consists of.
using Fingerprint = std::pair<uint64_t, uint64_t>;

/// Hashes all that an op consists of: addresses of what has one, as attributes
/// and types have.
class FingerprintWriter {
public:
  Fingerprint get(Operation *op, bool withBody = true) {
    words.clear();
    add(op, withBody);
    hash();
    return {words[0], words[1]};
  }

private:
  void add(Operation *op, bool withBody);
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

  /// Hashed now and then, so that they stay in the caches.
  static constexpr size_t kManyWords = 896;
  SmallVector<uint64_t, 1024> words;
};
} // namespace

void FingerprintWriter::add(Operation *op, bool withBody) {
  if (words.size() > kManyWords)
    hash();
  addPointer(op);
  addPointer(op->getName().getAsOpaquePointer());
  addPointer(op->getRawDictionaryAttrs().getAsOpaquePointer());
  if (op->getPropertiesStorage())
    words.push_back(op->getName().hashOpProperties(op->getPropertiesStorage()));
  words.push_back(op->getNumOperands());
  if (op->getNumOperands() != 0)
    addPointer(&op->getOpOperand(0));
  for (Value operand : op->getOperands()) {
    addPointer(operand.getAsOpaquePointer());
    // Another type is another op for who reads it.
    addPointer(operand.getType().getAsOpaquePointer());
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
      if (!withBody)
        continue;
      for (Operation &inner : block)
        add(&inner, withBody);
      words.push_back(0);
    }
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// What was seen of an op of the module, and what has changed since.
struct LayoutAssigner::Scan {
  struct Row {
    Operation *op;
    Fingerprint fingerprint;
  };
  /// The op itself, which is with its body where that is not one block.
  Fingerprint own;
  /// Of one block, the ops.
  std::vector<Row> rows;
  /// What they name, by op.
  llvm::DenseMap<Operation *, SmallVector<StringAttr, 1>> symbols;

  bool isChanged = false;
  /// Where nothing but rows has changed, and none of them names symbols:
  /// instead of `numBefore` rows from `begin` on there are these.
  bool isLocal = false;
  size_t begin = 0, numBefore = 0;
  std::vector<ProgramReader::NewRow> changed;

  void update(Operation *op);
  void refresh(size_t row) {
    rows[row].fingerprint = FingerprintWriter().get(rows[row].op);
  }

private:
  void replace(size_t first, size_t end, Block::iterator from,
               Block::iterator to);
  bool readSymbols(Operation *op, bool withBody);
};

/// Returns whether there are some.
bool LayoutAssigner::Scan::readSymbols(Operation *root, bool withBody) {
  SmallVector<StringAttr, 1> found;
  auto visit = [&](Operation *op) {
    DictionaryAttr attrs =
        isa<SymbolUserOpInterface, CallOpInterface>(op) || !op->isRegistered()
            ? op->getAttrDictionary()
            : op->getDiscardableAttrDictionary();
    if (!attrs.empty())
      attrs.walk([&](SymbolRefAttr symbol) {
        found.push_back(symbol.getRootReference());
      });
  };
  if (withBody)
    root->walk(visit);
  else
    visit(root);
  if (found.empty())
    return false;
  symbols[root] = std::move(found);
  return true;
}

void LayoutAssigner::Scan::update(Operation *op) {
  Block *body = op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock()
                    ? &op->getRegion(0).front()
                    : nullptr;
  FingerprintWriter writer;
  Fingerprint now = writer.get(op, /*withBody=*/!body);
  isChanged = isLocal = false;
  changed.clear();
  if (std::exchange(own, now) != now) {
    isChanged = true;
    rows.clear();
    symbols.clear();
    readSymbols(op, /*withBody=*/!body);
  }
  if (!body)
    return;
  // The walk waits for memory; where ops are is known from before.
  auto expect = [&](size_t row) {
    if (row >= rows.size())
      return;
    auto *op = reinterpret_cast<const char *>(rows[row].op);
    for (int offset : {-64, 0, 64, 128})
      LLVM_PREFETCH(op + offset, /*rw=*/0, /*locality=*/3);
  };
  constexpr size_t kAhead = 8;
  auto isAsBefore = [&](Operation &inner, size_t row) {
    return rows[row].op == &inner &&
           rows[row].fingerprint == writer.get(&inner);
  };
  size_t first = 0, end = rows.size();
  Block::iterator from = body->begin(), to = body->end();
  while (from != to && first < end && isAsBefore(*from, first)) {
    ++from, ++first;
    expect(first + kAhead);
  }
  if (from == to && first == end)
    return;
  while (from != to && first < end && isAsBefore(*std::prev(to), end - 1)) {
    --to, --end;
    expect(end - 1 - kAhead);
  }
  isLocal = !isChanged;
  isChanged = true;
  replace(first, end, from, to);
}

void LayoutAssigner::Scan::replace(size_t first, size_t end,
                                   Block::iterator from, Block::iterator to) {
  llvm::DenseMap<Operation *, Fingerprint> before;
  for (const Row &row : ArrayRef(rows).slice(first, end - first)) {
    before[row.op] = row.fingerprint;
    isLocal &= !symbols.erase(row.op);
  }
  std::vector<Row> now;
  FingerprintWriter writer;
  for (Operation &op : llvm::make_range(from, to)) {
    Fingerprint fingerprint = writer.get(&op);
    now.push_back({&op, fingerprint});
    isLocal &= !readSymbols(&op, /*withBody=*/true);
    if (!isLocal)
      continue;
    auto it = before.find(&op);
    changed.push_back({&op, it != before.end() && it->second == fingerprint});
  }
  begin = first;
  numBefore = end - first;
  replaceRows<Row>(rows, begin, numBefore, now);
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

struct LayoutAssigner::Known {
  SmallVector<Operation *, 1> ops;
  std::unique_ptr<Part> part;
  /// Of a straight function.
  std::unique_ptr<ProgramReader> reader;
  std::unique_ptr<SequenceSolver> sequences;
};

LayoutAssigner::LayoutAssigner(TargetInterface target, Objective objective,
                               CandidateLimits limits, SolveOptions options,
                               CostProvider *provider)
    : target(target), objective(objective), limits(limits),
      options(std::move(options)), provider(provider) {}
LayoutAssigner::LayoutAssigner(LayoutAssigner &&) = default;
LayoutAssigner::~LayoutAssigner() = default;

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

/// Null where constraints cannot hold.
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
        alone, costs.getModel().getAssumedTrips(), *constraints);
    Program program = ops.size() == 1 ? reader->runAndKeep() : reader->run();
    if (reader->isKept()) {
      known->reader = std::move(reader);
      known->sequences = std::make_unique<SequenceSolver>(options.maxTableSize);
    }
    known->part->assignment =
        assignLayouts(alone, std::move(program), costs, limits, options,
                      WeightOptions(), known->sequences.get());
  });
  if (!holds)
    return nullptr;
  // Some ops make notes for themselves on the first question.
  for (Operation *op : ops)
    scans[op]->update(op);
  return known;
}

/// Where only rows of a straight function have changed, and it stays one. Sets
/// the part to null where constraints cannot hold.
bool LayoutAssigner::decideAgain(ModuleOp module, Known &known, Scan &scan) {
  if (!known.reader || !scan.isLocal)
    return false;
  SmallVector<Operation *> changed;
  for (ProgramReader::NewRow row : scan.changed)
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
        scan.begin, scan.numBefore, scan.changed, *constraints);
    if (!program)
      return;
    part->assignment =
        assignLayouts(alone, std::move(*program), part->costs, limits, options,
                      WeightOptions(), known.sequences.get());
    isDecided = true;
  });
  if (!isDecided)
    return false;
  known.part = std::move(part);
  if (!known.part)
    return true;
  // The same notes.
  for (size_t r = 0; r < scan.changed.size(); ++r)
    scan.refresh(scan.begin + r);
  for (size_t row : known.reader->getFirstOfClasses())
    scan.refresh(row);
  return true;
}

LogicalResult LayoutAssigner::assign(ModuleOp module) {
  // What refers to each other, and what has changed.
  llvm::EquivalenceClasses<Operation *> connected;
  SymbolTable symbols(module);
  auto scansBefore = std::move(scans);
  scans.clear();
  for (Operation &op : *module.getBody()) {
    connected.insert(&op);
    std::unique_ptr<Scan> &scan = scans[&op];
    if (auto it = scansBefore.find(&op); it != scansBefore.end())
      scan = std::move(it->second);
    else
      scan = std::make_unique<Scan>();
    scan->update(&op);
    for (auto &[user, names] : scan->symbols)
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
    auto isChanged = [&](Operation *op) { return scans[op]->isChanged; };
    if (!isSame || llvm::any_of(ops, isChanged)) {
      ++numDecided;
      if (isSame && decideAgain(module, *entry, *scans[ops.front()]))
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
