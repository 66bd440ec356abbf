//===- TableAlgebra.cpp - Sums and minima of small tables -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elimination/TableAlgebra.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

/// Returns `cost` minus `least`; infinity stays infinite.
static Cost reduce(Cost cost, Cost least) {
  return cost == kInfiniteCost ? cost : cost - least;
}

TableAlgebra::Result TableAlgebra::normalize(MutableArrayRef<Cost> entries) {
  Cost least = kInfiniteCost, largest = 0;
  for (Cost entry : entries) {
    least = std::min(least, entry);
    largest = std::max(largest, entry);
  }
  // If all entries are forbidden, the constant is infinite.
  if (least == largest)
    return {kNoTable, least};
  if (least != 0)
    for (Cost &entry : entries)
      entry = reduce(entry, least);
  return {store.intern(entries), least};
}

TableAlgebra::Result TableAlgebra::normalize(TableId id) {
  const TableStore::Table &table = store[id];
  if (table.isUniform())
    return {kNoTable, table.smallest};
  if (table.smallest == 0)
    return {id, 0};
  auto [it, isNew] = normalized.try_emplace(id);
  if (isNew) {
    scratch.assign(table.get().begin(), table.get().end());
    it->second = normalize(scratch);
  }
  return it->second;
}

TableAlgebra::Result TableAlgebra::add(TableId a, TableId b) {
  if (a == kNoTable || b == kNoTable)
    return {a == kNoTable ? b : a, 0};
  if (b < a)
    std::swap(a, b);
  auto [it, isNew] = sums.try_emplace({a, b});
  if (isNew) {
    scratch.clear();
    for (auto [x, y] : llvm::zip_equal(store[a].get(), store[b].get()))
      scratch.push_back(addCosts(x, y));
    it->second = normalize(scratch);
  }
  return it->second;
}

TableId TableAlgebra::transpose(TableId id, unsigned rows) {
  if (id == kNoTable)
    return id;
  auto [it, isNew] = transposed.try_emplace({id, rows}, kNoTable);
  if (isNew) {
    ArrayRef<Cost> table = store[id].get();
    scratch.clear();
    for (size_t column = 0, columns = table.size() / rows; column < columns;
         ++column)
      for (size_t row = 0; row < rows; ++row)
        scratch.push_back(table[row * columns + column]);
    it->second = store.intern(scratch);
  }
  return it->second;
}

const TableAlgebra::Separation &TableAlgebra::separate(TableId id,
                                                       unsigned numRows) {
  if (separated.size() <= unsigned(id))
    separated.resize(store.getNumTables());
  if (separated[unsigned(id)].numRows != numRows) {
    Separation found = findSeparation(id, numRows);
    separated[unsigned(id)] = {numRows, found};
  }
  return separated[unsigned(id)].parts;
}

TableAlgebra::Separation TableAlgebra::findSeparation(TableId id,
                                                      unsigned numRows) {
  ArrayRef<Cost> table = store[id].get();
  size_t numColumns = table.size() / numRows;
  auto getRow = [&](size_t row) {
    return table.slice(row * numColumns, numColumns);
  };
  // A row with a 0 entry equals the column terms, because costs are not
  // negative and its own row term is 0.
  size_t zero = llvm::find(table, 0) - table.begin();
  ArrayRef<Cost> columns = getRow(zero / numColumns);
  llvm::SmallVector<Cost, 16> rows;
  for (size_t r = 0; r < numRows; ++r) {
    rows.push_back(table[r * numColumns + zero % numColumns]);
    for (auto [entry, column] : llvm::zip_equal(getRow(r), columns))
      if (entry != addCosts(rows.back(), column))
        return {};
  }
  std::vector<Cost> columnEntries = columns.vec();
  return {true, normalize(rows).table, normalize(columnEntries).table};
}

