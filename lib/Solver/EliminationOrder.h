//===- EliminationOrder.h - Which variable goes next ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An order in which to eliminate the variables of a core, found by playing the
// elimination on the scopes alone: a variable that goes makes its neighbors
// neighbors of each other.
//
// The next is the one whose table is smallest (min-width). Where the tables so
// found hold far more entries than there are variables to look at, the one that
// makes the fewest new neighbors (min-fill) is tried as well, and the order
// with less to compute is taken; so it is where a table would be too large and
// little is left. Equals go by number, so programs that repeat
// themselves are eliminated in a way that repeats itself.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_ELIMINATIONORDER_H
#define LAYOUT_LIB_SOLVER_ELIMINATIONORDER_H

#include "CoreGraph.h"

namespace mlir {
namespace layout {

/// The variables of `core`, first to go first: all of them where no message
/// would have more than `maxTableSize` entries, else those that may go before
/// one would.
std::vector<unsigned> getEliminationOrder(const CoreGraph &core,
                                          int64_t maxTableSize);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_ELIMINATIONORDER_H
