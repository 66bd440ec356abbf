//===- TableStore.h - Interned tables of costs ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interned tables. A store on top of a base store has the tables of the base
// under the same ids and appends its own, so that a solver shares the tables of
// its graph without copying or changing them. The base must not grow meanwhile.
//
//     TableStore store;
//     TableId a = store.intern({0, 5}), b = store.intern({0, 5}); // a == b
//     store[a].largest                                            // 5
//
// Laws:
//  * A store never creates two tables with equal entries, though its base may
//    contain an equal one.
//  * Ids increase in the order of first appearance.
//  * The entries of a table have a stable address while the store lives.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_ELIMINATION_TABLESTORE_H
#define LAYOUT_LIB_SOLVER_ELIMINATION_TABLESTORE_H

#include "layout/Solver/FactorGraph.h"
#include "llvm/Support/Allocator.h"

namespace mlir::layout {

/// The id of no table, which represents a table of zeros.
constexpr TableId kNoTable = TableId(~0u);

class TableStore {
public:
  struct Table {
    const Cost *entries;
    unsigned size;
    unsigned hash;
    Cost smallest;     // of all entries
    Cost largest;      // of the finite ones, 0 if there is none
    bool hasForbidden; // some entry is infinite

    llvm::ArrayRef<Cost> get() const { return {entries, size}; }
    /// Returns true if all entries are equal.
    bool isUniform() const {
      return hasForbidden ? smallest == kInfiniteCost : smallest == largest;
    }
  };

  explicit TableStore(const TableStore *base = nullptr);

  TableId intern(llvm::ArrayRef<Cost> entries);

  const Table &operator[](TableId id) const {
    unsigned index = unsigned(id);
    return index < numBaseTables ? (*base)[id] : tables[index - numBaseTables];
  }

  size_t getNumTables() const { return numBaseTables + tables.size(); }

private:
  /// A slot of the hash table. Comparing hashes avoids most table comparisons.
  struct Slot {
    unsigned hash = 0;
    TableId table = kNoTable;
  };

  /// Returns the table of this store, not of its base, with these entries,
  /// whose hash is `hash`, or kNoTable.
  TableId find(llvm::ArrayRef<Cost> entries, unsigned hash) const;
  void insert(Slot slot);

  const TableStore *base;
  unsigned numBaseTables;
  llvm::SmallVector<Table, 0> tables;
  llvm::BumpPtrAllocator memory;
  std::vector<Slot> slots; // open addressing; a power of two of them
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_ELIMINATION_TABLESTORE_H