std::vector<Cost> TableAlgebra::takeCommon(MutableArrayRef<Cost> rows,
                                           size_t numColumns) {
  std::vector<Cost> least(numColumns, kInfiniteCost);
  for (size_t begin = 0; begin < rows.size(); begin += numColumns)
    for (size_t c = 0; c < numColumns; ++c)
      least[c] = std::min(least[c], rows[begin + c]);
  for (size_t begin = 0; begin < rows.size(); begin += numColumns)
    for (size_t c = 0; c < numColumns; ++c)
      rows[begin + c] =
          least[c] == kInfiniteCost ? 0 : reduce(rows[begin + c], least[c]);
  return least;
}

TableAlgebra::Extraction TableAlgebra::extract(TableId id, unsigned numRows,
                                               bool ofRows) {
  if (id == kNoTable)
    return {};
  auto [it, isNew] = extracted.try_emplace({id, numRows, ofRows});
  if (!isNew)
    return it->second;
  unsigned numColumns = store[id].size / numRows;
  std::vector<Cost> rest =
      store[ofRows ? transpose(id, numRows) : id].get().vec();
  std::vector<Cost> part = takeCommon(rest, ofRows ? numRows : numColumns);
  // The table contains 0, and so do both parts, whose constants are 0.
  it->second.part = normalize(part).table;
  it->second.rest = normalize(rest).table;
  if (ofRows)
    it->second.rest = transpose(it->second.rest, numColumns);
  return it->second;
}

unsigned TableAlgebra::eliminate(const Elimination &operands) {
  auto encode = [](Side side) {
    return unsigned(side.table) << 1 | side.isTransposed;
  };
  auto [domain, unary, first, second, base] = operands;
  auto [it, isNew] = eliminated.try_emplace(
      {domain, unary, encode(first), encode(second), base}, answers.size());
  if (!isNew)
    return it->second;

  // The entries of `first` or `second`, with the strides of v and of the other
  // variable.
  struct Steps {
    const Cost *entries;
    size_t size, perValue, perOther;
  };
  const Cost zero = 0;
  auto getSteps = [&, domain = domain](Side side) -> Steps {
    if (side.table == kNoTable)
      return {&zero, 1, 0, 0};
    const TableStore::Table &table = store[side.table];
    size_t size = table.size / domain;
    if (side.isTransposed)
      return {table.entries, size, 1, domain};
    return {table.entries, size, size, 1};
  };
  auto getLargest = [&](TableId table) {
    return table == kNoTable ? 0 : store[table].largest;
  };
  Steps a = getSteps(first), b = getSteps(second);
  const Cost *own = unary == kNoTable ? &zero : store[unary].entries;
  const Cost *onto = base == kNoTable ? &zero : store[base].entries;
  size_t ownStep = unary != kNoTable, ontoStep = base != kNoTable;

  // Unsigned 64 bits hold the sum of two costs, at most 2^64 - 2. If finite
  // sums stay below kInfiniteCost, larger ones are forbidden.
  Cost largest =
      addCosts(getLargest(unary),
               addCosts(getLargest(first.table), getLargest(second.table)));
  bool isExact = largest < kInfiniteCost - 1;
  auto sum = [&](uint64_t x, uint64_t y) -> uint64_t {
    return isExact ? x + y : addCosts(x, y);
  };

  size_t firstChoice = choices.size();
  scratch.clear();
  llvm::SmallVector<uint64_t, 64> left(domain); // of each value, without b
  for (size_t i = 0; i < a.size; ++i) {
    for (unsigned v = 0; v < domain; ++v)
      left[v] = addCosts(own[v * ownStep],
                         a.entries[v * a.perValue + i * a.perOther]);
    for (size_t j = 0; j < b.size; ++j, onto += ontoStep) {
      const Cost *right = b.entries + j * b.perOther;
      uint64_t least = kInfiniteCost;
      unsigned choice = 0;
      for (unsigned v = 0; v < domain; ++v, right += b.perValue) {
        uint64_t cost = sum(left[v], *right);
        choice = cost < least ? v : choice;
        least = std::min(least, cost);
      }
      scratch.push_back(addCosts(least, *onto));
      choices.push_back(choice);
    }
  }
  answers.push_back({normalize(scratch), firstChoice});
  return it->second;
}
