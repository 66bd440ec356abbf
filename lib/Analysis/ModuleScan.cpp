//===- ModuleScan.cpp - Changes of a module -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleScan.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/xxhash.h"
#include <array>

using namespace mlir;
using namespace mlir::layout;

/// Hashes the contents of an op. Uniqued objects, such as attributes and types,
/// are hashed by address.
class OpScan::FingerprintWriter {
public:
  Fingerprint get(Operation *op, bool withBody = true) {
    hash(add(op, withBody, words.data()));
    return {words[0], words[1]};
  }

private:
  uint64_t *add(Operation *op, bool withBody, uint64_t *end);
  /// Replaces all words by their hash, and returns its end.
  uint64_t *hash(const uint64_t *end) {
    llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(words.data()),
                 reinterpret_cast<const uint8_t *>(end)));
    words[0] = hash.low64;
    words[1] = hash.high64;
    return words.data() + 2;
  }
  /// Makes room for kRoom more words: replaces the words by their hash before
  /// there are so many that XXH128 becomes slower.
  uint64_t *makeRoom(uint64_t *end) {
    return LLVM_UNLIKELY(end > words.data() + words.size() - kRoom) ? hash(end)
                                                                    : end;
  }

  static constexpr size_t kRoom = 8;
  std::array<uint64_t, 30> words; // 240 bytes
};

/// Appends the words of an op at `end`, and returns the new end. The end is
/// always a local variable, because storing it in memory would stall each word.
uint64_t *OpScan::FingerprintWriter::add(Operation *op, bool withBody,
                                         uint64_t *end) {
  auto put = [&](uint64_t word) { *end++ = word; };
  auto putPointer = [&](const void *pointer) {
    put(reinterpret_cast<uintptr_t>(pointer));
  };
  end = makeRoom(end);
  putPointer(op);
  putPointer(op->getName().getAsOpaquePointer());
  putPointer(op->getRawDictionaryAttrs().getAsOpaquePointer());
  if (op->getPropertiesStorage())
    put(op->getName().hashOpProperties(op->getPropertiesStorage()));
  put(op->getNumOperands());
  put(op->getNumRegions());
  if (op->getNumOperands() != 0)
    putPointer(&op->getOpOperand(0));
  for (OpOperand &operand : op->getOpOperands()) {
    end = makeRoom(end);
    putPointer(operand.get().getAsOpaquePointer());
    // A changed operand type counts as a change of its reader.
    putPointer(operand.get().getType().getAsOpaquePointer());
  }
  for (Type type : op->getResultTypes()) {
    end = makeRoom(end);
    putPointer(type.getAsOpaquePointer());
  }
  for (Block *successor : op->getSuccessors()) {
    end = makeRoom(end);
    putPointer(successor);
  }
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      end = makeRoom(end);
      putPointer(&block);
      put(block.getNumArguments());
      for (BlockArgument argument : block.getArguments()) {
        end = makeRoom(end);
        putPointer(argument.getAsOpaquePointer());
        putPointer(argument.getType().getAsOpaquePointer());
      }
      if (!withBody)
        continue;
      for (Operation &inner : block)
        end = add(&inner, withBody, end);
      end = makeRoom(end);
      put(0);
    }
  return end;
}

//===----------------------------------------------------------------------===//
// One op of the module
//===----------------------------------------------------------------------===//

void OpScan::refresh(size_t row) {
  rows[row].fingerprint = FingerprintWriter().get(rows[row].op);
}

