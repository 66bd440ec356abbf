//===- EliminationOrder.h - Min-width and min-fill orders -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds an elimination order for the variables of a core by simulating the
// elimination on scopes: an eliminated variable makes its neighbors adjacent to
// each other.
//
// The next variable is the one with the smallest table (min-width). The rule of
// fewest new edges (min-fill) is tried as well if the tables have far more
// entries than there are variables, or if a table would be too large and few
// variables are left. The order with less work is returned. Ties break by
// number, so that repeated parts are eliminated in repeating order.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H
#define LAYOUT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H

#include "CoreGraph.h"

namespace mlir::layout {

/// Returns the variables of `core` in an elimination order. These are all of
/// them if an order without messages of more than about `maxTableSize` entries
/// is found: the limit is rounded up to a power of two. Otherwise they are
/// those that the min-width order has before its first such message.
std::vector<unsigned> getEliminationOrder(const CoreGraph &core,
                                          int64_t maxTableSize);

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_ELIMINATION_ELIMINATIONORDER_H
