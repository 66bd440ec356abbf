//===- BlockTree.h - Parts that share one variable --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of a graph, its biconnected components: sets of variables that
// stay connected without any one of them. Two blocks share one variable at
// most, and all together form a tree:
//
//     a - b       d - e
//     | X |       | X |      {a b c f}, {c d} and {d e g h}
//     f - c ----- h - g      (c is joined to h here by {c h})
//
// So each block but the root has one parent, a variable, and what it costs with
// all blocks behind it is a function of the value of that.
//
// Laws:
//  * every factor of two variables or more is in one block;
//  * blocks come before the block that holds their parent as another variable.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BLOCKTREE_H
#define LAYOUT_LIB_SOLVER_BLOCKTREE_H

#include "CoreGraph.h"

namespace mlir {
namespace layout {

struct Block {
  static constexpr unsigned kNone = ~0u;
  unsigned parent = kNone; // kNone for a root
  /// Its variables without the parent.
  std::vector<unsigned> variables;
  /// Its factors of two variables or more.
  std::vector<unsigned> factors;
};

/// The blocks of all components of a graph.
std::vector<Block> findBlocks(const CoreGraph &core);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_BLOCKTREE_H