/// Stores the symbols that `root` refers to. Returns true if there are any.
bool OpScan::readSymbols(Operation *root, bool withBody) {
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

void OpScan::update(Operation *op) {
  forgetAnnouncements();
  body = op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock()
             ? &op->getRegion(0).front()
             : nullptr;
  FingerprintWriter writer;
  Fingerprint now = writer.get(op, /*withBody=*/!body);
  changed = false;
  local.reset();
  if (std::exchange(own, now) != now) {
    changed = true;
    rows.clear();
    symbols.clear();
    readSymbols(op, /*withBody=*/!body);
  }
  if (!body)
    return;
  // Prefetches ops, because the walk is bound by memory latency.
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
  // Sequential access is fastest, so the walk continues after a change.
  Block::iterator at = body->begin(), from = body->end(), to = body->end();
  size_t row = 0, first = rows.size(), end = rows.size();
  while (at != body->end() && row < rows.size()) {
    if (LLVM_LIKELY(isAsBefore(*at, row))) {
      ++at, ++row;
      expect(row + kAhead);
      continue;
    }
    if (first == rows.size())
      from = at, first = row;
    if (!skipChanged(at, row))
      break;
    to = at, end = row;
  }
  if (at == body->end() && row == rows.size()) {
    if (first != rows.size())
      replace(first, end, from, to);
    return;
  }
  if (first == rows.size())
    from = at, first = row;
  to = body->end(), end = rows.size();
  while (to != at && end > row && isAsBefore(*std::prev(to), end - 1)) {
    --to, --end;
    expect(end - 1 - kAhead);
  }
  replace(first, end, from, to);
}

/// Skips changed ops and rows up to the next op that matches a row. Returns
/// false if there is none nearby.
bool OpScan::skipChanged(Block::iterator &at, size_t &row) const {
  if (rows[row].op == &*at) {
    ++at, ++row;
    return true;
  }
  constexpr size_t kMost = 4;
  Block::iterator op = at;
  for (size_t numOps = 0; numOps <= kMost && op != body->end(); ++numOps, ++op)
    for (size_t r = row; r < std::min(row + kMost + 1, rows.size()); ++r)
      if (rows[r].op == &*op) {
        at = op, row = r;
        return true;
      }
  return false;
}

void OpScan::replace(size_t first, size_t end, Block::iterator from,
                     Block::iterator to) {
  bool isLocal = !std::exchange(changed, true);
  llvm::DenseMap<Operation *, Fingerprint> before;
  for (const Row &row : ArrayRef(rows).slice(first, end - first)) {
    before[row.op] = row.fingerprint;
    isLocal &= !symbols.erase(row.op);
  }
  std::vector<Row> now;
  LocalChange change = {first, end - first, {}};
  FingerprintWriter writer;
  for (Operation &op : llvm::make_range(from, to)) {
    Fingerprint fingerprint = writer.get(&op);
    now.push_back({&op, fingerprint});
    isLocal &= !readSymbols(&op, /*withBody=*/true);
    if (!isLocal)
      continue;
    auto it = before.find(&op);
    change.rows.push_back(
        {&op, it != before.end() && it->second == fingerprint});
  }
  replaceRows<Row>(rows, first, end - first, now);
  if (isLocal)
    local = std::move(change);
}

//===----------------------------------------------------------------------===//
// Announcements
//===----------------------------------------------------------------------===//

void OpScan::forgetAnnouncements() {
  isAnnounced = false;
  announced.clear();
  inserted.clear();
}

/// Returns true if the op and its rows are unchanged.
bool OpScan::knows(Operation *op) const {
  FingerprintWriter writer;
  if (writer.get(op, /*withBody=*/!body) != own)
    return false;
  return !body || llvm::equal(rows, *body, [&](const Row &row, Operation &op) {
    return row.op == &op && row.fingerprint == writer.get(&op);
  });
}

void OpScan::updateAnnounced(Operation *op) {
  if (isAnnounced || (!body && !announced.empty()))
    return update(op);
  changed = false;
  local.reset();
  if (!announced.empty()) {
    // A new row lies between rows that existed before, unless its neighbors are
    // announced themselves.
    llvm::SmallPtrSet<Operation *, 8> before, after;
    size_t first = rows.size(), end = 0;
    for (Operation *row : inserted) {
      Operation *previous = row->getPrevNode(), *next = row->getNextNode();
      if (!previous)
        first = 0;
      else if (!announced.contains(previous))
        before.insert(previous);
      if (!next)
        end = rows.size();
      else if (!announced.contains(next))
        after.insert(next);
    }
    llvm::SmallPtrSet<Operation *, 8> asked(announced);
    asked.insert_range(before);
    asked.insert_range(after);
    for (auto [r, row] : llvm::enumerate(rows)) {
      if (!asked.contains(row.op))
        continue;
      bool isGone = announced.contains(row.op);
      if (isGone || after.contains(row.op))
        first = std::min(first, r), end = std::max(end, r + isGone);
      if (before.contains(row.op))
        first = std::min(first, r + 1), end = std::max(end, r + 1);
    }
    Block::iterator from = first == 0
                               ? body->begin()
                               : std::next(rows[first - 1].op->getIterator());
    Block::iterator to =
        end == rows.size() ? body->end() : rows[end].op->getIterator();
    if (first <= end)
      replace(first, end, from, to);
    forgetAnnouncements();
  }
  assert(knows(op) && "a change was not announced");
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

void ModuleScan::update(ModuleOp module, bool isAnnounced) {
  auto before = std::move(scans);
  scans.clear();
  for (Operation &op : *module.getBody()) {
    std::unique_ptr<OpScan> &scan = scans[&op];
    bool isKnown = false;
    if (auto it = before.find(&op); it != before.end()) {
      scan = std::move(it->second);
      isKnown = isAnnounced;
    } else {
      scan = std::make_unique<OpScan>();
    }
    if (isKnown)
      scan->updateAnnounced(&op);
    else
      scan->update(&op);
  }
}

std::optional<ModuleScan::Place> ModuleScan::find(Operation *op) {
  for (Operation *row = nullptr; op; row = op, op = op->getParentOp())
    if (auto it = scans.find(op); it != scans.end())
      return Place{it->second.get(), row};
  return std::nullopt;
}

/// Marks an op as changed.
void ModuleScan::announce(Operation *op) {
  std::optional<Place> place = op ? find(op) : std::nullopt;
  if (!place)
    return;
  if (place->row)
    place->scan->announceRow(place->row);
  else
    place->scan->announce();
}

void ModuleScan::notifyOperationInserted(Operation *op,
                                         OpBuilder::InsertPoint previous) {
  if (Block *from = previous.getBlock()) {
    Operation *parent = from->getParentOp();
    std::optional<Place> place = parent ? find(parent) : std::nullopt;
    if (place && place->row)
      place->scan->announceRow(place->row);
    else if (place)
      place->scan->announceErased(op);
  }
  std::optional<Place> place = find(op);
  if (!place)
    return;
  if (!place->row)
    place->scan->announce();
  else if (place->row == op)
    place->scan->announceNew(op);
  else
    place->scan->announceRow(place->row);
}

void ModuleScan::notifyBlockInserted(Block *block, Region *previous,
                                     Region::iterator previousIt) {
  announce(block->getParentOp());
  if (previous)
    announce(previous->getParentOp());
}

void ModuleScan::notifyBlockErased(Block *block) {
  announce(block->getParentOp());
}

void ModuleScan::notifyOperationModified(Operation *op) {
  announce(op);
  // The types of the operands of users may have changed.
  for (Operation *user : op->getUsers())
    announce(user);
}

void ModuleScan::notifyOperationErased(Operation *op) {
  if (scans.erase(op))
    return;
  std::optional<Place> place = find(op);
  if (!place)
    return;
  if (place->row == op)
    place->scan->announceErased(op);
  else
    place->scan->announceRow(place->row);
}
