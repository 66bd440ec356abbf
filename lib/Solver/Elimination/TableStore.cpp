//===- TableStore.cpp - Interned tables of costs --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elimination/TableStore.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/xxhash.h"

using namespace mlir::layout;
using llvm::ArrayRef;

TableStore::TableStore(const TableStore *base)
    : base(base), numBaseTables(base ? base->getNumTables() : 0) {}

static unsigned getHash(ArrayRef<Cost> entries) {
  return llvm::xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(entries.data()),
               entries.size() * sizeof(Cost)));
}

TableId TableStore::find(ArrayRef<Cost> entries, unsigned hash) const {
  if (slots.empty())
    return kNoTable;
  size_t mask = slots.size() - 1;
  for (size_t i = hash & mask; slots[i].table != kNoTable; i = (i + 1) & mask)
    if (slots[i].hash == hash && (*this)[slots[i].table].get() == entries)
      return slots[i].table;
  return kNoTable;
}

void TableStore::insert(Slot slot) {
  size_t mask = slots.size() - 1, i = slot.hash & mask;
  while (slots[i].table != kNoTable)
    i = (i + 1) & mask;
  slots[i] = slot;
}

TableId TableStore::intern(ArrayRef<Cost> entries) {
  unsigned hash = getHash(entries);
  TableId known = find(entries, hash);
  if (known != kNoTable)
    return known;

  Table table = {nullptr, unsigned(entries.size()), hash, kInfiniteCost, 0,
                 false};
  if (table.size != entries.size() || getNumTables() >= (1u << 31) - 1)
    llvm::reportFatalUsageError("a table of a factor graph has 2^32 entries "
                                "or more, or the graph has 2^31 tables");
  for (Cost entry : entries) {
    assert(entry >= 0 && "costs are not negative");
    table.smallest = std::min(table.smallest, entry);
    table.hasForbidden |= entry == kInfiniteCost;
    table.largest = std::max(table.largest, entry == kInfiniteCost ? 0 : entry);
  }
  Cost *copy = memory.Allocate<Cost>(entries.size());
  std::copy(entries.begin(), entries.end(), copy);
  table.entries = copy;
  tables.push_back(table);

  if (tables.size() * 2 > slots.size()) {
    std::vector<Slot> old(std::max<size_t>(16, slots.size() * 2));
    old.swap(slots);
    for (Slot slot : old)
      if (slot.table != kNoTable)
        insert(slot);
  }
  insert({hash, TableId(getNumTables() - 1)});
  return TableId(getNumTables() - 1);
}
