//===- TableAlgebra.h - Sums and minima of small tables ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memoized operations on tables of unary and binary factors. Every operation
// maps ids to ids, and costs one hash lookup if its operands were seen before.
//
//     TableAlgebra algebra(store);
//     algebra.normalize(store.intern({3, 5}))  // the table {0, 2}, constant 3
//
// Laws:
//  * Results are normalized: the least entry is 0, the difference is returned
//    as a constant, and a table of zeros is kNoTable.
//  * Replacing operands by constant and table preserves any sum that contains
//    them, with saturation M below kInfiniteCost as in addCosts. For min(M, c +
//    min(M, x)) = min(M, c + x), and splitting a finite number in two is exact:
//    if a part saturates at M, the whole does, too.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_ELIMINATION_TABLEALGEBRA_H
#define LAYOUT_LIB_SOLVER_ELIMINATION_TABLEALGEBRA_H

#include "Elimination/TableStore.h"
#include "llvm/ADT/DenseMap.h"
#include <tuple>

namespace mlir::layout {

class TableAlgebra {
public:
  explicit TableAlgebra(const TableStore &base) : store(&base) {}

  struct Result {
    TableId table = kNoTable;
    Cost constant = 0;
  };

  /// Returns the least entry of a table as `constant`, and the table of what
  /// its entries exceed it by, or kNoTable if they are all equal. The constant
  /// is infinite if all entries are.
  Result normalize(TableId table);
  /// Subtracts the least entry from all `entries`, in place, and returns the
  /// interned rest with the subtracted constant. If all entries are equal,
  /// returns kNoTable with their value, and leaves them unchanged.
  Result normalize(llvm::MutableArrayRef<Cost> entries);

  /// Subtracts from each entry of a row-major matrix the minimum of its column,
  /// and returns these minima. A column without finite entries has an infinite
  /// minimum and becomes 0.
  static std::vector<Cost> takeCommon(llvm::MutableArrayRef<Cost> rows,
                                      size_t numColumns);

  /// Adds two tables entry by entry. Returns the least entry of the sum as
  /// `constant`, and the table of the rest, or kNoTable if that is 0. If one of
  /// the two is kNoTable, a table of zeros, returns the other one as it is.
  Result add(TableId a, TableId b);

  /// Returns the transpose of a table with `rows` rows; kNoTable for kNoTable.
  TableId transpose(TableId table, unsigned rows);

  /// Two tables that sum to a normalized table, if `isPossible`: table[i, j] =
  /// rows[i] + columns[j].
  struct Separation {
    bool isPossible = false;
    TableId rows = kNoTable, columns = kNoTable;
  };
  /// Returns tables over the rows and over the columns that sum to a normalized
  /// table; `isPossible` is false if there are none. Valid until the next call.
  /// Most tables fail an early test.
  const Separation &separate(TableId table, unsigned numRows);

  /// Two tables that sum to a normalized table: `part` has a number per row or
  /// per column, and `rest` has the shape of the table.
  struct Extraction {
    TableId part = kNoTable, rest = kNoTable;
  };
  /// Returns the two tables whose sum a normalized table is. With `ofRows`, the
  /// part has one number per row, part[i] + rest[i, j], and otherwise one per
  /// column, part[j] + rest[i, j]. It is the largest one such that rest >= 0.
  Extraction extract(TableId table, unsigned numRows, bool ofRows);

  /// A factor of two variables, as an operand of `eliminate`, which eliminates
  /// one of them.
  struct Side {
    TableId table = kNoTable;
    bool isTransposed = false; // the other variable comes first in the table
  };

  /// The operands of `eliminate`, which minimizes a sum of tables over a variable
  /// v: `unary` is over v, `first` over v and i, `second` over v and j, and
  /// `base`, which is added to the minimum, over i and j. kNoTable is zeros.
  struct Elimination {
    unsigned domain; // of v
    TableId unary;
    Side first, second;
    TableId base;
  };
  /// Computes base[i, j] + min over v of unary[v] + first[v, i] + second[v, j].
  /// Returns the number of the elimination, for `getSum` and `getChoice`.
  unsigned eliminate(const Elimination &operands);
  Result getSum(unsigned elimination) const { return answers[elimination].sum; }
  /// Returns the least value v that attains the minimum at `index` = [i, j],
  /// row-major, of the result of an elimination.
  unsigned getChoice(unsigned elimination, size_t index) const {
    return choices[answers[elimination].firstChoice + index];
  }

  TableStore store;

private:
  Separation findSeparation(TableId table, unsigned numRows);

  struct EliminationResult {
    Result sum;
    size_t firstChoice;
  };
  llvm::SmallVector<EliminationResult, 0> answers;
  std::vector<unsigned> choices; // may be more than 2^32
  std::vector<Cost> scratch;     // the table under construction

  /// The last result of `separate` for a table, with the number of rows it was
  /// called with.
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

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_ELIMINATION_TABLEALGEBRA_H
