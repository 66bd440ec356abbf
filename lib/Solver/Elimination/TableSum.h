//===- TableSum.h - The minimum of a sum of large tables --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inner loops of elimination: for every combination of values of a scope,
// computes the least sum of some tables over the values of one more variable.
//
//     // out[x, y] = min over v of f[v, x] + g[y, v]
//     minimizeSum({/*domain of v=*/2, /*scope=*/{3, 4}},
//                 {{&f, /*step of v=*/3, /*steps of x, y=*/{1, 0}},
//                  {&g, 1, {0, 2}}}, buffers);
//
// Takes one addition per table and combination, in loops over contiguous
// entries, if the tables have the variables in the order v, scope. Other tables
// are copied to that order first.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_ELIMINATION_TABLESUM_H
#define LAYOUT_LIB_SOLVER_ELIMINATION_TABLESUM_H

#include "Elimination/TableStore.h"

namespace mlir::layout {

/// The domain sizes of the minimized variable and of the variables of the
/// scope, over which the result is a table.
struct SumShape {
  unsigned domain;
  llvm::SmallVector<unsigned, 8> scope;

  size_t getSize() const {
    size_t size = 1;
    for (unsigned other : scope)
      size *= other;
    return size;
  }
};

/// A table to sum, with its strides: of the minimized variable (`step`), and
/// per variable of the scope. A stride is 0 if the table does not depend on the
/// variable.
struct SumTerm {
  const TableStore::Table *table;
  size_t step;
  llvm::SmallVector<size_t, 8> steps; // per variable of the scope
};

/// Scratch memory that is reused across sums, because allocating large tables
/// takes as long as filling them.
struct SumBuffers {
  std::vector<Cost> out, base, partial;
  std::vector<size_t> offsets;
  std::vector<std::vector<Cost>> copies;
};

/// Computes, for each combination of values of the scope, the least sum of all
/// terms over the values of the minimized variable. The result is row-major
/// over the scope. It is in `buffers`, valid until the next call, and may be
/// overwritten.
llvm::MutableArrayRef<Cost> minimizeSum(const SumShape &shape,
                                        llvm::ArrayRef<SumTerm> terms,
                                        SumBuffers &buffers);

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_ELIMINATION_TABLESUM_H
