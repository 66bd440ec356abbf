//===- TableAlgebra.h - Sums and minima of small tables ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What reducing a graph of unary and binary factors needs. Every operation maps
// ids to ids and remembers its answer, so that it costs one look into a hash
// table where the same tables met before.
//
//     TableAlgebra algebra(store);
//     algebra.normalize(store.intern({3, 5}))  // the table {0, 2}, constant 3
//
// Laws:
//  * results are normalized: their least entry is 0 and what was taken off
//    stands apart as a constant; the table that is 0 everywhere is kNoTable;
//  * a sum that contains the constant and the table is, cut off below
//    kInfiniteCost as addCosts does, the one that contains the operands. For
//    min(M, c + min(M, x)) = min(M, c + x), and splitting a finite number in
//    two loses nothing: where pieces were cut off at M, the whole is M too.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_TABLEALGEBRA_H
#define LAYOUT_LIB_SOLVER_TABLEALGEBRA_H

#include "TableStore.h"
#include "llvm/ADT/DenseMap.h"
#include <tuple>

namespace mlir {
namespace layout {

class TableAlgebra {
public:
  explicit TableAlgebra(const TableStore &base) : store(&base) {}

  struct Result {
    TableId table = kNoTable;
    Cost constant = 0;
  };

  Result normalize(TableId table);
  /// The same for entries of no table yet, which are overwritten.
  Result normalize(llvm::MutableArrayRef<Cost> entries);

  /// Takes off each of `rows` what all of them have in common per column, and
  /// returns that. What is left of a column that is forbidden is 0.
  static std::vector<Cost> takeCommon(llvm::MutableArrayRef<Cost> rows,
                                      size_t numColumns);

  /// The sum, entry by entry, of two tables; one that is none is not looked at.
  Result add(TableId a, TableId b);

  /// The table of `rows` rows with rows and columns exchanged.
  TableId transpose(TableId table, unsigned rows);

  /// Whether table[i, j] = rows[i] + columns[j] for some rows and columns, and
  /// these; of a normalized table. Most tables show early that they are not.
  struct Separation {
    bool isPossible = false;
    TableId rows = kNoTable, columns = kNoTable;
  };
  const Separation &separate(TableId table, unsigned numRows);

  /// table[i, j] = part[j] + rest[i, j] with the largest part that leaves no
  /// negative rest, or the same for i in place of j; of a normalized table.
  struct Extraction {
    TableId part = kNoTable, rest = kNoTable;
  };
  Extraction extract(TableId table, unsigned numRows, bool ofRows);

  /// A binary factor as seen from one of its variables.
  struct Side {
    TableId table = kNoTable;
    bool isTransposed = false; // the other variable comes first in the table
  };

  /// base[i, j] + min over v of unary[v] + first[v, i] + second[v, j]; what is
  /// no table does not count. Returns a number to ask for the answer with.
  struct Elimination {
    unsigned domain; // of v
    TableId unary;
    Side first, second;
    TableId base;
  };
  unsigned eliminate(const Elimination &operands);
  Result getSum(unsigned elimination) const { return answers[elimination].sum; }
  /// The least v that makes entry `index` of the minimum.
  unsigned getChoice(unsigned elimination, size_t index) const {
    return choices[answers[elimination].firstChoice + index];
  }

  TableStore store;

private:
  Separation findSeparation(TableId table, unsigned numRows);

  struct Answer {
    Result sum;
    size_t firstChoice;
  };
  llvm::SmallVector<Answer, 0> answers;
  std::vector<unsigned> choices; // may be more than 2^32
  std::vector<Cost> scratch;     // the table under construction

  /// Of the number of rows that was asked for last.
  struct Separated {
    unsigned numRows = 0;
    Separation parts;
  };
  llvm::SmallVector<Separated, 0> separated; // per table
  llvm::DenseMap<TableId, Result> normalized;
  llvm::DenseMap<std::pair<TableId, TableId>, Result> sums;
  llvm::DenseMap<std::pair<TableId, unsigned>, TableId> transposed;
  llvm::DenseMap<std::tuple<TableId, unsigned, unsigned>, Extraction> extracted;
  llvm::DenseMap<std::tuple<unsigned, TableId, unsigned, unsigned, TableId>,
                 unsigned>
      eliminated;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_TABLEALGEBRA_H
